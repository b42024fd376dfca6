//! Pools: a maximum's gradient goes to the element that it was, a mean's to all in equal shares.

use super::backward::gradient;
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::grid::{Floats, Order};
use crate::kernels::pool::Pool;
use crate::kernels::pool_gradient::{Image, is_kept, pool_back};
use crate::kernels::window::Window;
use crate::ops::pool::{general, of_pixels};
use crate::ops::pool_nd::{self, PoolKind};

/// Of equal maxima the first takes the gradient, of several NaN the first NaN: the places that the
/// operator's own indices name.
pub(super) fn pool(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let to = match of_pixels(&backward.attributes, shape)? {
        Some((pool, window)) => planes(backward, pool, &window)?,
        None => any_axes(backward)?,
    };
    Ok(backward.only(0, to))
}

/// Along rows and columns, image by image.
fn planes(
    backward: &mut Backward<'_>,
    pool: Pool,
    window: &Window,
) -> Result<Floats, OperandError> {
    let order = Order::ChannelsLast;
    let incoming = backward.gradient_in(order)?;
    let input = backward.floats(0, order)?;
    let output = backward.result(0, order)?;
    let mut data = backward.zeros(input.data.len());
    let channels = input.shape[1];
    let each = (channels * window.rows.input * window.columns.input).max(1);
    let answers = (channels * window.rows.output * window.columns.output).max(1);
    backward.rows(&mut data, each, |at, to| {
        let image = Image {
            input: &input.data[at * each..][..each],
            output: &output.data[at * answers..][..answers],
            gradient: &incoming.data[at * answers..][..answers],
            channels,
        };
        pool_back(pool, window, &image, to);
    });
    backward.recycle(incoming);
    Ok(gradient(&input.shape, order, data))
}

/// Along any other number of axes, place by place.
fn any_axes(backward: &mut Backward<'_>) -> Result<Floats, OperandError> {
    let pool = general(&backward.attributes)?;
    let PoolKind::Pool(kind) = pool.keep else {
        return Err(OperandError::new("no gradient goes back through a pool by norm"));
    };
    let order = Order::RowMajor;
    let incoming = backward.gradient_in(order)?;
    let input = backward.floats(0, order)?;
    let output = backward.result(0, order)?;
    let plane = input.shape.get(2..).unwrap_or(&[]);
    let windows = pool.under(plane)?;
    let pixels = plane.iter().product::<usize>().max(1);
    let mut data = backward.zeros(input.data.len());
    for (at, to) in data.chunks_exact_mut(pixels).enumerate() {
        let input = &input.data[at * pixels..][..pixels];
        for (i, window) in windows.iter().enumerate() {
            let answer = at * windows.len() + i;
            let taken = takers(kind, window, input, output.data[answer]);
            let share = incoming.data[answer] / counted(kind, window);
            taken.iter().for_each(|&place| to[place] += share);
        }
    }
    backward.recycle(incoming);
    Ok(gradient(&input.shape, order, data))
}

/// The places of a window among which its gradient is shared out.
fn takers<'a>(kind: Pool, window: &'a pool_nd::Window, input: &[f32], answer: f32) -> &'a [usize] {
    if kind != Pool::Max {
        return &window.inside;
    }
    let first = window.inside.iter().position(|&place| is_kept(input[place], answer));
    first.map_or(&[], |at| &window.inside[at..=at])
}

fn counted(kind: Pool, window: &pool_nd::Window) -> f32 {
    match kind {
        Pool::Max => 1.0,
        Pool::Average => window.inside.len() as f32,
        Pool::AverageWithPadding => window.padded as f32,
    }
}
