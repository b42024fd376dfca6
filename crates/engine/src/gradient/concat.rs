//! `Concat` and `Split`: what one joins the other cuts, so each one's gradient is the other.

use super::along::in_memory;
use super::backward::gradient;
use super::{Backward, Gradients, ordered};
use crate::error::OperandError;
use crate::kernels::grid::Order;
use crate::ops::places::axis;

/// A value that is joined from parts along one axis, as it lies in memory.
struct Joined {
    /// Elements of the whole for each place of the axes in front.
    each: usize,
    /// Elements of the axes behind for each place of the axis.
    inner: usize,
}

impl Joined {
    fn new(shape: &[usize], order: Order, axis: usize) -> Self {
        let memory = in_memory(shape.len(), order);
        let behind = memory.iter().skip_while(|&&a| a != axis).skip(1);
        let inner = behind.map(|&a| shape[a]).product();
        Self { each: shape[axis] * inner, inner }
    }
}

/// Each operand's gradient is its part of the result's.
pub(super) fn concat(backward: &mut Backward<'_>) -> Gradients {
    let from = backward.only_gradient()?;
    let at = axis(backward.attributes.int("axis", 0), from.shape.len())?;
    let Joined { each, inner } = Joined::new(&from.shape, from.order, at);
    let mut gradients = Vec::with_capacity(backward.operands.len());
    let mut start = 0;
    for operand in 0..backward.operands.len() {
        let shape = backward.shape(operand)?;
        let part = shape[at] * inner;
        gradients.push(backward.wants(operand).then(|| {
            let mut data = backward.buffer(shape.iter().product());
            backward.rows(&mut data, part, |row, to| {
                to.copy_from_slice(&from.data[row * each + start..][..part]);
            });
            gradient(shape, from.order, data)
        }));
        start += part;
    }
    backward.recycle(from);
    Ok(gradients)
}

/// The operand's gradient is those of all results, one behind the other; zeros where nothing
/// depends on a result.
pub(super) fn split(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let at = axis(backward.attributes.int("axis", 0), shape.len())?;
    let order = backward.incoming.iter().flatten().next().map_or(Order::RowMajor, |g| g.order);
    let Joined { each, inner } = Joined::new(shape, order, at);
    let mut data = backward.zeros(shape.iter().product());
    let mut start = 0;
    for result in 0..backward.results.len() {
        let part = part(backward, result, at)? * inner;
        if let Some(from) = backward.gradient(result).map(|g| ordered(g, order)) {
            backward.rows(&mut data, each, |row, to| {
                to[start..][..part].copy_from_slice(&from.data[row * part..][..part]);
            });
            backward.recycle(from);
        }
        start += part;
    }
    Ok(backward.only(0, gradient(shape, order, data)))
}

/// How many places of the axis a result of `Split` takes.
fn part(backward: &Backward<'_>, result: usize, axis: usize) -> Result<usize, OperandError> {
    let value = backward.results.get(result).copied().flatten();
    let shape = value.map(|slot| slot.value.shape()).and_then(|shape| shape.get(axis));
    shape.copied().ok_or_else(|| OperandError::new(format!("result {result} is left out")))
}
