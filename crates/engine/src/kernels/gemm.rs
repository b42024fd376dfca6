//! Rows of inputs times packed weights: the one loop behind convolution, Gemm and MatMul.
//!
//! Every output element is one chain of fused multiply-adds that starts at the bias and walks the
//! inputs in one fixed order. The chain never depends on which rows share a tile, on the vector
//! width, the threads or the batch; so a window of a plane has the bits of the whole plane.

#![expect(clippy::needless_range_loop, reason = "indices name registers of a tile")]

#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Isa, Portable, Vector, isa};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Output columns that one panel of packed weights holds.
pub(crate) const PANEL: usize = 64;
/// Columns are padded to this; the widest vector.
pub(crate) const LANE: usize = 16;
/// Depth steps whose weights stay in the nearest caches while all rows use them.
const SPAN: usize = 512;
/// Depth steps by which weights are asked for before their use.
const AHEAD: usize = 16;

/// Weights of `depth × columns`, cut into panels of up to [`PANEL`] columns, each panel row by
/// row; the last panel is padded with zeros to whole vectors.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    depth: usize,
    columns: usize,
    panels: Vec<Arc<[f32]>>,
    bias: Arc<[f32]>,
}

impl Packed {
    /// Packs `weight(k, column)`; `bias` may be empty.
    pub(crate) fn new(
        depth: usize,
        columns: usize,
        bias: &[f32],
        weight: impl Fn(usize, usize) -> f32 + Sync,
    ) -> Self {
        Self::from_rows(depth, columns, bias, |k, first, row| {
            row.iter_mut().zip(first..).for_each(|(slot, column)| *slot = weight(k, column));
        })
    }

    /// Packs weights that lie column by column: `column(c)` is one column's, and `place(e)` the
    /// depth at which its `e`-th value belongs.
    pub(crate) fn from_columns<'a>(
        depth: usize,
        columns: usize,
        bias: &[f32],
        column: impl Fn(usize) -> &'a [f32] + Sync,
        place: impl Fn(usize) -> usize + Sync,
    ) -> Self {
        Self::by_panel(depth, columns, bias, |first, real, width, packed| {
            // Sixteen columns at a time, so that reads run along the columns and writes fill
            // whole cache lines.
            for left in (0..real).step_by(LANE) {
                let block: Vec<&[f32]> =
                    (left..(left + LANE).min(real)).map(|c| column(first + c)).collect();
                for e in 0..depth {
                    let row = &mut packed[place(e) * width + left..][..block.len()];
                    for (slot, values) in row.iter_mut().zip(&block) {
                        *slot = values[e];
                    }
                }
            }
        })
    }

    /// Packs weights that lie row by row: `fill` gets a depth, a first column, and as many slots
    /// as there are weights to write from there on.
    pub(crate) fn from_rows(
        depth: usize,
        columns: usize,
        bias: &[f32],
        fill: impl Fn(usize, usize, &mut [f32]) + Sync,
    ) -> Self {
        Self::by_panel(depth, columns, bias, |first, real, width, packed| {
            for (k, row) in packed.chunks_exact_mut(width).enumerate() {
                fill(k, first, &mut row[..real]);
            }
        })
    }

    /// Packs panel by panel: `fill` gets the panel's first column, how many are real, the width of
    /// its rows, and zeros to be filled. Panels are shared out where the caller runs on a pool of
    /// threads.
    fn by_panel(
        depth: usize,
        columns: usize,
        bias: &[f32],
        fill: impl Fn(usize, usize, usize, &mut [f32]) + Sync,
    ) -> Self {
        let mut padded = vec![0.0; columns.next_multiple_of(LANE)];
        padded[..bias.len()].copy_from_slice(bias);
        let panel = |panel: usize| -> Arc<[f32]> {
            let first = panel * PANEL;
            let real = (columns - first).min(PANEL);
            let width = real.next_multiple_of(LANE);
            let mut packed: Arc<[f32]> = std::iter::repeat_n(0.0, depth * width).collect();
            if let Some(packed) = Arc::get_mut(&mut packed) {
                fill(first, real, width, packed);
            }
            packed
        };
        let count = columns.div_ceil(PANEL);
        // Only a caller that already runs on a pool gets more threads: packing must not start
        // one.
        let panels = if rayon::current_thread_index().is_some() {
            (0..count).into_par_iter().map(panel).collect()
        } else {
            (0..count).map(panel).collect()
        };
        Self { depth, columns, panels, bias: padded.into() }
    }

    /// The same weights with single entries (depth, column) replaced.
    pub(crate) fn with_entries(&self, entries: &[(usize, usize, f32)]) -> Self {
        let mut changed = self.clone();
        for &(k, column, value) in entries {
            let panel = column / PANEL;
            let width = (self.columns - panel * PANEL).min(PANEL).next_multiple_of(LANE);
            let values = Arc::make_mut(&mut changed.panels[panel]);
            values[k * width + column % PANEL] = value;
        }
        changed
    }

    /// The same weights with single biases replaced.
    pub(crate) fn with_biases(&self, biases: &[(usize, f32)]) -> Self {
        let mut changed = self.clone();
        for &(column, value) in biases {
            Arc::make_mut(&mut changed.bias)[column] = value;
        }
        changed
    }

    /// How many inputs feed one output.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// How many outputs one row has.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}

/// Where one call reads and writes: `taps` input runs of `run` values for each row, and the
/// place of each row's first output.
pub(crate) struct Rows<'a> {
    /// Row by row, the start of each of its input runs.
    pub(crate) inputs: &'a [*const f32],
    /// How many runs feed a row.
    pub(crate) taps: usize,
    /// How many values each run has.
    pub(crate) run: usize,
    /// Row by row, where the output of column 0 goes.
    pub(crate) outputs: &'a [*mut f32],
}

/// Multiplies every row with the columns `from..to` of `weights`. `from` must be a multiple of
/// [`LANE`].
///
/// # Panics
/// If the numbers of rows, taps and columns do not fit each other. They are checked once per call,
/// because the tiles below index without checks.
///
/// # Safety
/// Every input run must be readable for `run` values, and every output row writable for all columns
/// in the range; nobody else may touch those columns meanwhile.
pub(crate) unsafe fn multiply(rows: &Rows<'_>, weights: &Packed, from: usize, to: usize) {
    let depth = rows.taps.checked_mul(rows.run);
    assert_eq!(depth, Some(weights.depth), "taps and runs make up the depth of the weights");
    let runs = rows.outputs.len().checked_mul(rows.taps);
    assert_eq!(runs, Some(rows.inputs.len()), "every row has its input runs");
    assert!(from.is_multiple_of(LANE), "a panel is entered where a vector starts");
    assert!(from <= to && to <= weights.columns, "the columns exist");
    // SAFETY: the caller vouches for the pointers, `isa` for the instructions; the counts that the
    // tiles rely on were just checked.
    unsafe {
        match isa() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => panels::<OnAvx512>(rows, weights, from, to),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => panels::<OnAvx2>(rows, weights, from, to),
            Isa::Portable => panels::<OnPortable>(rows, weights, from, to),
        }
    }
}

/// Rows of as many values as the weights have depth, times the weights: a row of `out` for each.
///
/// # Panics
/// If `out` has not as many rows.
pub(crate) fn multiply_rows(rows: &[f32], packed: &Packed, out: &mut [f32]) {
    let inputs: Vec<*const f32> = rows.chunks_exact(packed.depth()).map(<[f32]>::as_ptr).collect();
    let outputs: Vec<*mut f32> =
        out.chunks_exact_mut(packed.columns()).map(<[f32]>::as_mut_ptr).collect();
    let rows = Rows { inputs: &inputs, taps: 1, run: packed.depth(), outputs: &outputs };
    // SAFETY: every pointer is the start of a chunk of the right length.
    unsafe { multiply(&rows, packed, 0, packed.columns()) }
}

/// How an instruction set cuts the product into tiles.
trait Tiles {
    /// Values in one vector.
    const LANES: usize;
    /// Most vectors of columns that one tile takes.
    const VECTORS: usize;
    /// Multiplies all rows with `vectors` vectors of columns.
    unsafe fn columns(tile: &Columns<'_>, vectors: usize);
    /// One tile of `R` rows and `N` vectors.
    unsafe fn tile<const N: usize, const R: usize>(
        tile: &Columns<'_>,
        row: usize,
        to: [*mut f32; R],
    );
}

/// Compiles the tile's loop for one instruction set. Tiles are functions of their own: inlined
/// into one, they would take the compiler minutes.
macro_rules! tiles {
    ($name:ident, $vector:ty, $vectors:literal, $columns:path $(, $features:literal)?) => {
        struct $name;

        impl Tiles for $name {
            const LANES: usize = <$vector as Vector>::LANES;
            const VECTORS: usize = $vectors;

            unsafe fn columns(tile: &Columns<'_>, vectors: usize) {
                // SAFETY: the caller's promise is passed on.
                unsafe { $columns(tile, vectors) }
            }

            unsafe fn tile<const N: usize, const R: usize>(
                tile: &Columns<'_>,
                row: usize,
                to: [*mut f32; R],
            ) {
                #[inline(never)]
                $(#[target_feature(enable = $features)])?
                unsafe fn compiled<const N: usize, const R: usize>(
                    tile: &Columns<'_>,
                    row: usize,
                    to: [*mut f32; R],
                ) {
                    // SAFETY: the caller's promise.
                    unsafe { sum::<$vector, N, R>(tile, row, to) }
                }
                // SAFETY: `multiply` has checked the instructions.
                unsafe { compiled::<N, R>(tile, row, to) }
            }
        }
    };
}

tiles!(OnPortable, Portable, 2, sixteen_registers::<OnPortable>);
#[cfg(target_arch = "x86_64")]
tiles!(OnAvx2, Avx2, 2, sixteen_registers::<OnAvx2>, "avx2,fma");
#[cfg(target_arch = "x86_64")]
tiles!(
    OnAvx512,
    Avx512,
    4,
    thirty_two_registers::<OnAvx512>,
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"
);

#[cfg(target_arch = "x86_64")]
unsafe fn thirty_two_registers<T: Tiles>(tile: &Columns<'_>, vectors: usize) {
    // SAFETY: the caller's promise is passed on.
    unsafe {
        match vectors {
            // Four vectors times six rows are 24 of 32 registers for sums; the rest hold weights
            // and one input.
            4 => all_rows::<T, 4, 6>(tile),
            3 => all_rows::<T, 3, 8>(tile),
            2 => all_rows::<T, 2, 8>(tile),
            _ => all_rows::<T, 1, 8>(tile),
        }
    }
}

unsafe fn sixteen_registers<T: Tiles>(tile: &Columns<'_>, vectors: usize) {
    // SAFETY: the caller's promise is passed on.
    unsafe {
        match vectors {
            // Two vectors times six rows are 12 of 16 registers for sums.
            2 => all_rows::<T, 2, 6>(tile),
            _ => all_rows::<T, 1, 8>(tile),
        }
    }
}

/// One strip of columns: its weights, its bias, and how many of its columns are real.
struct Columns<'a> {
    rows: &'a Rows<'a>,
    span: &'a Span,
    weights: *const f32,
    /// Values between one depth step of the weights and the next.
    stride: usize,
    /// Where the sums start, in the first span; later spans go on from the output.
    bias: Option<*const f32>,
    /// Column of the strip's first value in the output row.
    first: usize,
    /// Columns to write; the rest of the last vector is padding.
    real: usize,
}

unsafe fn panels<T: Tiles>(rows: &Rows<'_>, weights: &Packed, from: usize, to: usize) {
    let strip = T::LANES * T::VECTORS;
    for panel in from / PANEL..to.div_ceil(PANEL) {
        let first = panel * PANEL;
        let columns = from.max(first) - first..(to - first).min(PANEL);
        let stride = (weights.columns - first).min(PANEL).next_multiple_of(LANE);
        // Spans outside, strips inside: a strip of weights is used by all rows while it is in the
        // cache.
        for span in spans(rows.taps, rows.run) {
            for column in columns.clone().step_by(strip) {
                let real = (columns.end - column).min(strip);
                let depth = span.taps.start * rows.run + span.run.start;
                // SAFETY: `column` lies inside the panel, whose width is a multiple of the lanes,
                // and `depth` inside its length.
                let tile = unsafe {
                    Columns {
                        rows,
                        span: &span,
                        weights: weights.panels[panel].as_ptr().add(depth * stride + column),
                        stride,
                        bias: (depth == 0).then(|| weights.bias.as_ptr().add(first + column)),
                        first: first + column,
                        real,
                    }
                };
                // SAFETY: the strip's vectors end inside the panel, which is padded to whole vectors.
                unsafe { T::columns(&tile, real.div_ceil(T::LANES)) };
            }
        }
    }
}

/// A stretch of the depth short enough for its weights to stay in the nearest caches while all
/// rows use them. Sums rest in the output between stretches, which changes no bit.
struct Span {
    taps: Range<usize>,
    run: Range<usize>,
}

/// Cuts the depth into stretches of whole taps, or taps into stretches where they are long.
fn spans(taps: usize, run: usize) -> impl Iterator<Item = Span> {
    // Whole taps where several fit a span; a long tap is cut instead.
    let taps_each = (SPAN / run.max(1)).max(1);
    let run_each = if taps_each > 1 { run } else { SPAN };
    (0..taps).step_by(taps_each).flat_map(move |tap| {
        (0..run).step_by(run_each.max(1)).map(move |k| Span {
            taps: tap..(tap + taps_each).min(taps),
            run: k..(k + run_each).min(run),
        })
    })
}

/// Walks all rows in tiles of `R`, the rest in smaller ones.
unsafe fn all_rows<T: Tiles, const N: usize, const R: usize>(tile: &Columns<'_>) {
    let rows = tile.rows.outputs.len();
    let mut row = 0;
    // SAFETY: every tile ends at or before the last row.
    unsafe {
        while row + R <= rows {
            rows_at::<T, N, R>(tile, row);
            row += R;
        }
        // Rest rows go in tiles of 4, 2 and 1. A row has the same chain in any of them.
        if row + 4 <= rows {
            rows_at::<T, N, 4>(tile, row);
            row += 4;
        }
        if row + 2 <= rows {
            rows_at::<T, N, 2>(tile, row);
            row += 2;
        }
        while row < rows {
            rows_at::<T, N, 1>(tile, row);
            row += 1;
        }
    }
}

/// One tile, with the places of its rows.
unsafe fn rows_at<T: Tiles, const N: usize, const R: usize>(tile: &Columns<'_>, row: usize) {
    let outputs = &tile.rows.outputs[row..row + R];
    // SAFETY: rows have room for the tile's columns.
    unsafe {
        let to: [*mut f32; R] = std::array::from_fn(|r| outputs[r].add(tile.first));
        T::tile::<N, R>(tile, row, to);
    }
}

/// `R` rows times `N` vectors of columns over one span, all sums in registers.
#[inline(always)]
unsafe fn sum<V: Vector, const N: usize, const R: usize>(
    tile: &Columns<'_>,
    row: usize,
    to: [*mut f32; R],
) {
    let rows = tile.rows;
    // Columns of the last vector; the others are whole.
    let last = tile.real - (N - 1) * V::LANES;
    // SAFETY: `multiply` has checked that each row has `taps` input runs and that taps and runs
    // make up the depth of the weights; the caller vouches for what the pointers lead to.
    unsafe {
        let mut sums = [[V::splat(0.0); N]; R];
        for r in 0..R {
            // The first span starts at the bias, later ones where the span before them left off.
            let start = tile.bias.unwrap_or(to[r].cast_const());
            for n in 0..N - 1 {
                sums[r][n] = V::load(start.add(n * V::LANES));
            }
            sums[r][N - 1] = V::load_some(start.add((N - 1) * V::LANES), last);
        }
        let mut weights = tile.weights;
        for tap in tile.span.taps.clone() {
            let inputs: [*const f32; R] =
                std::array::from_fn(|r| *rows.inputs.get_unchecked((row + r) * rows.taps + tap));
            for k in tile.span.run.clone() {
                let w: [V; N] = std::array::from_fn(|n| V::load(weights.add(n * V::LANES)));
                for n in 0..N {
                    // Packed weights stream through; the hardware prefetcher alone is too late
                    // for them.
                    V::prefetch(weights.wrapping_add(AHEAD * tile.stride + n * V::LANES));
                }
                for r in 0..R {
                    // One input against a whole vector of columns: a broadcast and N fused
                    // multiply-adds.
                    let x = V::splat(*inputs[r].add(k));
                    for n in 0..N {
                        sums[r][n] = x.mul_add(w[n], sums[r][n]);
                    }
                }
                weights = weights.add(tile.stride);
            }
        }
        for r in 0..R {
            for n in 0..N - 1 {
                sums[r][n].store(to[r].add(n * V::LANES));
            }
            sums[r][N - 1].store_some(to[r].add((N - 1) * V::LANES), last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Packed {
        Packed::new(2, 2, &[], |k, column| if k == column { 1.0 } else { 0.0 })
    }

    #[test]
    fn rows_are_multiplied_one_by_one() {
        let mut out = [0.0; 4];
        multiply_rows(&[1.0, 2.0, 3.0, 4.0], &identity(), &mut out);
        assert_eq!(out, [1.0, 2.0, 3.0, 4.0]);
    }

    /// In a build without debug assertions, this once read row pointers that do not exist.
    #[test]
    #[should_panic(expected = "every row has its input runs")]
    fn more_outputs_than_rows_are_refused() {
        multiply_rows(&[1.0, 2.0], &identity(), &mut [0.0; 4]);
    }
}
