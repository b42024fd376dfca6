//! `Conv` along one, three or more axes: windows are copied side by side and multiplied as rows.

use super::operands::{Answers, one, operand, required, rounded};
use super::windows::{Windows, bias_of, groups, window_axes, window_specs};
use super::{Attributes, Op};
use crate::error::OperandError;
use crate::kernels::gemm::{Packed, multiply_rows};
use crate::kernels::grid::Floats;
use crate::kernels::window::AxisSpec;
use crate::value::Value;

/// Windows that are copied before they are multiplied: few enough to stay in the cache.
const BLOCK: usize = 256;

/// A convolution whose window has any number of axes.
pub(super) struct ConvNd {
    groups: usize,
    /// Empty where no attribute tells of the window: it then is as plain as can be.
    specs: Vec<AxisSpec>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let specs = window_specs(attributes, window_axes(attributes).unwrap_or(0))?;
    Ok(Some(Box::new(ConvNd { groups: groups(attributes)?, specs })))
}

/// What the operands' shapes come to.
struct Sizes {
    group_inputs: usize,
    group_outputs: usize,
    /// Taps of the window.
    taps: usize,
    /// Pixels of one input and one output plane.
    planes: [usize; 2],
}

impl ConvNd {
    /// A convolution without padding, strides or dilations.
    pub(super) fn plain(groups: usize) -> Self {
        Self { groups, specs: Vec::new() }
    }

    fn windows(&self, plane: &[usize], kernel: &[usize]) -> Result<Windows, OperandError> {
        if !self.specs.is_empty() && self.specs.len() != kernel.len() {
            let why = format!("a window of {} axes does not fit weights", self.specs.len());
            return Err(OperandError::new(format!("{why} of {kernel:?}")));
        }
        let specs: Vec<AxisSpec> = kernel
            .iter()
            .enumerate()
            .map(|(axis, &kernel)| AxisSpec {
                kernel,
                ..self.specs.get(axis).copied().unwrap_or(AxisSpec::whole(kernel))
            })
            .collect();
        Windows::new(&specs, plane)
    }

    /// The weights of each group; depth runs over taps, then channels.
    fn packed(&self, sizes: &Sizes, weights: &[f32], bias: &[f32]) -> Vec<Packed> {
        let &Sizes { group_inputs, group_outputs, taps, .. } = sizes;
        (0..self.groups)
            .map(|group| {
                let bias =
                    bias.get(group * group_outputs..(group + 1) * group_outputs).unwrap_or(&[]);
                Packed::new(taps * group_inputs, group_outputs, bias, |k, column| {
                    let tap = k / group_inputs;
                    let channel = k % group_inputs;
                    weights
                        [((group * group_outputs + column) * group_inputs + channel) * taps + tap]
                })
            })
            .collect()
    }
}

/// The values under some windows of one group's channels, one window after the other.
fn gathered(windows: &[Vec<Option<usize>>], channels: &[f32], sizes: &Sizes) -> Vec<f32> {
    let plane = sizes.planes[0];
    let value =
        |at: Option<usize>, channel: usize| at.map_or(0.0, |at| channels[channel * plane + at]);
    windows
        .iter()
        .flatten()
        .flat_map(|&at| (0..sizes.group_inputs).map(move |c| value(at, c)))
        .collect()
}

impl Op for ConvNd {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let input = required(operands, 0)?.floats();
        let weights = required(operands, 1)?.floats();
        let (Some(input), Some(weights)) = (input, weights) else { return Ok(None) };
        let operand_error = || {
            let groups = self.groups;
            let why = format!("input {:?} and weights {:?} do not fit", input.shape, weights.shape);
            OperandError::new(format!("{why} in {groups} groups"))
        };
        let ([images, channels, plane @ ..], [outputs, group_inputs, kernel @ ..]) =
            (input.shape.as_slice(), weights.shape.as_slice())
        else {
            return Err(operand_error());
        };
        let fits = group_inputs * self.groups == *channels && outputs % self.groups == 0;
        if !fits || plane.len() != kernel.len() || weights.data.is_empty() {
            return Err(operand_error());
        }
        let windows = self.windows(plane, kernel)?;
        let output = windows.output();
        let sizes = Sizes {
            group_inputs: *group_inputs,
            group_outputs: outputs / self.groups,
            taps: kernel.iter().product(),
            planes: [plane.iter().product(), output.iter().product()],
        };
        let bias = bias_of(operand(operands, 2), *outputs)?;
        let packed = self.packed(&sizes, &weights.data, bias);
        let data = convolved(&windows, &packed, &sizes, input);
        let mut shape = vec![*images, *outputs];
        shape.extend(output);
        one(rounded(shape, input.dtype, data))
    }
}

fn convolved(windows: &Windows, packed: &[Packed], sizes: &Sizes, input: &Floats) -> Vec<f32> {
    let &Sizes { group_inputs, group_outputs, planes: [plane, output], .. } = sizes;
    let under: Vec<_> = windows.places().iter().map(|at| windows.under(at)).collect();
    let mut data = vec![0.0; input.shape[0] * packed.len() * group_outputs * output];
    let groups = input.data.chunks_exact((group_inputs * plane).max(1));
    let answers = data.chunks_exact_mut((group_outputs * output).max(1));
    for ((channels, answers), packed) in groups.zip(answers).zip(packed.iter().cycle()) {
        for (block, windows) in under.chunks(BLOCK).enumerate() {
            let mut rows = vec![0.0; windows.len() * group_outputs];
            multiply_rows(&gathered(windows, channels, sizes), packed, &mut rows);
            for (pixel, row) in rows.chunks_exact(group_outputs).enumerate() {
                for (channel, &x) in row.iter().enumerate() {
                    answers[channel * output + block * BLOCK + pixel] = x;
                }
            }
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::DType;

    #[test]
    fn three_axes_and_two_groups() {
        let value = |shape: Vec<usize>, data: Vec<f32>| rounded(shape, DType::F32, data);
        let ramp = |n: usize| (0..n).map(|i| i as f32).collect::<Vec<_>>();
        let input = value(vec![1, 2, 2, 2, 2], ramp(16));
        let weights = value(vec![2, 1, 2, 1, 2], vec![1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0]);
        let bias = value(vec![2], vec![100.0, 200.0]);
        let answers = ConvNd::plain(2).whole(&[Some(&input), Some(&weights), Some(&bias)]);
        let answer = answers.unwrap().unwrap().remove(0).unwrap();
        assert_eq!(answer.shape(), [1, 2, 1, 2, 1]);
        assert_eq!(answer.floats().unwrap().data, [110.0, 116.0, 209.0, 211.0]);
    }
}
