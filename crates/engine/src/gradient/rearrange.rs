//! Operators that pick, repeat or cut off elements, each axis on its own.

use super::along::{Readers, back, readers};
use super::backward::gradient;
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::grid::Order;
use crate::ops::pad::Pad;
use crate::ops::places::axis;
use crate::ops::resize::Resize;
use crate::ops::slice::Slice;
use crate::value::Value;

/// Hands the gradient back through axes that each pick or blend places of their own.
fn through(backward: &mut Backward<'_>, along: &[Option<Readers>]) -> Gradients {
    let from = backward.only_gradient()?;
    Ok(backward.only(0, back(backward, from, along)))
}

/// The places that were cut out.
pub(super) fn slice(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let cuts = Slice::new(&backward.attributes).cuts(shape, &backward.values())?;
    let cuts = cuts.ok_or_else(|| OperandError::new("starts and ends must be whole numbers"))?;
    let along = shape.iter().zip(&cuts).map(|(&length, cut)| {
        let places: Vec<Option<usize>> = cut.places().map(Some).collect();
        readers(length, &places)
    });
    through(backward, &along.collect::<Vec<_>>())
}

/// What was repeated at the edges sums up; what was filled belongs to nobody.
pub(super) fn pad(backward: &mut Backward<'_>) -> Gradients {
    if backward.wants(2) {
        return Err(OperandError::new("the constant that fills hands no gradient back"));
    }
    let shape = backward.shape(0)?;
    let places = Pad::new(&backward.attributes)?.places(shape, &backward.values())?;
    let along = shape.iter().zip(&places).map(|(&length, along)| readers(length, along));
    through(backward, &along.collect::<Vec<_>>())
}

/// Repetitions sum up.
pub(super) fn tile(backward: &mut Backward<'_>) -> Gradients {
    let result = backward.result(0, Order::RowMajor)?;
    let along = backward.shape(0)?.iter().zip(&result.shape).map(|(&own, &to)| {
        let places: Vec<Option<usize>> = (0..to).map(|out| Some(out % own)).collect();
        readers(own, &places)
    });
    through(backward, &along.collect::<Vec<_>>())
}

/// Axes of length one, and those in front, sum up.
pub(super) fn expand(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let from = backward.gradient_in(Order::RowMajor)?;
    // Broadcasting aligns at the last axis, so that new axes come in front.
    let front = from.shape.len() - shape.len();
    let along = from.shape.iter().enumerate().map(|(at, &to)| {
        let own = at.checked_sub(front).map_or(1, |at| shape[at]);
        if own == to { None } else { readers(own, &vec![Some(0); to]) }
    });
    let along: Vec<_> = along.collect();
    let data = back(backward, from, &along).data;
    Ok(backward.only(0, gradient(shape, Order::RowMajor, data)))
}

/// Every place of the axis sums what was read from it.
pub(super) fn gather(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let at = axis(backward.attributes.int("axis", 0), shape.len())?;
    let indices = backward.operand(1).and_then(Value::integers);
    let indices = indices.ok_or_else(|| OperandError::new("indices must be whole numbers"))?;
    let places = indices.iter().map(|&index| axis(index, shape[at]).map(Some));
    let places: Vec<Option<usize>> = places.collect::<Result<_, _>>()?;
    let from = backward.gradient_in(Order::RowMajor)?;
    // Indices of any rank are one axis as far as the elements lie.
    let outer = shape[..at].iter().product();
    let inner = shape[at + 1..].iter().product();
    let folded = [outer, places.len(), inner];
    let along = [None, readers(shape[at], &places), None];
    let data = back(backward, gradient(&folded, Order::RowMajor, from.data), &along).data;
    Ok(backward.only(0, gradient(shape, Order::RowMajor, data)))
}

/// Every pixel sums its shares of the pixels that blend it.
pub(super) fn resize(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let blends = Resize::new(&backward.attributes)?.along(shape, &backward.values())?;
    let along = shape.iter().zip(blends).map(|(&length, blends)| {
        let mut readers = vec![Vec::new(); length];
        for (out, blend) in blends?.blends().iter().enumerate() {
            blend.shares().iter().for_each(|&(place, share)| readers[place].push((out, share)));
        }
        Some(readers)
    });
    through(backward, &along.collect::<Vec<_>>())
}
