//! `LRN`: a channel changes its own answer, and the divisors of its neighbours.

use super::{Backward, Gradients};
use crate::kernels::grid::Order;
use crate::kernels::sum::sum;
use crate::ops::lrn::Lrn;

pub(super) fn lrn(backward: &mut Backward<'_>) -> Gradients {
    let lrn = Lrn::of(&backward.attributes)?;
    let mut gradient = backward.gradient_in(Order::ChannelsLast)?;
    let x = &backward.floats(0, Order::ChannelsLast)?.data;
    let channels = backward.shape(0)?[1];
    // y = x · d^-β with d = bias + α/n · Σ x². So dx = g · d^-β - 2αβ/n · x · Σ (g · x ·
    // d^(-β-1)), the sum over the channels whose divisors read x.
    let mut divisors = backward.buffer(x.len());
    backward.rows(&mut divisors, channels, |at, row| {
        let x = &x[at * channels..][..channels];
        row.iter_mut().enumerate().for_each(|(at, divisor)| *divisor = lrn.divisor(x, at));
    });
    let mut shares = backward.copy(&gradient.data);
    backward.triples(&mut shares, [x, &divisors], |g, x, divisor| {
        g * x * libm::powf(divisor, -lrn.beta - 1.0)
    });
    backward.pairs(&mut gradient.data, &divisors, |g, d| g * libm::powf(d, -lrn.beta));
    let factor = 2.0 * lrn.alpha * lrn.beta / lrn.size as f32;
    // Who is read by a divisor reads back the other way round.
    let (after, before) = lrn.reach();
    backward.rows(&mut gradient.data, channels, |at, row| {
        let x = &x[at * channels..];
        let shares = &shares[at * channels..][..channels];
        for (at, (g, x)) in row.iter_mut().zip(x).enumerate() {
            let near = at.saturating_sub(before)..(at + after + 1).min(channels);
            *g -= factor * x * sum(&shares[near], |share| share) as f32;
        }
    });
    backward.buffers.give(divisors);
    backward.buffers.give(shares);
    Ok(backward.only(0, gradient))
}
