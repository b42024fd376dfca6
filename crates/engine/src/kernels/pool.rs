//! Pooling over channels-last planes.

use super::grid::{Source, Spot};
use super::simd::per_isa;
use super::window::Window;

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

/// Computes the spots from source 0.
///
/// # Safety
/// Every spot's `out` must be writable for all channels, and no two spots may share one.
pub(crate) unsafe fn pool(spots: &[Spot<'_>], window: &Window, pool: Pool) {
    let mut row = Vec::new();
    for spot in spots {
        let source = &spot.sources[0];
        // SAFETY: the caller vouches for `out`.
        let out = unsafe { std::slice::from_raw_parts_mut(spot.out, source.grid.width) };
        match pool {
            Pool::Max => {
                out.fill(f32::NEG_INFINITY);
                window.under(spot.at).for_each(|at| maximum(out, source.pixel(at)));
            }
            Pool::Average | Pool::AverageWithPadding => {
                let inside = sum(out, &mut row, source, window, spot.at);
                let counted = match pool {
                    Pool::AverageWithPadding => {
                        window.rows.in_padded(spot.at[1]) * window.columns.in_padded(spot.at[2])
                    }
                    _ => inside,
                };
                divide(out, counted as f32);
            }
        }
    }
}

/// Sums the window's rows, then the rows' sums: large planes keep their digits. Returns how many
/// pixels lie inside the input.
fn sum(
    out: &mut [f32],
    row: &mut Vec<f32>,
    source: &Source<'_>,
    window: &Window,
    at: [usize; 3],
) -> usize {
    let [n, h, w] = at;
    let mut inside = 0;
    out.fill(0.0);
    for y in (0..window.rows.kernel).filter_map(|i| window.rows.under(h, i)) {
        row.clear();
        row.resize(out.len(), 0.0);
        for x in (0..window.columns.kernel).filter_map(|j| window.columns.under(w, j)) {
            add(row, source.pixel([n, y, x]));
            inside += 1;
        }
        add(out, row);
    }
    inside
}

per_isa! {
    /// The larger of each pair; NaN if either is.
    fn maximum[](to: &mut [f32], from: &[f32]) = {
        for (a, &b) in to.iter_mut().zip(from) {
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
