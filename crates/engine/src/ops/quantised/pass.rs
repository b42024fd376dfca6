//! The one pass behind quantised convolutions: windows of whole numbers, summed block by block.

use super::super::Attributes;
use super::super::windows::{groups, windows};
use super::Bytes;
use crate::error::OperandError;
use crate::kernels::quantised::{Packed, Rows, Sums, depthwise, multiply, padded};
use crate::kernels::window::{AxisSpec, Window};
use crate::value::Value;
use std::ops::Range;

/// Output pixels that are summed, and then brought to their place, in one go.
const BLOCK: usize = 64;

/// What the attributes say.
#[derive(Clone, Copy)]
pub(super) struct ConvSpec {
    windows: [AxisSpec; 2],
    /// Whether the file gives the taps; otherwise the weights' shape decides.
    explicit: bool,
    groups: usize,
}

impl ConvSpec {
    pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Self>, OperandError> {
        if attributes.ints("kernel_shape").is_some_and(|axes| axes.len() != 2) {
            return Ok(None);
        }
        let groups = groups(attributes)?;
        let explicit = attributes.has("kernel_shape");
        Ok(windows(attributes)?.map(|windows| Self { windows, explicit, groups }))
    }

    fn window(&self, kernel: [usize; 2], plane: [usize; 2]) -> Result<Window, OperandError> {
        let [rows, columns] = self.windows;
        Ok(Window {
            rows: AxisSpec { kernel: kernel[0], ..rows }.bind(plane[0])?,
            columns: AxisSpec { kernel: kernel[1], ..columns }.bind(plane[1])?,
        })
    }
}

/// Weights minus their zero points, packed for the kernel that will use them.
pub(super) struct Filters {
    kernel: [usize; 2],
    inputs: usize,
    pub(super) outputs: usize,
    weights: Weights,
}

enum Weights {
    /// One filter per channel, tap by tap.
    Depthwise(Vec<i16>),
    /// A packed matrix per group.
    Groups(Vec<Packed>),
}

impl Filters {
    pub(super) fn new(
        spec: &ConvSpec,
        weights: &Value,
        zeros: &[i32],
    ) -> Result<Self, OperandError> {
        let shape = weights.shape();
        let &[outputs, each, rows, columns] = shape else {
            return Err(OperandError::new("weights must have four axes"));
        };
        let given = spec.windows.map(|w| w.kernel);
        if spec.explicit && given != [rows, columns] {
            return Err(OperandError::new(format!(
                "kernel_shape {given:?} does not fit weights {shape:?}"
            )));
        }
        let groups = spec.groups;
        if outputs % groups != 0 || shape.contains(&0) || ![1, outputs].contains(&zeros.len()) {
            let why = format!("weights {shape:?}, {groups} groups and {} zero points", zeros.len());
            return Err(OperandError::new(why + " do not fit together"));
        }
        let data = Bytes::of(weights)?.shifted(0);
        let taps = rows * columns;
        // Zero points are taken out of the weights beforehand, so that sums need no correction
        // terms.
        let weight = |output: usize, input: usize, tap: usize| {
            data[(output * each + input) * taps + tap] - zeros[output % zeros.len()] as i16
        };
        // One filter per channel has a kernel of its own: a product of depth one would waste the
        // pairs.
        let weights = if each == 1 && groups == outputs {
            let places = (0..taps).flat_map(|tap| (0..outputs).map(move |o| (o, tap)));
            Weights::Depthwise(places.map(|(output, tap)| weight(output, 0, tap)).collect())
        } else {
            let columns = outputs / groups;
            Weights::Groups(
                (0..groups)
                    .map(|group| {
                        Packed::new(taps, each, columns, |tap, input, column| {
                            weight(group * columns + column, input, tap)
                        })
                    })
                    .collect(),
            )
        };
        Ok(Self { kernel: [rows, columns], inputs: each * groups, outputs, weights })
    }

    /// How many input channels lie together, and how many values they take.
    fn runs(&self) -> (usize, usize) {
        match &self.weights {
            Weights::Depthwise(_) => (self.inputs, self.inputs),
            Weights::Groups(groups) => {
                let each = self.inputs / groups.len();
                (each, padded(each))
            }
        }
    }

    /// Values that a pixel takes.
    fn width(&self) -> usize {
        let (each, run) = self.runs();
        self.inputs / each * run
    }

    fn sum(&self, rows: Rows<'_>, sums: &mut [i32]) {
        match &self.weights {
            Weights::Depthwise(weights) => depthwise(rows, weights, self.outputs, sums),
            Weights::Groups(groups) => {
                let (_, run) = self.runs();
                for (group, packed) in groups.iter().enumerate() {
                    // A group's channels follow those of the groups before it.
                    let data = &rows.data[group * run..];
                    let first = group * packed.columns();
                    let mut sums = Sums { data: sums, stride: self.outputs, first };
                    multiply(Rows { data, ..rows }, packed, &mut sums);
                }
            }
        }
    }
}

/// One convolution of one batch.
pub(super) struct ConvPass<'a> {
    filters: &'a Filters,
    window: Window,
    images: usize,
    zero: i16,
}

impl<'a> ConvPass<'a> {
    pub(super) fn new(
        spec: &ConvSpec,
        filters: &'a Filters,
        input: &[usize],
        zero: i32,
    ) -> Result<Self, OperandError> {
        let &[images, channels, height, width] = input else {
            return Err(OperandError::new(format!("the input must have four axes, not {input:?}")));
        };
        if channels != filters.inputs {
            let wanted = filters.inputs;
            let why = format!("the input has {channels} channels where the weights take {wanted}");
            return Err(OperandError::new(why));
        }
        let window = spec.window(filters.kernel, [height, width])?;
        Ok(Self { filters, window, images, zero: zero as i16 })
    }

    pub(super) fn shape(&self) -> Vec<usize> {
        vec![self.images, self.filters.outputs, self.window.rows.output, self.window.columns.output]
    }

    /// All outputs as ONNX counts them; `finish` makes outputs of rows of sums.
    pub(super) fn run<T: Copy + Default>(
        &self,
        input: Bytes<'_>,
        finish: impl Fn(&[i32], &mut [T]),
    ) -> Vec<T> {
        let plane = self.window.rows.output * self.window.columns.output;
        let mut out = vec![T::default(); self.images * self.filters.outputs * plane];
        for (image, out) in out.chunks_exact_mut((self.filters.outputs * plane).max(1)).enumerate()
        {
            let pixels = match input {
                Bytes::Signed(data) => self.pixels(data, image),
                Bytes::Unsigned(data) => self.pixels(data, image),
            };
            self.image(&pixels, &finish, out);
        }
        out
    }

    /// An image with its channels last, minus its zero point; behind it a pixel of zeros, which
    /// is what the padding is made of.
    fn pixels<T: Copy + Into<i16>>(&self, data: &[T], image: usize) -> Vec<i16> {
        let plane = self.window.rows.input * self.window.columns.input;
        let (each, run) = self.filters.runs();
        let channels = self.filters.inputs;
        let width = self.filters.width();
        let image = &data[image * channels * plane..][..channels * plane];
        let mut pixels = vec![0; (plane + 1) * width];
        // In blocks of pixels, so that the strided writes stay in the cache.
        for first in (0..plane).step_by(BLOCK) {
            let last = (first + BLOCK).min(plane);
            for channel in 0..channels {
                let at = channel / each * run + channel % each;
                let elements = &image[channel * plane..][first..last];
                let slots = pixels[first * width + at..].iter_mut().step_by(width);
                elements.iter().zip(slots).for_each(|(&x, slot)| *slot = x.into() - self.zero);
            }
        }
        pixels
    }

    fn image<T: Copy + Default>(
        &self,
        pixels: &[i16],
        finish: &impl Fn(&[i32], &mut [T]),
        out: &mut [T],
    ) {
        let outputs = self.filters.outputs;
        let plane = self.window.rows.output * self.window.columns.output;
        let mut sums = vec![0; BLOCK * outputs];
        let mut rows = vec![T::default(); BLOCK * outputs];
        let mut starts = Vec::new();
        for first in (0..plane).step_by(BLOCK) {
            let last = (first + BLOCK).min(plane);
            self.starts(first..last, &mut starts);
            let length = (last - first) * outputs;
            let sums = &mut sums[..length];
            let rows = &mut rows[..length];
            self.filters.sum(Rows { data: pixels, starts: &starts }, sums);
            finish(sums, rows);
            for (output, plane) in out.chunks_exact_mut(plane).enumerate() {
                // Back from channels last to ONNX's order.
                let column = rows[output..].iter().step_by(outputs);
                plane[first..last].iter_mut().zip(column).for_each(|(to, &x)| *to = x);
            }
        }
    }

    /// Where the inputs of these output pixels start, tap by tap.
    fn starts(&self, outputs: Range<usize>, starts: &mut Vec<usize>) {
        let Window { rows, columns } = &self.window;
        // The pixel of zeros behind the image: a zero point minus itself.
        let padding = rows.input * columns.input;
        let width = self.filters.width();
        starts.clear();
        for output in outputs {
            let h = output / columns.output;
            let w = output % columns.output;
            for i in 0..rows.kernel {
                let row = rows.under(h, i);
                for j in 0..columns.kernel {
                    let under = row.zip(columns.under(w, j));
                    let pixel = under.map_or(padding, |(row, column)| row * columns.input + column);
                    starts.push(pixel * width);
                }
            }
        }
    }
}
