//! `Conv` in two dimensions.

use super::conv_nd::{self, ConvNd};
use super::operands::Answers;
use super::windows::{bias_of, groups, row_major, windows};
use super::{Attributes, Edit, Local, Op, Repacked, Wants, channels_around};
use crate::error::OperandError;
use crate::kernels::conv::{FilterShape, Filters, convolve};
use crate::kernels::grid::{Region, Spot};
use crate::kernels::window::{AxisSpec, Window};
use crate::value::Value;
use std::ops::Range;
use std::sync::Arc;

struct Conv {
    windows: [AxisSpec; 2],
    /// Taps that the file gives; without them the weights' shape decides.
    explicit: bool,
    groups: usize,
    prepacked: Option<Prepacked>,
}

#[derive(Clone)]
struct Prepacked {
    shape: FilterShape,
    kernel: [usize; 2],
    filters: Arc<Filters>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let groups = groups(attributes)?;
    let Some(windows) = windows(attributes)? else { return conv_nd::parse(attributes) };
    let explicit = attributes.has("kernel_shape");
    Ok(Some(Box::new(Conv { windows, explicit, groups, prepacked: None })))
}

/// The filters and the window of a convolution for an input and weights of these shapes.
pub(crate) fn bound_conv(
    attributes: &Attributes<'_>,
    input: &[usize],
    weights: &[usize],
) -> Result<(FilterShape, Window), OperandError> {
    let Some(windows) = windows(attributes)? else {
        return Err(OperandError::new("only convolutions over two axes have gradients"));
    };
    let explicit = attributes.has("kernel_shape");
    let conv = Conv { windows, explicit, groups: groups(attributes)?, prepacked: None };
    let (shape, kernel) = conv.filter_shape(weights)?;
    Ok((shape, conv.window(input, shape, kernel)?))
}

impl Conv {
    fn filter_shape(&self, weights: &[usize]) -> Result<(FilterShape, [usize; 2]), OperandError> {
        let &[outputs, group_inputs, rows, columns] = weights else {
            return Err(OperandError::new("weights must have four axes"));
        };
        let given = self.windows.map(|w| w.kernel);
        if self.explicit && given != [rows, columns] {
            let why = format!("kernel_shape {given:?} does not fit weights {weights:?}");
            return Err(OperandError::new(why));
        }
        if outputs % self.groups != 0 || outputs * group_inputs * rows * columns == 0 {
            let groups = self.groups;
            let why = format!("weights {weights:?} do not split into {groups} groups");
            return Err(OperandError::new(why));
        }
        let taps = rows * columns;
        Ok((FilterShape { outputs, group_inputs, taps, groups: self.groups }, [rows, columns]))
    }

    fn pack(&self, weights: &Value, bias: Option<&Value>) -> Result<Prepacked, OperandError> {
        let (shape, kernel) = self.filter_shape(weights.shape())?;
        let data = row_major(weights)?;
        let bias = bias_of(bias, shape.outputs)?;
        Ok(Prepacked { shape, kernel, filters: Arc::new(Filters::new(shape, data, bias)) })
    }

    fn with(&self, prepacked: Prepacked) -> Self {
        Self { prepacked: Some(prepacked), ..*self }
    }

    fn window(
        &self,
        input: &[usize],
        shape: FilterShape,
        kernel: [usize; 2],
    ) -> Result<Window, OperandError> {
        let &[_, channels, height, width] = input else {
            return Err(OperandError::new(format!("the input must have four axes, not {input:?}")));
        };
        let wanted = shape.group_inputs * self.groups;
        if channels != wanted {
            let why = format!("the input has {channels} channels where the weights take {wanted}");
            return Err(OperandError::new(why));
        }
        let axis =
            |a: usize, length| AxisSpec { kernel: kernel[a], ..self.windows[a] }.bind(length);
        Ok(Window { rows: axis(0, height)?, columns: axis(1, width)? })
    }

    fn bind(&self, input: &[usize], prepacked: Prepacked) -> Result<BoundConv, OperandError> {
        let window = self.window(input, prepacked.shape, prepacked.kernel)?;
        let shape = [input[0], prepacked.shape.outputs, window.rows.output, window.columns.output];
        Ok(BoundConv { shape, window, filters: prepacked.filters })
    }
}

impl Op for Conv {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        let Some(&Some(weights)) = constants.get(1) else { return Ok(None) };
        if weights.shape().len() != 4 {
            return Ok(None);
        }
        let bias = constants.get(2).copied().flatten();
        Ok(Some(Box::new(self.with(self.pack(weights, bias)?))))
    }

    fn repack(&self, edits: &[Edit<'_>]) -> Option<Repacked> {
        let mut prepacked = self.prepacked.clone()?;
        let each = prepacked.shape.group_inputs * prepacked.shape.taps;
        let mut outputs = Vec::new();
        for edit in edits {
            let filters = if edit.operand == 1 {
                outputs.extend(edit.elements.iter().map(|(element, _)| element / each));
                prepacked.filters.with_weights(prepacked.shape, edit.elements)
            } else {
                outputs.extend(edit.elements.iter().map(|(element, _)| *element));
                prepacked.filters.with_biases(prepacked.shape, edit.elements)
            };
            prepacked.filters = Arc::new(filters);
        }
        // Only a single group leaves the channels beside the wanted ones alone.
        let channels = match prepacked.filters.channel_step() {
            Some(_) => channels_around(outputs.into_iter()),
            None => 0..prepacked.shape.outputs,
        };
        Some(Repacked { op: Box::new(self.with(prepacked)), channels })
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let (Some(input), Some(weights)) = (operands[0], operands[1]) else {
            return Err(OperandError::new("it needs an input and weights"));
        };
        if weights.shape().len() != 4 || input.floats().is_none() {
            return Ok(None);
        }
        let prepacked = match &self.prepacked {
            Some(prepacked) => prepacked.clone(),
            None => self.pack(weights, operands.get(2).copied().flatten())?,
        };
        Ok(Some(Box::new(self.bind(input.shape(), prepacked)?)))
    }

    /// Other than two axes, where no attribute told so.
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        ConvNd::plain(self.groups).whole(operands)
    }
}

struct BoundConv {
    shape: [usize; 4],
    window: Window,
    filters: Arc<Filters>,
}

impl Local for BoundConv {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        self.window.reach(region)
    }

    #[expect(unsafe_code, reason = "passes the caller's promise on")]
    unsafe fn compute(&self, spots: &[Spot<'_>], channels: Range<usize>) {
        // SAFETY: the caller's promise is the kernel's.
        unsafe { convolve(spots, &self.window, &self.filters, channels) }
    }

    fn channel_step(&self) -> Option<usize> {
        self.filters.channel_step()
    }
}
