//! `BatchNormalization`, with stored statistics or with those of the batch.

use super::backward::{gradient, ordered};
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::channels::{blended, moments, products};
use crate::kernels::grid::{Floats, Order};
use std::borrow::Cow;

/// What a channel's gradients follow from.
struct Channel {
    scale: f64,
    mean: f64,
    variance: f64,
    /// One over the deviation.
    inverse: f64,
    /// The sums of the gradient, and of the gradient times the distance from the mean.
    sum: f64,
    product: f64,
}

/// Statistics that are operands, and so have gradients of their own.
pub(super) fn stored_statistics(backward: &mut Backward<'_>) -> Gradients {
    let list = |at: usize| -> Result<Vec<f64>, OperandError> {
        Ok(backward.floats(at, Order::RowMajor)?.data.iter().map(|&x| f64::from(x)).collect())
    };
    let statistics = [list(3)?, list(4)?];
    let epsilon = epsilon(backward);
    let (channels, mut gradients) = norm(backward, statistics, false)?;
    gradients.push(Some(listed(&channels, |c| -c.scale * c.inverse * c.sum)));
    gradients.push(Some(listed(&channels, |c| {
        -0.5 * c.scale * c.product * c.inverse / (c.variance + epsilon)
    })));
    Ok(gradients)
}

/// Statistics of the batch, which every value moves.
pub(super) fn batch_statistics(backward: &mut Backward<'_>) -> Gradients {
    let input = rows(backward.floats(0, Order::ChannelsLast)?)?;
    let statistics = moments(&input.data, input.shape[1], backward.threads);
    Ok(norm(backward, statistics, true)?.1)
}

fn epsilon(backward: &Backward<'_>) -> f64 {
    f64::from(backward.attributes.float("epsilon", 1e-5))
}

fn listed(channels: &[Channel], f: impl Fn(&Channel) -> f64) -> Floats {
    let data = channels.iter().map(|c| f(c) as f32).collect();
    gradient(&[channels.len()], Order::RowMajor, data)
}

/// The gradients of input, scale and bias.
fn norm(
    backward: &mut Backward<'_>,
    [mean, variance]: [Vec<f64>; 2],
    of_batch: bool,
) -> Result<(Vec<Channel>, Vec<Option<Floats>>), OperandError> {
    let epsilon = epsilon(backward);
    let incoming = backward.gradient_in(Order::ChannelsLast)?;
    let input = rows(backward.floats(0, Order::ChannelsLast)?)?;
    let shape = incoming.shape.clone();
    let flat = if shape.len() == 4 { incoming } else { rows(&incoming)?.into_owned() };
    let shift: Vec<f32> = mean.iter().map(|&m| m as f32).collect();
    let [sums, product] = products(&flat.data, &input.data, &shift, backward.threads);
    let scale = &backward.floats(1, Order::RowMajor)?.data;
    let channels: Vec<Channel> = (0..shape[1])
        .map(|c| Channel {
            scale: f64::from(scale[c]),
            mean: mean[c],
            variance: variance[c],
            inverse: 1.0 / libm::sqrt(variance[c] + epsilon),
            sum: sums[c],
            // The shift is the mean rounded to single precision.
            product: product[c] - (mean[c] - f64::from(shift[c])) * sums[c],
        })
        .collect();
    // Without statistics of the batch, mean and variance do not move, and only the first term is
    // left.
    let n = of_batch.then(|| (input.data.len() / shape[1].max(1)) as f64);
    // y = scale · (x - mean) · inverse + bias. With statistics of the batch, dx = scale · inverse
    // · (g - Σg/n - (x - mean) · inverse² · Σ(g·(x - mean))/n), which is one factor, slope and
    // offset per channel.
    let to_scale = listed(&channels, |c| c.product * c.inverse);
    let to_bias = listed(&channels, |c| c.sum);
    let to_input = backward.wants(0).then(|| {
        let data = to_input(&channels, n, flat, &input, backward.threads);
        as_input(shape, data)
    });
    Ok((channels, vec![to_input, Some(to_scale), Some(to_bias)]))
}

/// With statistics of the batch, every value also moves the mean and the variance of all.
fn to_input(
    channels: &[Channel],
    n: Option<f64>,
    mut flat: Floats,
    input: &Floats,
    threads: usize,
) -> Floats {
    let mut factors = Vec::with_capacity(channels.len());
    let mut slopes = Vec::with_capacity(channels.len());
    let mut offsets = Vec::with_capacity(channels.len());
    for c in channels {
        let (slope, offset) = match n {
            Some(n) => {
                let slope = -c.scale * c.inverse * c.inverse * c.inverse * c.product / n;
                (slope, -c.scale * c.inverse * c.sum / n - slope * c.mean)
            }
            None => (0.0, 0.0),
        };
        factors.push((c.scale * c.inverse) as f32);
        slopes.push(slope as f32);
        offsets.push(offset as f32);
    }
    blended(&mut flat.data, &input.data, [&factors, &slopes, &offsets], threads);
    flat
}

/// The value as rows of channels: images as they lie, other ranks as one row of pixels.
fn rows(floats: &Floats) -> Result<Cow<'_, Floats>, OperandError> {
    match *floats.shape.as_slice() {
        [_, _, _, _] => Ok(Cow::Borrowed(floats)),
        [n, channels, ref plane @ ..] => {
            let shape = vec![n, channels, 1, plane.iter().product()];
            let image = Floats { shape, ..floats.clone() };
            Ok(Cow::Owned(ordered(image, Order::ChannelsLast)))
        }
        _ => Err(OperandError::new(format!("statistics do not fit {:?}", floats.shape))),
    }
}

/// Rows of channels in the input's own shape.
fn as_input(shape: Vec<usize>, rows: Floats) -> Floats {
    if shape.len() == 4 { rows } else { Floats { shape, ..ordered(rows, Order::RowMajor) } }
}
