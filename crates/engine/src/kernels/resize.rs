//! Resizing planes: each output pixel is one input pixel or a blend of several.

use super::grid::Spot;
use super::simd::per_isa;

/// The input places that one output place reads, and their shares.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Blend {
    /// One place alone, copied.
    Only(usize),
    /// Several places with their shares, none of which is left out even where it is zero.
    Shares(Vec<(usize, f32)>),
    /// None: the place lies outside of the input.
    Outside,
}

impl Blend {
    /// The input places that are read.
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let (one, many) = match self {
            Self::Only(at) => (Some(*at), &[][..]),
            Self::Shares(shares) => (None, shares.as_slice()),
            Self::Outside => (None, &[][..]),
        };
        one.into_iter().chain(many.iter().map(|&(at, _)| at))
    }

    /// The places with their shares.
    pub(crate) fn shares(&self) -> Vec<(usize, f32)> {
        match self {
            Self::Only(at) => vec![(*at, 1.0)],
            Self::Shares(shares) => shares.clone(),
            Self::Outside => Vec::new(),
        }
    }
}

/// The blends along one axis.
#[derive(Debug, Clone)]
pub(crate) struct AxisBlends {
    blends: Vec<Blend>,
    /// For each input place, the first and one past the last output place that reads it.
    readers: Vec<(usize, usize)>,
}

impl AxisBlends {
    pub(crate) fn new(blends: Vec<Blend>, input: usize) -> Self {
        let mut readers = vec![(usize::MAX, 0); input];
        for (out, blend) in blends.iter().enumerate() {
            for at in blend.places() {
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

    /// The blends, one per output place.
    pub(crate) fn blends(&self) -> &[Blend] {
        &self.blends
    }
}

/// Computes the spots' `channels` channels from source 0, which must have as many; `outside` fills
/// those that lie outside of the input.
///
/// # Safety
/// Every spot's `out` must be writable for all channels, and no two spots may share one.
pub(crate) unsafe fn resize(
    spots: &[Spot<'_>],
    [rows, columns]: [&AxisBlends; 2],
    outside: f32,
    channels: usize,
) {
    for spot in spots {
        let source = &spot.sources[0];
        let [n, h, w] = spot.at;
        assert_eq!(source.grid().width, channels, "resizing keeps the channels");
        // SAFETY: the caller vouches for `out`.
        let out = unsafe { std::slice::from_raw_parts_mut(spot.out, channels) };
        let pixel = |row: usize, column: usize| source.pixel([n, row, column]);
        match (&rows.blends[h], &columns.blends[w]) {
            (Blend::Outside, _) | (_, Blend::Outside) => out.fill(outside),
            (&Blend::Only(row), &Blend::Only(column)) => out.copy_from_slice(pixel(row, column)),
            (Blend::Shares(rows), Blend::Shares(columns)) => match (&**rows, &**columns) {
                (&[(top, a), (bottom, b)], &[(left, c), (right, d)]) => blend(
                    out,
                    [
                        pixel(top, left),
                        pixel(top, right),
                        pixel(bottom, left),
                        pixel(bottom, right),
                    ],
                    [c * a, d * a, c * b, d * b],
                ),
                (rows, columns) => gather(out, rows, columns, pixel),
            },
            (row, column) => gather(out, &row.shares(), &column.shares(), pixel),
        }
    }
}

/// Any number of pixels, row by row.
fn gather<'a>(
    out: &mut [f32],
    rows: &[(usize, f32)],
    columns: &[(usize, f32)],
    pixel: impl Fn(usize, usize) -> &'a [f32],
) {
    out.fill(0.0);
    for &(row, a) in rows {
        for &(column, b) in columns {
            add(out, pixel(row, column), a * b);
        }
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

per_isa! {
    /// Adds one pixel's share.
    fn add[](out: &mut [f32], pixel: &[f32], share: f32) = {
        for (x, &y) in out.iter_mut().zip(pixel) {
            *x += share * y;
        }
    };
}
