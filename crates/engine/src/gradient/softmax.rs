//! `Softmax` and `LogSoftmax`: an element's gradient depends on its whole row's.

use super::backward::gradient;
use super::broadcast::{Broadcast, Layout, recycle};
use super::{Backward, Gradients};
use crate::kernels::grid::Order;
use crate::kernels::math::exp;
use crate::ops::places::axis;
use crate::ops::softmax::Softmax;

pub(super) fn softmax(backward: &mut Backward<'_>) -> Gradients {
    let softmax = Softmax::of(&backward.attributes);
    let shape = backward.shape(0)?;
    let at = axis(softmax.axis, shape.len())?;
    let channels = shape.len() == 4 && at == 1 && !softmax.flattens;
    let order = if channels { Order::ChannelsLast } else { Order::RowMajor };
    let y = &backward.result(0, order)?.data;
    let mut own = backward.gradient_in(order)?.data;
    let whole = rows(shape, at, channels, softmax.flattens);
    let kept = [whole[0], 1, whole[2]];
    let under = Broadcast::new(Layout::row_major(&kept), Layout::row_major(&whole));
    // dx = y · (g - Σ g·y) for Softmax, and dx = g - e^y · Σ g for LogSoftmax.
    let mut shares = backward.copy(&own);
    if !softmax.log {
        backward.pairs(&mut shares, y, |g, y| g * y);
    }
    let sums = under.fold(backward, shares);
    let sums = under.spread(backward, &sums);
    if softmax.log {
        backward.triples(&mut own, [y, &sums], |g, y, sum| g - exp(y) * sum);
    } else {
        backward.triples(&mut own, [y, &sums], |g, y, sum| y * (g - sum));
    }
    recycle(backward, sums);
    Ok(backward.only(0, gradient(shape, order, own)))
}

/// The shape as rows lie in it: how many blocks, their length, and how many rows in each block.
fn rows(shape: &[usize], at: usize, channels: bool, flattens: bool) -> [usize; 3] {
    let product = |axes: &[usize]| axes.iter().product::<usize>();
    if channels {
        [shape[0] * product(&shape[2..]), shape[1], 1]
    } else if flattens {
        [product(&shape[..at]), product(&shape[at..]), 1]
    } else {
        [product(&shape[..at]), shape[at], product(&shape[at + 1..])]
    }
}
