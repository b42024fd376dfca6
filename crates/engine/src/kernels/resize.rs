//! Resizing planes: each output pixel is one input pixel or a blend of up to four.

use super::grid::Spot;
use super::simd::per_isa;

/// One or two input places and their shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Blend {
    at: [usize; 2],
    share: [f32; 2],
    single: bool,
}

impl Blend {
    /// One place alone.
    pub(crate) fn only(at: usize) -> Self {
        Self { at: [at, at], share: [1.0, 0.0], single: true }
    }

    /// The two places around `x`, as ONNX Runtime weighs them: both halves at the borders.
    pub(crate) fn between(x: f32, last: usize) -> Self {
        let x = x.clamp(0.0, last as f32);
        let low = (x as usize).min(last);
        let high = (low + 1).min(last);
        let share = if low == high { [0.5, 0.5] } else { [high as f32 - x, x - low as f32] };
        Self { at: [low, high], share, single: false }
    }
}

/// The blends along one axis.
#[derive(Debug, Clone)]
pub(crate) struct Along {
    blends: Vec<Blend>,
    /// For each input place, the first and one past the last output place that reads it.
    readers: Vec<(usize, usize)>,
}

impl Along {
    pub(crate) fn new(blends: Vec<Blend>, input: usize) -> Self {
        let mut readers = vec![(usize::MAX, 0); input];
        for (out, blend) in blends.iter().enumerate() {
            for at in blend.at {
                readers[at] = (readers[at].0.min(out), readers[at].1.max(out + 1));
            }
        }
        Self { blends, readers }
    }

    /// Output places that read any of `low..high`.
    pub(crate) fn reach(&self, low: usize, high: usize) -> (usize, usize) {
        let readers = &self.readers[low..high];
        let first = readers.iter().map(|r| r.0).min().unwrap_or(0);
        let last = readers.iter().map(|r| r.1).max().unwrap_or(0);
        (first.min(last), last)
    }
}

/// Computes the spots from source 0.
///
/// # Safety
/// Every spot's `out` must be writable for all channels, and no two spots may share one.
pub(crate) unsafe fn resize(spots: &[Spot<'_>], rows: &Along, columns: &Along) {
    for spot in spots {
        let source = &spot.sources[0];
        let [n, h, w] = spot.at;
        let (row, column) = (&rows.blends[h], &columns.blends[w]);
        // SAFETY: the caller vouches for `out`.
        let out = unsafe { std::slice::from_raw_parts_mut(spot.out, source.grid.width) };
        let pixel = |i: usize, j: usize| source.pixel([n, row.at[i], column.at[j]]);
        if row.single && column.single {
            out.copy_from_slice(pixel(0, 0));
            continue;
        }
        let shares = [
            column.share[0] * row.share[0],
            column.share[1] * row.share[0],
            column.share[0] * row.share[1],
            column.share[1] * row.share[1],
        ];
        blend(out, [pixel(0, 0), pixel(0, 1), pixel(1, 0), pixel(1, 1)], shares);
    }
}

per_isa! {
    /// The weighted sum of four pixels.
    fn blend[](out: &mut [f32], pixels: [&[f32]; 4], shares: [f32; 4]) = {
        let n = out.len();
        let [a, b, c, d] = pixels.map(|p| &p[..n]);
        for i in 0..n {
            out[i] = shares[0] * a[i] + shares[1] * b[i] + shares[2] * c[i] + shares[3] * d[i];
        }
    };
}
