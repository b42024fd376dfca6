//! `Conv` and `ConvTranspose` in two dimensions.

use super::backward::gradient;
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::channels::sums;
use crate::kernels::conv_gradient::BoundConv;
use crate::kernels::grid::{Floats, Order};
use crate::ops::{bound_conv, reversed_conv};

/// A convolution's operands, and the gradient of its result.
struct ConvOperands<'a> {
    input: &'a Floats,
    weights: &'a Floats,
    incoming: Floats,
}

impl<'a> ConvOperands<'a> {
    fn new(backward: &mut Backward<'a>) -> Result<Self, OperandError> {
        let input = backward.floats(0, Order::ChannelsLast)?;
        if input.shape.len() != 4 {
            return Err(OperandError::new("gradients are known for images (four axes) only"));
        }
        let weights = backward.floats(1, Order::RowMajor)?;
        Ok(Self { input, weights, incoming: backward.gradient_in(Order::ChannelsLast)? })
    }

    /// Gradients of input and weights as far as they are wanted, and the bias's.
    fn answer(
        self,
        backward: &Backward<'_>,
        to_input: impl FnOnce(&Self, &mut [f32]),
        to_weights: impl FnOnce(&Self, &mut [f32]),
    ) -> Gradients {
        let mut gradients: Vec<Option<Floats>> = backward.operands.iter().map(|_| None).collect();
        if backward.wants(0) {
            // Every input pixel is written, so that the buffer need not be cleared; the weights'
            // sums start at zero.
            let mut data = backward.buffer(self.input.data.len());
            to_input(&self, &mut data);
            gradients[0] = Some(gradient(&self.input.shape, Order::ChannelsLast, data));
        }
        if backward.wants(1) {
            let mut data = backward.zeros(self.weights.data.len());
            to_weights(&self, &mut data);
            gradients[1] = Some(gradient(&self.weights.shape, Order::RowMajor, data));
        }
        if backward.wants(2) {
            let outputs = self.incoming.shape[1];
            // A bias is added to every pixel of its channel.
            let data = sums(&self.incoming.data, outputs, backward.threads);
            gradients[2] = Some(gradient(&[outputs], Order::RowMajor, data));
        }
        backward.recycle(self.incoming);
        Ok(gradients)
    }
}

pub(super) fn conv(backward: &mut Backward<'_>) -> Gradients {
    let given = ConvOperands::new(backward)?;
    let shapes = (&given.input.shape, &given.weights.shape);
    let (shape, window) = bound_conv(&backward.attributes, shapes.0, shapes.1)?;
    let input = given.input.grid();
    let output = given.incoming.grid();
    let bound = BoundConv { shape, window: &window, input, output, threads: backward.threads };
    given.answer(
        backward,
        |given, to| bound.input(&given.incoming.data, &given.weights.data, to),
        |given, to| bound.weights(&given.input.data, &given.incoming.data, to),
    )
}

/// A transposed convolution is the way back of another one, so its own way back is that one.
pub(super) fn conv_transpose(backward: &mut Backward<'_>) -> Gradients {
    let given = ConvOperands::new(backward)?;
    let shapes = (&given.input.shape, &given.weights.shape);
    let (shape, window) = reversed_conv(&backward.attributes, shapes.0, shapes.1)?;
    let input = given.incoming.grid();
    let output = given.input.grid();
    let bound = BoundConv { shape, window: &window, input, output, threads: backward.threads };
    given.answer(
        backward,
        |given, to| bound.output(&given.incoming.data, &given.weights.data, to),
        |given, to| bound.weights(&given.incoming.data, &given.input.data, to),
    )
}
