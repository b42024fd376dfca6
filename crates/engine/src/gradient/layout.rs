//! Operators that only rename, reshape or reorder elements.

use super::backward::gradient;
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::grid::Order;
use crate::ops::layout::{Blocks, Transpose, transposed};
use crate::ops::places::offsets;
use crate::value::Value;

/// The same elements under another shape, counted in ONNX's order.
pub(super) fn reshape(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let from = backward.only_gradient()?;
    let from = if orders_agree(&from.shape) { from } else { super::ordered(from, Order::RowMajor) };
    // Planes are wanted channels last, which costs nothing where both orders are the same.
    let order = if orders_agree(shape) { Order::ChannelsLast } else { Order::RowMajor };
    Ok(backward.only(0, gradient(shape, order, from.data)))
}

/// Whether planes of one channel or one pixel lie the same in either order.
fn orders_agree(shape: &[usize]) -> bool {
    matches!(*shape, [_, channels, height, width] if channels == 1 || height * width == 1)
}

/// The axes back in their places.
pub(super) fn transpose(backward: &mut Backward<'_>) -> Gradients {
    let from = backward.only_gradient()?;
    let permutation = Transpose::new(&backward.attributes).permutation(from.shape.len())?;
    let mut inverse = vec![0; permutation.len()];
    permutation.iter().enumerate().for_each(|(at, &axis)| inverse[axis] = at);
    match transposed(Value::Floats(from), &inverse)? {
        Value::Floats(to) => Ok(backward.only(0, to)),
        _ => Err(OperandError::new("floats are wanted")),
    }
}

/// Blocks of pixels that became channels, or channels that became blocks.
pub(super) fn blocks(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let view = Blocks::new(&backward.attributes)?.view(shape)?;
    let from = backward.gradient_in(Order::RowMajor)?;
    let mut data = backward.buffer(from.data.len());
    for (&place, &g) in offsets(&view.axes, &view.strides).iter().zip(&from.data) {
        data[place] = g;
    }
    backward.recycle(from);
    Ok(backward.only(0, gradient(shape, Order::RowMajor, data)))
}
