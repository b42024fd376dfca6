//! Values that repeat along axes of a larger one: spread out to it, and its sums folded back.

use super::Backward;
use super::backward::CHUNK;
use crate::kernels::grid::{Floats, Order};
use crate::kernels::sum::{add_each, sum};
use crate::ops::places::{offsets, strides};
use rayon::prelude::*;
use std::borrow::Cow;

/// Parts at most into which a sum is cut: its order must not depend on the number of threads.
const PARTS: usize = 8;

/// A shape, and how its elements lie in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<'a> {
    shape: &'a [usize],
    order: Order,
}

impl<'a> Layout<'a> {
    pub(super) fn new(shape: &'a [usize], order: Order) -> Self {
        Self { shape, order }
    }

    pub(super) fn of(floats: &'a Floats) -> Self {
        Self::new(&floats.shape, floats.order)
    }

    pub(super) fn row_major(shape: &'a [usize]) -> Self {
        Self::new(shape, Order::RowMajor)
    }

    fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Length and stride of each axis as ONNX counts them, with axes of one in front.
    fn axes(&self, rank: usize) -> Vec<(usize, usize)> {
        let strides = match (self.order, self.shape) {
            (Order::ChannelsLast, &[_, c, h, w]) => vec![c * h * w, 1, c * w, c],
            _ => strides(self.shape),
        };
        let mut axes = vec![(1, 0); rank - self.shape.len()];
        axes.extend(self.shape.iter().copied().zip(strides));
        axes
    }
}

/// Where the elements of a repeated value lie, for each run of the whole one's memory.
#[derive(Debug)]
pub(super) struct Broadcast {
    /// Elements of the repeated value.
    count: usize,
    /// The repeated element at each run's beginning.
    starts: Vec<usize>,
    /// Elements of a run, and how far apart their repeated ones lie.
    length: usize,
    stride: usize,
    alike: bool,
}

impl Broadcast {
    /// `own` must broadcast to `whole`.
    pub(super) fn new(own: Layout<'_>, whole: Layout<'_>) -> Self {
        let mut axes = merged(own, whole);
        let (length, stride) = axes.pop().unwrap_or((1, 1));
        let alike = axes.is_empty() && stride == 1;
        let (lengths, strides): (Vec<usize>, Vec<usize>) = axes.into_iter().unzip();
        Self { count: own.count(), starts: offsets(&lengths, &strides), length, stride, alike }
    }

    /// Whether nothing repeats and both lie alike.
    pub(super) fn is_alike(&self) -> bool {
        self.alike
    }

    /// The repeated value, element by element of the whole.
    pub(super) fn spread<'a>(&self, backward: &Backward<'_>, own: &'a [f32]) -> Cow<'a, [f32]> {
        if self.alike {
            return Cow::Borrowed(own);
        }
        let mut whole = backward.buffer(self.starts.len() * self.length);
        backward.rows(&mut whole, self.length, |at, run| {
            let own = &own[self.starts[at]..];
            // The three ways in which a run can repeat: one element, a whole run, or every so
            // many.
            match self.stride {
                0 => run.fill(own[0]),
                1 => run.copy_from_slice(&own[..run.len()]),
                stride => run.iter_mut().zip(own.iter().step_by(stride)).for_each(|(x, y)| *x = *y),
            }
        });
        Cow::Owned(whole)
    }

    /// For each element of the repeated value, the sum over the whole one's that it stands for.
    pub(super) fn fold(&self, backward: &Backward<'_>, whole: Vec<f32>) -> Vec<f32> {
        if self.alike {
            return whole;
        }
        let mut sums = vec![0.0; self.count];
        if !whole.is_empty() {
            for (first, part) in self.parts(&whole, backward.threads) {
                sums[first..].iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            }
        }
        backward.buffers.give(whole);
        sums.into_iter().map(|sum| sum as f32).collect()
    }

    /// Sums over parts of the whole, cut by its shape alone.
    fn parts(&self, whole: &[f32], threads: usize) -> Vec<(usize, Vec<f64>)> {
        // Parts by shape: their sums are added in order, so that threads change no bit.
        let runs = (CHUNK / self.length).max(self.starts.len().div_ceil(PARTS)).max(1);
        let part = |(whole, starts): (&[f32], &[usize])| self.part(whole, starts);
        if threads == 1 {
            return whole
                .chunks(runs * self.length)
                .zip(self.starts.chunks(runs))
                .map(part)
                .collect();
        }
        let parts = whole.par_chunks(runs * self.length).zip(self.starts.par_chunks(runs));
        parts.map(part).collect()
    }

    /// Sums over some runs, from the first repeated element that they stand for.
    fn part(&self, whole: &[f32], starts: &[usize]) -> (usize, Vec<f64>) {
        // A part covers a stretch of the repeated value only; no need to clear sums for all of
        // it.
        let first = starts.iter().copied().min().unwrap_or(0);
        let last = starts.iter().copied().max().unwrap_or(0) + (self.length - 1) * self.stride;
        let mut sums = vec![0.0; last + 1 - first];
        for (run, start) in whole.chunks_exact(self.length).zip(starts) {
            let sums = &mut sums[start - first..];
            match self.stride {
                0 => sums[0] += sum(run, |x| x),
                1 => add_each(sums, run),
                stride => {
                    let places = sums.iter_mut().step_by(stride);
                    places.zip(run).for_each(|(sum, &x)| *sum += f64::from(x));
                }
            }
        }
        (first, sums)
    }
}

/// Gives memory back that a value was spread out to.
pub(super) fn recycle(backward: &Backward<'_>, spread: Cow<'_, [f32]>) {
    if let Cow::Owned(memory) = spread {
        backward.buffers.give(memory);
    }
}

/// The whole's axes as they lie in memory, those taken together along which the repeated value's
/// elements are evenly apart: length, and stride in the repeated value.
fn merged(own: Layout<'_>, whole: Layout<'_>) -> Vec<(usize, usize)> {
    let rank = whole.shape.len();
    let in_memory: Vec<usize> = match whole.order {
        Order::ChannelsLast => vec![0, 2, 3, 1],
        Order::RowMajor => (0..rank).collect(),
    };
    let own = own.axes(rank);
    let mut axes: Vec<(usize, usize)> = Vec::new();
    for axis in in_memory {
        let length = whole.shape[axis];
        let stride = if own[axis].0 == 1 { 0 } else { own[axis].1 };
        match axes.last_mut() {
            _ if length == 1 => {}
            // Two axes run on where a step along the outer one is as far as the whole inner one.
            Some((before, apart)) if *apart == stride * length => {
                (*before, *apart) = (*before * length, stride);
            }
            _ => axes.push((length, stride)),
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_run_on_are_taken_together() {
        use Order::{ChannelsLast, RowMajor};
        type Case<'a> = (&'a [usize], Order, &'a [usize], Order, &'a [(usize, usize)]);
        let cases: &[Case<'_>] = &[
            (&[2, 3, 4], RowMajor, &[2, 3, 4], RowMajor, &[(24, 1)]),
            (&[2, 3, 4, 5], ChannelsLast, &[2, 3, 4, 5], ChannelsLast, &[(120, 1)]),
            (&[2, 3, 1, 1], ChannelsLast, &[2, 3, 4, 5], ChannelsLast, &[(2, 3), (20, 0), (3, 1)]),
            (&[3, 1, 1], RowMajor, &[2, 3, 4, 5], RowMajor, &[(2, 0), (3, 1), (20, 0)]),
            (&[3, 4, 5], RowMajor, &[2, 3, 4, 5], ChannelsLast, &[(2, 0), (20, 1), (3, 20)]),
            (&[3], RowMajor, &[5, 4, 3], RowMajor, &[(20, 0), (3, 1)]),
            (&[], RowMajor, &[5, 4], RowMajor, &[(20, 0)]),
            (&[1], RowMajor, &[1, 1], RowMajor, &[]),
        ];
        for &(own, own_order, whole, order, wanted) in cases {
            let found = merged(Layout::new(own, own_order), Layout::new(whole, order));
            assert_eq!(found, wanted, "{own:?} in {whole:?}");
        }
    }

    #[test]
    fn sums_are_cut_by_shape_alone() {
        let whole: Vec<f32> = (0..9 * 70 * 64).map(|i| (i as f32).sin()).collect();
        for own in [&[64][..], &[70, 1], &[70, 64], &[9, 1, 64]] {
            let under = Broadcast::new(Layout::row_major(own), Layout::row_major(&[9, 70, 64]));
            let alone = under.parts(&whole, 1);
            assert!(alone.len() > 1, "{own:?} is cut");
            assert_eq!(alone, under.parts(&whole, 3), "{own:?}");
        }
    }
}
