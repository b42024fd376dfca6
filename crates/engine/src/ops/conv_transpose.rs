//! `ConvTranspose` in one and two dimensions.

use super::operands::{Answers, one, operand, required};
use super::windows::window_axes;
use super::windows::{bias_of, groups, row_major};
use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::conv::FilterShape;
use crate::kernels::grid::{Floats, Order, Region, Spot};
use crate::kernels::transposed::{Landing, Stride, Transposed, TransposedFilters};
use crate::kernels::window::{Axis, Window};
use crate::step::{FusedOps, run_whole};
use crate::value::Value;
use std::ops::Range;
use std::sync::Arc;

/// Who decides the padding along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pads {
    /// The file: before and after.
    Explicit(usize, usize),
    /// The output's length, that of the input times the stride unless the file gives it; an odd
    /// one goes to the end, or else to the start.
    Same { upper: bool },
}

/// The attributes along one axis.
#[derive(Debug, Clone, Copy)]
struct AxisSpec {
    stride: usize,
    dilation: usize,
    pads: Pads,
    /// Outputs added at the end.
    extra: usize,
    output: Option<usize>,
}

const PLAIN: AxisSpec =
    AxisSpec { stride: 1, dilation: 1, pads: Pads::Explicit(0, 0), extra: 0, output: None };

impl AxisSpec {
    fn bind(&self, input: usize, kernel: usize) -> Result<Stride, OperandError> {
        let Self { stride, dilation, pads, extra, output } = *self;
        let whole = (input.max(1) - 1) * stride + extra + (kernel - 1) * dilation + 1;
        let before = |output: usize, upper: bool| {
            let total = whole.saturating_sub(output);
            if upper { total / 2 } else { total - total / 2 }
        };
        let (before, output) = match (pads, output) {
            (Pads::Same { upper }, Some(output)) => (before(output, upper), output),
            (Pads::Explicit(..), Some(output)) => (before(output, false), output),
            (Pads::Same { upper }, None) => {
                let output = (input * stride).min(whole);
                (before(output, upper), output)
            }
            (Pads::Explicit(before, after), None) => {
                let output = whole.checked_sub(before + after).filter(|&n| n > 0);
                let why =
                    || OperandError::new(format!("pads {before} and {after} leave no output"));
                (before, output.ok_or_else(why)?)
            }
        };
        Ok(Stride { input, output, kernel, stride, dilation, before })
    }
}

struct ConvTranspose {
    groups: usize,
    /// Empty where no attribute tells of the window.
    specs: Vec<AxisSpec>,
    prepacked: Option<Arc<TransposedFilters>>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(ConvTranspose::new(attributes)?)))
}

/// The convolution that a transposed one turns round: its filters, and its window from this one's
/// output to its input.
pub(crate) fn reversed_conv(
    attributes: &Attributes<'_>,
    input: &[usize],
    weights: &[usize],
) -> Result<(FilterShape, Window), OperandError> {
    let conv = ConvTranspose::new(attributes)?;
    let (&[_, _, height, width], &[outputs, group_inputs, rows, columns]) = (input, weights) else {
        return Err(OperandError::new("gradients are known for images (four axes) only"));
    };
    let [along_rows, along_columns] = conv.axes(2)?;
    let window = Window {
        rows: Axis::of_transposed(&along_rows.bind(height, rows)?),
        columns: Axis::of_transposed(&along_columns.bind(width, columns)?),
    };
    let shape = FilterShape { outputs, group_inputs, taps: rows * columns, groups: conv.groups };
    Ok((shape, window))
}

impl ConvTranspose {
    fn new(attributes: &Attributes<'_>) -> Result<Self, OperandError> {
        let axes = window_axes(attributes).unwrap_or(0);
        if axes > 2 {
            return Err(OperandError::new(format!(
                "a window of {axes} axes is not supported, only up to two"
            )));
        }
        let stride = attributes.sizes("strides", axes, 1)?;
        let dilation = attributes.sizes("dilations", axes, 1)?;
        let explicit = attributes.sizes("pads", 2 * axes, 0)?;
        let extra = attributes.sizes("output_padding", axes, 0)?;
        let outputs =
            attributes.has("output_shape").then(|| attributes.sizes("output_shape", axes, 1));
        let outputs = outputs.transpose()?;
        let auto = attributes.string("auto_pad", "NOTSET");
        let specs = (0..axes)
            .map(|axis| AxisSpec {
                stride: stride[axis],
                dilation: dilation[axis],
                pads: match auto.as_str() {
                    "SAME_UPPER" => Pads::Same { upper: true },
                    "SAME_LOWER" => Pads::Same { upper: false },
                    "VALID" => Pads::Explicit(0, 0),
                    _ => Pads::Explicit(explicit[axis], explicit[axis + axes]),
                },
                extra: extra[axis],
                output: outputs.as_ref().map(|outputs| outputs[axis]),
            })
            .collect();
        Ok(Self { groups: groups(attributes)?, specs, prepacked: None })
    }

    /// The attributes along rows and columns.
    fn axes(&self, axes: usize) -> Result<[AxisSpec; 2], OperandError> {
        match (self.specs.as_slice(), axes) {
            ([], _) => Ok([PLAIN; 2]),
            (&[columns], 1) => Ok([PLAIN, columns]),
            (&[rows, columns], 2) => Ok([rows, columns]),
            _ => Err(OperandError::new(format!("its window does not slide along {axes} axes"))),
        }
    }

    /// Weights of one or two axes; one is a column of the other.
    fn filters(
        &self,
        weights: &Value,
        bias: Option<&Value>,
    ) -> Result<TransposedFilters, OperandError> {
        let shape = weights.shape();
        let operand_error = || {
            let groups = self.groups;
            OperandError::new(format!(
                "weights {shape:?} do not make {groups} groups of one or two axes"
            ))
        };
        let (inputs, group_outputs, kernel) = match *shape {
            [inputs, outputs, columns] => (inputs, outputs, [1, columns]),
            [inputs, outputs, rows, columns] => (inputs, outputs, [rows, columns]),
            _ => return Err(operand_error()),
        };
        if inputs % self.groups != 0 || shape.contains(&0) {
            return Err(operand_error());
        }
        Ok(TransposedFilters {
            weights: row_major(weights)?.to_vec(),
            bias: bias_of(bias, group_outputs * self.groups)?.to_vec(),
            groups: self.groups,
            group_inputs: inputs / self.groups,
            group_outputs,
            kernel,
            packed: Default::default(),
        })
    }

    /// Binds for images; `axes` is how many of their axes the window slides along.
    fn bind(
        &self,
        shape: &[usize],
        axes: usize,
        operands: &[Option<&Value>],
    ) -> Result<BoundConvTranspose, OperandError> {
        let &[n, channels, height, width] = shape else {
            return Err(OperandError::new(format!("images are wanted, not {shape:?}")));
        };
        let filters = match &self.prepacked {
            Some(filters) => filters.clone(),
            None => Arc::new(self.filters(required(operands, 1)?, operand(operands, 2))?),
        };
        let wanted = filters.group_inputs * self.groups;
        if channels != wanted {
            let why = format!("the input has {channels} channels where the weights take {wanted}");
            return Err(OperandError::new(why));
        }
        let specs = self.axes(axes)?;
        let rows = specs[0].bind(height, filters.kernel[0])?;
        let columns = specs[1].bind(width, filters.kernel[1])?;
        let shape = [n, filters.group_outputs * self.groups, rows.output, columns.output];
        let transposed = Transposed::new(Landing::new(rows), Landing::new(columns), filters);
        Ok(BoundConvTranspose { shape, transposed })
    }
}

impl Op for ConvTranspose {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        let Some(weights) = operand(constants, 1) else { return Ok(None) };
        let prepacked = Some(Arc::new(self.filters(weights, operand(constants, 2))?));
        Ok(Some(Box::new(Self { groups: self.groups, specs: self.specs.clone(), prepacked })))
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let input = required(operands, 0)?;
        if input.floats().is_none() || input.shape().len() != 4 {
            return Ok(None);
        }
        Ok(Some(Box::new(self.bind(input.shape(), 2, operands)?)))
    }

    /// One axis: as one row of an image.
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let &[n, channels, width] = input.shape.as_slice() else {
            return Err(OperandError::new(format!(
                "one or two axes are wanted, not {:?}",
                input.shape
            )));
        };
        // A row of pixels is an image of height one.
        let image = Floats { shape: vec![n, channels, 1, width], ..input.clone() };
        let bound = self.bind(&image.shape, 1, operands)?;
        let image = image.in_order(Order::ChannelsLast);
        let Value::Floats(answer) =
            run_whole(&bound, FusedOps::default(), &[&image], 1, Vec::new())
        else {
            return Ok(None);
        };
        let mut answer = answer.in_order(Order::RowMajor);
        answer.shape.remove(2);
        one(Value::Floats(answer))
    }
}

struct BoundConvTranspose {
    shape: [usize; 4],
    transposed: Transposed,
}

impl Local for BoundConvTranspose {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        if region.is_empty() {
            return Region::EMPTY;
        }
        let (top, bottom) = self.transposed.rows.reach(region.low[1], region.high[1]);
        let (left, right) = self.transposed.columns.reach(region.low[2], region.high[2]);
        Region { low: [region.low[0], top, left], high: [region.high[0], bottom, right] }
    }

    #[expect(unsafe_code, reason = "passes the caller's promise on")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        // SAFETY: the caller's promise is the kernel's.
        unsafe { self.transposed.compute(spots) }
    }
}
