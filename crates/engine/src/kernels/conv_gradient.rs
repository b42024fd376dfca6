//! The gradients of a two-dimensional convolution, over channels-last planes.
//!
//! The input's gradient is a convolution of the output's with the same weights seen from the other
//! side; with a stride, one for every phase of pixels. The weights' gradient sums, tap by tap, the
//! products of output pixels with the input pixels under that tap.

use super::conv::{FilterShape, Filters, convolve};
use super::grid::{Grid, Source, Spot};
use super::outer::{RowPairs, Sums, inner, outer};
use super::share::{SharedRows, shared_out};
use super::window::{PADDING, Window};
use rayon::prelude::*;
use std::ops::Range;

/// Pixels that are computed in one go.
const BLOCK: usize = 192;
/// Below this many channels, pixels under all taps are copied side by side before they meet.
const SHORT_RUN: usize = 16;

/// A convolution bound to its input.
pub(crate) struct BoundConv<'a> {
    pub(crate) shape: FilterShape,
    pub(crate) window: &'a Window,
    /// The input's pixels.
    pub(crate) input: Grid,
    /// The output's pixels.
    pub(crate) output: Grid,
    pub(crate) threads: usize,
}

impl BoundConv<'_> {
    fn group_outputs(&self) -> usize {
        self.shape.outputs / self.shape.groups
    }

    /// Checks the lengths of an input, an output and weights, or of their gradients: what follows
    /// writes through pointers.
    fn check(&self, input: usize, output: usize, weights: usize) {
        let FilterShape { outputs, group_inputs, taps, .. } = self.shape;
        assert_eq!(input, self.input.pixels() * self.input.width, "the input has all its pixels");
        assert_eq!(
            output,
            self.output.pixels() * self.output.width,
            "the output has all its pixels"
        );
        assert_eq!(weights, outputs * group_inputs * taps, "there are all weights");
    }

    /// The input's gradient, into `to`.
    pub(crate) fn input(&self, gradient: &[f32], weights: &[f32], to: &mut [f32]) {
        self.check(to.len(), gradient.len(), weights.len());
        let source = [Source::of(self.output, gradient, None)];
        let rows = self.window.rows.phases();
        let columns = self.window.columns.phases();
        // A phase on which no tap lands gets no gradient, and nobody else writes there.
        if rows.iter().chain(&columns).any(|phase| phase.taps.is_empty()) {
            to.fill(0.0);
        }
        let stride = [self.window.rows.stride, self.window.columns.stride];
        let to = SharedRows(to.as_mut_ptr());
        for row in &rows {
            for column in columns.iter().filter(|c| !c.taps.is_empty() && !row.taps.is_empty()) {
                // With a stride of s, input pixels fall into s × s phases by the taps that land
                // on them. Each phase is a dense convolution of its own; a gradient dilated with
                // zeros would multiply those too.
                let filters = self.transposed_filters(weights, [&row.taps, &column.taps]);
                let window = Window { rows: row.axis.clone(), columns: column.axis.clone() };
                let phase =
                    PhaseFilters { first: [row.first, column.first], stride, window, filters };
                // SAFETY: `to` has room for all input pixels, each of which belongs to one phase.
                unsafe { self.compute_phase(&phase, &source, to) };
            }
        }
    }

    /// The output itself without bias, into `to`: the input's gradient of a transposed convolution.
    pub(crate) fn output(&self, input: &[f32], weights: &[f32], to: &mut [f32]) {
        self.check(input.len(), to.len(), weights.len());
        let source = [Source::of(self.input, input, None)];
        let filters = Filters::new(self.shape, weights, &[]);
        let to = SharedRows(to.as_mut_ptr());
        let channels = self.output.width;
        shared_out(self.threads, self.output.pixels(), BLOCK, |pixels| {
            let spots: Vec<Spot<'_>> = pixels
                .map(|pixel| {
                    let out = to.add(pixel * channels);
                    Spot { sources: &source, at: self.output.at(pixel), out }
                })
                .collect();
            // SAFETY: pixels are shared out once, and `to` has room for all.
            unsafe { convolve(&spots, self.window, &filters, 0..channels) };
        });
    }

    /// The weights as the way back needs them: inputs and outputs change places.
    fn transposed_filters(&self, weights: &[f32], [rows, columns]: [&[usize]; 2]) -> Filters {
        let FilterShape { group_inputs, taps, groups, .. } = self.shape;
        let width = self.window.columns.kernel;
        let landing: Vec<usize> =
            rows.iter().flat_map(|r| columns.iter().map(move |c| r * width + c)).collect();
        let shape = FilterShape {
            outputs: group_inputs * groups,
            group_inputs: self.group_outputs(),
            taps: landing.len(),
            groups,
        };
        Filters::from_rows(shape, |[group, tap, output, first], row| {
            let output = group * shape.group_inputs + output;
            let from = &weights[(output * group_inputs + first) * taps..];
            let strided = from[landing[tap]..].iter().step_by(taps);
            row.iter_mut().zip(strided).for_each(|(slot, &w)| *slot = w);
        })
    }

    /// Computes one phase of the input's pixels.
    ///
    /// # Safety
    /// `to` must have room for all input pixels, and nobody else may touch those of the phase.
    unsafe fn compute_phase(&self, phase: &PhaseFilters, source: &[Source<'_>], to: SharedRows) {
        let Window { rows, columns } = &phase.window;
        let grid = Grid { axes: [self.input.axes[0], rows.output, columns.output], ..self.input };
        let channels = self.input.width;
        shared_out(self.threads, grid.pixels(), BLOCK, |pixels| {
            let spots: Vec<Spot<'_>> = pixels
                .map(|pixel| {
                    let at = grid.at(pixel);
                    let [row, column] =
                        std::array::from_fn(|a| phase.first[a] + at[a + 1] * phase.stride[a]);
                    let place = self.input.index([at[0], row, column]) * channels;
                    Spot { sources: source, at, out: to.add(place) }
                })
                .collect();
            // SAFETY: the caller's promise, and pixels are shared out once.
            unsafe { convolve(&spots, &phase.window, &phase.filters, 0..channels) };
        });
    }

    /// The weights' gradient as the file counts them, into zeros.
    pub(crate) fn weights(&self, input: &[f32], gradient: &[f32], to: &mut [f32]) {
        self.check(input.len(), gradient.len(), to.len());
        let FilterShape { group_inputs, taps, outputs, .. } = self.shape;
        // Three ways to sum the same products: per channel, over copied windows where channels
        // are few (im2col), or tap by tap.
        if self.shape.is_depthwise() {
            self.depthwise(input, gradient, to);
        } else if group_inputs < SHORT_RUN && taps > 1 {
            self.side_by_side(input, gradient, to);
        } else if taps == 1 {
            self.tap(input, gradient, 0, to);
        } else {
            let each = outputs * group_inputs;
            // Per tap an outputs × inputs matrix, so that inner loops run over whole pixels.
            let mut by_tap = vec![0.0; taps * each];
            let tap = |(tap, to): (usize, &mut [f32])| self.tap(input, gradient, tap, to);
            let parts = by_tap.chunks_exact_mut(each).enumerate();
            if self.threads > 1 {
                parts.collect::<Vec<_>>().into_par_iter().for_each(tap);
            } else {
                parts.for_each(tap);
            }
            self.interleave(&by_tap, to);
        }
    }

    /// One tap's weights' gradient, group by group: outputs × inputs.
    fn tap(&self, input: &[f32], gradient: &[f32], tap: usize, to: &mut [f32]) {
        let pairs = self.row_pairs(input, gradient, tap);
        let each = self.group_outputs();
        let columns = self.shape.group_inputs;
        assert_eq!(to.len(), self.shape.outputs * columns, "there is a sum per output and input");
        let to = SharedRows(to.as_mut_ptr());
        for group in 0..self.shape.groups {
            shared_out(self.threads, each, 48, |rows| {
                let first = group * each + rows.start;
                let sums = Sums { to: to.add(first * columns), rows: rows.len(), columns };
                // SAFETY: pixels hold the channels of all groups; rows are shared out once.
                unsafe { outer(&pairs, [first, group * columns], sums) };
            });
        }
    }

    /// The output pixels whose tap lies inside the input, and the input pixels there.
    fn row_pairs<'v>(&self, input: &'v [f32], gradient: &'v [f32], tap: usize) -> RowPairs<'v> {
        let [n, height, width] = self.output.axes;
        let row = tap / self.window.columns.kernel;
        let column = tap % self.window.columns.kernel;
        let mut pairs = RowPairs::new([self.output.width, self.input.width]);
        let under: Vec<(usize, usize)> = (0..width)
            .map(|w| (w, self.window.columns.places(w)[column]))
            .filter(|&(_, at)| at != PADDING)
            .map(|(w, at)| (w, at as usize))
            .collect();
        for image in 0..n {
            for h in 0..height {
                let at = self.window.rows.places(h)[row];
                if at == PADDING {
                    continue;
                }
                let left = self.output.index([image, h, 0]);
                let right = self.input.index([image, at as usize, 0]);
                for &(w, at) in &under {
                    let from = (left + w) * self.output.width;
                    pairs.push(&gradient[from..], &input[(right + at) * self.input.width..]);
                }
            }
        }
        pairs
    }

    /// From taps × outputs × inputs to outputs × inputs × taps.
    fn interleave(&self, by_tap: &[f32], to: &mut [f32]) {
        let FilterShape { group_inputs, taps, outputs, .. } = self.shape;
        let each = outputs * group_inputs;
        let rows = to.chunks_exact_mut(group_inputs * taps).enumerate();
        let fill = |(output, row): (usize, &mut [f32])| {
            for tap in 0..taps {
                let from = &by_tap[tap * each + output * group_inputs..][..group_inputs];
                let slots = row[tap..].iter_mut().step_by(taps);
                slots.zip(from).for_each(|(slot, &g)| *slot = g);
            }
        };
        if self.threads > 1 {
            rows.collect::<Vec<_>>().into_par_iter().for_each(fill);
        } else {
            rows.for_each(fill);
        }
    }

    /// Few channels: the pixels under all taps side by side, so that vectors are full.
    fn side_by_side(&self, input: &[f32], gradient: &[f32], to: &mut [f32]) {
        let FilterShape { group_inputs, taps, groups, .. } = self.shape;
        let each = self.group_outputs();
        let columns = taps * group_inputs;
        let pixels = self.output.pixels();
        let mut copied = vec![0.0; pixels * columns];
        let mut sums = vec![0.0; each * columns];
        for group in 0..groups {
            let place = SharedRows(copied.as_mut_ptr());
            shared_out(self.threads, pixels, 512, |range| {
                // SAFETY: pixels are shared out once, and the copy has room for all.
                unsafe { self.copy_under(input, group, range, place) };
            });
            let pairs = RowPairs::of_rows(gradient, &copied, [self.output.width, columns]);
            sums.fill(0.0);
            let place = SharedRows(sums.as_mut_ptr());
            shared_out(self.threads, each, 16, |rows| {
                let to = place.add(rows.start * columns);
                let sums = Sums { to, rows: rows.len(), columns };
                // SAFETY: pixels hold the channels of all groups; rows are shared out once.
                unsafe { outer(&pairs, [group * each + rows.start, 0], sums) };
            });
            let to = &mut to[group * each * columns..][..each * columns];
            for (row, sums) in to.chunks_exact_mut(columns).zip(sums.chunks_exact(columns)) {
                for (at, slot) in row.iter_mut().enumerate() {
                    *slot = sums[at % taps * group_inputs + at / taps];
                }
            }
        }
    }

    /// Copies a group's channels under all taps of some output pixels; the padding stays zero.
    ///
    /// # Safety
    /// `to` must have room for all output pixels, and nobody else may touch these ones.
    unsafe fn copy_under(&self, input: &[f32], group: usize, pixels: Range<usize>, to: SharedRows) {
        let run = self.shape.group_inputs;
        let columns = run * self.shape.taps;
        for pixel in pixels {
            let [n, h, w] = self.output.at(pixel);
            // SAFETY: the caller's promise.
            let row = unsafe { std::slice::from_raw_parts_mut(to.add(pixel * columns), columns) };
            let places = self
                .window
                .rows
                .places(h)
                .iter()
                .flat_map(|&r| self.window.columns.places(w).iter().map(move |&c| (r, c)));
            for ((r, c), slots) in places.zip(row.chunks_exact_mut(run)) {
                if r != PADDING && c != PADDING {
                    let at = self.input.index([n, r as usize, c as usize]) * self.input.width;
                    slots.copy_from_slice(&input[at + group * run..][..run]);
                }
            }
        }
    }

    /// One filter per channel.
    fn depthwise(&self, input: &[f32], gradient: &[f32], to: &mut [f32]) {
        let FilterShape { taps, outputs, .. } = self.shape;
        let pairs: Vec<RowPairs> =
            (0..taps).map(|tap| self.row_pairs(input, gradient, tap)).collect();
        let place = SharedRows(to.as_mut_ptr());
        shared_out(self.threads, outputs, 32, |channels| {
            let mut sums = vec![0.0; channels.len()];
            for (tap, pairs) in pairs.iter().enumerate() {
                sums.fill(0.0);
                inner(pairs, channels.start, &mut sums);
                for (at, &sum) in sums.iter().enumerate() {
                    // SAFETY: channels are shared out once, and `to` has room for all taps.
                    unsafe { *place.add((channels.start + at) * taps + tap) = sum };
                }
            }
        });
    }
}

/// One phase of the input's pixels.
struct PhaseFilters {
    first: [usize; 2],
    stride: [usize; 2],
    window: Window,
    filters: Filters,
}
