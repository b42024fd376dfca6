//! Sliding windows over a plane: which input pixels an output pixel reads, and back.

use super::grid::Region;
use crate::error::OperandError;

/// Places of taps above which a window is taken for a mistake.
const MAX_PLACES: usize = 1 << 24;

/// In a table of input places: the tap lies in the padding.
pub(crate) const PADDING: u32 = u32::MAX;

/// How a window slides along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Input length.
    pub(crate) input: usize,
    /// Output length.
    pub(crate) output: usize,
    /// Taps of the window.
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    /// Padding before the first pixel.
    pub(crate) before: usize,
    /// Padding after the last pixel.
    pub(crate) after: usize,
    /// For each output pixel and tap, the input place under it, or [`PADDING`].
    places: Vec<u32>,
}

/// The window's attributes along one axis, before the input's length is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AxisSpec {
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    pub(crate) pads: Pads,
    /// Whether a last window may hang over the padded end.
    pub(crate) ceil: bool,
}

/// How an axis is padded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pads {
    /// As given, before and after.
    Explicit(usize, usize),
    /// So that the output has `input / stride` pixels; an odd one goes to the end.
    SameUpper,
    /// The same, with the odd one at the start.
    SameLower,
}

impl AxisSpec {
    /// One window over a whole axis.
    pub(crate) fn whole(length: usize) -> Self {
        let pads = Pads::Explicit(0, 0);
        Self { kernel: length, stride: 1, dilation: 1, pads, ceil: false }
    }

    /// Binds paddings and the output's length for an input of `input` pixels.
    pub(crate) fn bind(&self, input: usize) -> Result<Axis, OperandError> {
        let Self { kernel, stride, dilation, pads, ceil } = *self;
        let reach = (kernel - 1) * dilation + 1;
        let (before, after) = match pads {
            Pads::Explicit(before, after) => (before, after),
            Pads::SameUpper | Pads::SameLower => {
                // ONNX: SAME pads so that the output has ceil(input / stride) pixels.
                let output = input.div_ceil(stride);
                let total = ((output.max(1) - 1) * stride + reach).saturating_sub(input);
                let small = total / 2;
                let large = total - total / 2;
                if matches!(pads, Pads::SameUpper) { (small, large) } else { (large, small) }
            }
        };
        let room = (input + before + after).checked_sub(reach).ok_or_else(|| {
            OperandError::new(format!(
                "a window of {reach} does not fit into {input} padded pixels"
            ))
        })?;
        let mut output = room / stride + 1;
        // A window that would start in the padding behind the input is left out.
        if ceil && room % stride > 0 && output * stride < input + before {
            output += 1;
        }
        if output.saturating_mul(kernel) > MAX_PLACES {
            return Err(OperandError::new(format!(
                "a window of {kernel} over {output} pixels is too large"
            )));
        }
        let axis =
            Axis { input, output, kernel, stride, dilation, before, after, places: Vec::new() };
        Ok(axis.with_places())
    }
}

impl Axis {
    /// The window of a convolution that goes back the way of a transposed one: from its output,
    /// which is this one's input, to its input.
    pub(crate) fn of_transposed(way: &super::transposed::Stride) -> Self {
        let super::transposed::Stride { input, output, kernel, stride, dilation, before } = *way;
        let (input, output) = (output, input);
        let axis =
            Self { input, output, kernel, stride, dilation, before, after: 0, places: Vec::new() };
        axis.with_places()
    }

    fn with_places(mut self) -> Self {
        let taps = (0..self.output).flat_map(|out| (0..self.kernel).map(move |tap| (out, tap)));
        self.places =
            taps.map(|(out, tap)| self.under(out, tap).map_or(PADDING, |at| at as u32)).collect();
        self
    }

    /// The input pixel under a tap, unless that lies in the padding.
    #[inline(always)]
    pub(crate) fn under(&self, output: usize, tap: usize) -> Option<usize> {
        let padded = output * self.stride + tap * self.dilation;
        padded.checked_sub(self.before).filter(|&at| at < self.input)
    }

    /// The input places under an output pixel's taps.
    #[inline(always)]
    pub(crate) fn places(&self, output: usize) -> &[u32] {
        &self.places[output * self.kernel..][..self.kernel]
    }

    /// The first input place under an output pixel's taps, where they stand side by side and none
    /// lies in the padding.
    #[inline(always)]
    pub(crate) fn first_of_run(&self, output: usize) -> Option<usize> {
        let places = self.places(output);
        let first = places[0];
        let last = places[places.len() - 1];
        // Places rise in equal steps, so both ends tell of those between.
        let together = first != PADDING && last.wrapping_sub(first) as usize == places.len() - 1;
        together.then_some(first as usize)
    }

    /// How many taps lie inside the padded input: a window may hang over its end.
    pub(crate) fn in_padded(&self, output: usize) -> usize {
        let end = self.input + self.before + self.after;
        (0..self.kernel).filter(|tap| output * self.stride + tap * self.dilation < end).count()
    }

    /// Output pixels whose windows touch `low..high` of the input.
    fn reach(&self, low: usize, high: usize) -> (usize, usize) {
        // An output reads the inputs from `output · stride - before` on; solved for the output.
        let back = (self.kernel - 1) * self.dilation;
        let first = (low + self.before).saturating_sub(back).div_ceil(self.stride);
        let last = (high - 1 + self.before) / self.stride + 1;
        (first.min(self.output), last.min(self.output))
    }
}

/// Input pixels on which the same taps land: with a stride, every so many of them.
#[derive(Debug)]
pub(crate) struct Phase {
    /// The first of the pixels; the others follow at the distance of the stride.
    pub(crate) first: usize,
    /// The taps that land on them.
    pub(crate) taps: Vec<usize>,
    /// The way back: for each of the pixels and taps, the output pixel whose tap lands there.
    pub(crate) axis: Axis,
}

impl Axis {
    /// The way back from input pixels to the output pixels that read them.
    pub(crate) fn phases(&self) -> Vec<Phase> {
        // A stride beyond the input leaves every pixel a phase of its own.
        (0..self.stride.min(self.input))
            .map(|first| {
                let shift = (first + self.before) % self.stride;
                // From the last tap on, so that the output pixels rise.
                let taps: Vec<usize> = (0..self.kernel)
                    .rev()
                    .filter(|tap| tap * self.dilation % self.stride == shift)
                    .collect();
                let pixels = (first..self.input).step_by(self.stride);
                let places = pixels.flat_map(|at| {
                    taps.iter().map(move |tap| {
                        let start = (at + self.before).checked_sub(tap * self.dilation);
                        let output = start.map(|start| start / self.stride);
                        output.filter(|&output| output < self.output).map_or(PADDING, |o| o as u32)
                    })
                });
                let axis = Self {
                    input: self.output,
                    output: self.input.saturating_sub(first).div_ceil(self.stride),
                    kernel: taps.len(),
                    stride: 1,
                    dilation: 1,
                    before: 0,
                    after: 0,
                    places: places.collect(),
                };
                Phase { first, taps, axis }
            })
            .collect()
    }
}

/// A window over rows and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) rows: Axis,
    pub(crate) columns: Axis,
}

impl Window {
    pub(crate) fn taps(&self) -> usize {
        self.rows.kernel * self.columns.kernel
    }

    /// The input pixels under an output pixel, those in the padding left out.
    #[inline(always)]
    pub(crate) fn under(&self, at: [usize; 3]) -> impl Iterator<Item = [usize; 3]> + '_ {
        let [n, h, w] = at;
        let rows = (0..self.rows.kernel).filter_map(move |i| self.rows.under(h, i));
        rows.flat_map(move |row| {
            let columns = (0..self.columns.kernel).filter_map(move |j| self.columns.under(w, j));
            columns.map(move |column| [n, row, column])
        })
    }

    /// Output pixels that read any pixel of the region.
    pub(crate) fn reach(&self, region: Region) -> Region {
        if region.is_empty() {
            return Region::EMPTY;
        }
        let (top, bottom) = self.rows.reach(region.low[1], region.high[1]);
        let (left, right) = self.columns.reach(region.low[2], region.high[2]);
        Region { low: [region.low[0], top, left], high: [region.high[0], bottom, right] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kernel: usize, stride: usize, dilation: usize, pads: Pads, ceil: bool) -> AxisSpec {
        AxisSpec { kernel, stride, dilation, pads, ceil }
    }

    #[test]
    fn output_lengths() {
        let cases = [
            (spec(3, 1, 1, Pads::Explicit(1, 1), false), 10, 10),
            (spec(3, 2, 1, Pads::Explicit(1, 1), false), 10, 5),
            (spec(3, 2, 1, Pads::Explicit(0, 0), true), 10, 5),
            (spec(2, 2, 1, Pads::Explicit(0, 0), true), 5, 3),
            (spec(3, 1, 2, Pads::Explicit(0, 0), false), 10, 6),
            (spec(5, 2, 1, Pads::SameUpper, false), 9, 5),
        ];
        for (spec, input, output) in cases {
            assert_eq!(spec.bind(input).map(|a| a.output), Ok(output), "{spec:?}");
        }
        assert!(spec(5, 1, 1, Pads::Explicit(0, 0), false).bind(4).is_err());
    }

    #[test]
    fn phases_are_the_way_back() {
        for (kernel, stride, dilation, pad) in
            [(3, 1, 1, 1), (5, 2, 1, 2), (3, 2, 3, 2), (1, 2, 1, 0), (2, 3, 1, 0), (1, 1, 1, 2)]
        {
            let axis =
                spec(kernel, stride, dilation, Pads::Explicit(pad, pad), false).bind(17).unwrap();
            let mut there = Vec::new();
            for out in 0..axis.output {
                there.extend((0..kernel).filter_map(|t| Some((axis.under(out, t)?, t, out))));
            }
            let mut back = Vec::new();
            for Phase { first, taps, axis } in axis.phases() {
                for at in 0..axis.output {
                    let outs = taps.iter().zip(axis.places(at)).filter(|(_, o)| **o != PADDING);
                    back.extend(outs.map(|(&t, &o)| (first + at * stride, t, o as usize)));
                }
            }
            there.sort_unstable();
            back.sort_unstable();
            assert_eq!(there, back);
        }
    }

    #[test]
    fn reach_is_exactly_the_windows_that_touch() {
        for (kernel, stride, dilation, pad) in
            [(3, 1, 1, 1), (5, 2, 1, 2), (3, 2, 3, 2), (1, 2, 1, 0)]
        {
            let axis =
                spec(kernel, stride, dilation, Pads::Explicit(pad, pad), false).bind(17).unwrap();
            for low in 0..17 {
                for high in low + 1..=17 {
                    let (first, last) = axis.reach(low, high);
                    for out in 0..axis.output {
                        let touches = (0..kernel)
                            .any(|t| axis.under(out, t).is_some_and(|x| (low..high).contains(&x)));
                        // Strides and dilations may skip pixels inside, never outside.
                        assert!(!touches || (first..last).contains(&out));
                    }
                }
            }
        }
    }
}
