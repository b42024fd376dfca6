//! Pooling over channels-last planes.

use super::grid::{Source, Spot};
use super::simd::per_isa;
use super::window::{PADDING, Window};

/// What a pool keeps of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// The largest value; NaN if the window holds one.
    Max,
    /// The mean over the pixels inside the input.
    Average,
    /// The mean over the whole window, padding counted as zeros.
    AverageWithPadding,
}

impl Pool {
    /// By how many pixels an average divides its sum.
    pub(crate) fn counted(self, window: &Window, [_, h, w]: [usize; 3]) -> usize {
        let axes = [(&window.rows, h), (&window.columns, w)];
        axes.map(|(axis, at)| match self {
            Self::AverageWithPadding => axis.in_padded(at),
            _ => axis.places(at).iter().filter(|&&place| place != PADDING).count(),
        })
        .iter()
        .product()
    }
}

/// Computes the spots' `channels` channels from source 0, which must have as many.
///
/// # Safety
/// Every spot's `out` must be writable for all channels, and no two spots may share one.
pub(crate) unsafe fn pool(spots: &[Spot<'_>], window: &Window, pool: Pool, channels: usize) {
    let mut row = Vec::new();
    for spot in spots {
        let source = &spot.sources[0];
        assert_eq!(source.grid().width, channels, "a pool keeps the channels");
        // SAFETY: the caller vouches for `out`.
        let out = unsafe { std::slice::from_raw_parts_mut(spot.out, channels) };
        match pool {
            Pool::Max => {
                out.fill(f32::NEG_INFINITY);
                window.under(spot.at).for_each(|at| maximum(out, source.pixel(at)));
            }
            Pool::Average | Pool::AverageWithPadding => {
                sum(out, &mut row, source, window, spot.at);
                divide(out, pool.counted(window, spot.at) as f32);
            }
        }
    }
}

/// Sums the window's rows, then the rows' sums: large planes keep their digits.
fn sum(out: &mut [f32], row: &mut Vec<f32>, source: &Source<'_>, window: &Window, at: [usize; 3]) {
    let [n, h, w] = at;
    out.fill(0.0);
    for y in (0..window.rows.kernel).filter_map(|i| window.rows.under(h, i)) {
        row.clear();
        row.resize(out.len(), 0.0);
        for x in (0..window.columns.kernel).filter_map(|j| window.columns.under(w, j)) {
            add(row, source.pixel([n, y, x]));
        }
        add(out, row);
    }
}

per_isa! {
    /// The larger of each pair; NaN if either is.
    fn maximum[](to: &mut [f32], from: &[f32]) = {
        for (a, &b) in to.iter_mut().zip(from) {
            // A comparison with NaN is false, so that a NaN that comes is taken, and one that is
            // there stays.
            *a = if *a >= b || a.is_nan() { *a } else { b };
        }
    };
}

per_isa! {
    /// Sums pairs.
    fn add[](to: &mut [f32], from: &[f32]) = {
        for (a, &b) in to.iter_mut().zip(from) {
            *a += b;
        }
    };
}

per_isa! {
    /// Divides all by one number.
    fn divide[](to: &mut [f32], by: f32) = {
        for a in to.iter_mut() {
            *a /= by;
        }
    };
}
