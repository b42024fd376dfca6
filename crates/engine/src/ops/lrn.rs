//! `LRN`: every channel divided by what its neighbours at the same pixel come to.
//!
//! Each sum of squares is taken on its own, as ONNX defines it. ONNX Runtime carries one sum from
//! channel to channel, so that an infinite channel spoils all that follow it.

use super::operands::required;
use super::pixelwise::Pixelwise;
use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::sum::sum;
use crate::value::Value;

/// The parsed operator, which gradients ask for too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lrn {
    pub(crate) size: usize,
    pub(crate) alpha: f32,
    pub(crate) beta: f32,
    bias: f32,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Lrn::of(attributes)?)))
}

impl Lrn {
    pub(crate) fn of(attributes: &Attributes<'_>) -> Result<Self, OperandError> {
        let size = usize::try_from(attributes.int("size", 0)).ok().filter(|&size| size > 0);
        Ok(Self {
            size: size.ok_or_else(|| OperandError::new("attribute size must be positive"))?,
            alpha: attributes.float("alpha", 1e-4),
            beta: attributes.float("beta", 0.75),
            bias: attributes.float("bias", 1.0),
        })
    }

    /// How many channels before and behind its own a divisor reads.
    pub(crate) fn reach(&self) -> (usize, usize) {
        ((self.size - 1) / 2, self.size / 2)
    }

    /// What a channel's neighbours come to, before it is raised to a power.
    pub(crate) fn divisor(&self, channels: &[f32], at: usize) -> f32 {
        let (before, after) = self.reach();
        let near = at.saturating_sub(before)..(at + after + 1).min(channels.len());
        let squares = sum(&channels[near], |x| x * x) as f32;
        self.bias + self.alpha / self.size as f32 * squares
    }

    fn pixel(&self, channels: &[f32], out: &mut [f32]) {
        for (at, (y, x)) in out.iter_mut().zip(channels).enumerate() {
            *y = x * libm::powf(self.divisor(channels, at), -self.beta);
        }
    }
}

impl Op for Lrn {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::ChannelsLast
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        if input.shape.len() != 4 {
            return Err(OperandError::new(format!("images are wanted, not {:?}", input.shape)));
        }
        Ok(Some(Box::new(Pixelwise::new(
            input.shape.clone(),
            input.order,
            |channels: &[f32], out: &mut [f32]| self.pixel(channels, out),
        ))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_infinite_channel_reaches_its_neighbours_only() {
        let lrn = Lrn { size: 3, alpha: 1.0, beta: 0.5, bias: 1.0 };
        let mut out = [0.0; 5];
        lrn.pixel(&[1.0, f32::INFINITY, 1.0, 2.0, 2.0], &mut out);
        assert!(out[1].is_nan());
        assert_eq!(out[..3].iter().map(|&x| x == 0.0).collect::<Vec<_>>(), [true, false, true]);
        assert!((out[4] - 2.0 / (1.0f32 + 8.0 / 3.0).sqrt()).abs() < 1e-6);
    }
}
