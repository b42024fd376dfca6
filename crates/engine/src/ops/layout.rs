//! Operators that only rename, reshape or reorder: `Identity`, `Reshape`, `Transpose` and kin.

use super::elements::view;
use super::operands::{Answers, one, required};
use super::places::{axis, strides};
use super::{Attributes, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::{Floats, Order};
use crate::value::Value;
use faultlens_core::{Tensor, TensorData};

struct Constant(Value);

pub(super) fn parse_constant(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let tensor = if let Some(tensor) = attributes.tensor("value")? {
        tensor
    } else if attributes.has("value_float") {
        scalar(vec![attributes.float("value_float", 0.0)])
    } else if attributes.has("value_int") {
        scalar(vec![attributes.int("value_int", 0)])
    } else if let Some(floats) = attributes.floats("value_floats").filter(|v| !v.is_empty()) {
        Tensor::vector(floats.to_vec())
    } else if let Some(ints) =
        attributes.ints("value_ints").filter(|_| attributes.has("value_ints"))
    {
        Tensor::vector(ints.to_vec())
    } else {
        return Err(OperandError::new("it holds no tensor or number"));
    };
    Ok(Some(Box::new(Constant(Value::from_tensor(tensor)))))
}

fn scalar(data: impl Into<TensorData>) -> Tensor {
    let vector = Tensor::vector(data);
    let (_, data) = vector.into_parts();
    match Tensor::new(Vec::new(), data) {
        Ok(scalar) => scalar,
        Err(_) => unreachable!("one element is a scalar"),
    }
}

impl Op for Constant {
    fn whole(&self, _operands: &[Option<&Value>]) -> Answers {
        Ok(Some(vec![Some(self.0.clone())]))
    }
}

struct Identity;

pub(super) fn parse_identity(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let plain = attributes.arity().1 == 1;
    Ok(plain.then(|| Box::new(Identity) as Box<dyn Op>))
}

impl Op for Identity {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::Alike
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        Ok(Some(vec![operands[0].cloned()]))
    }
}

/// The same elements under another shape.
enum Shaping {
    Reshape { keep_zero: bool },
    Flatten { axis: i64 },
    Squeeze { axes: Option<Vec<i64>> },
    Unsqueeze { axes: Option<Vec<i64>> },
}

pub(super) fn parse_reshape(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let axes = attributes.ints("axes").map(<[i64]>::to_vec);
    let shaping = match attributes.op_type() {
        "Reshape" if attributes.opset() < 5 => return Ok(None),
        "Reshape" => Shaping::Reshape { keep_zero: attributes.int("allowzero", 0) != 0 },
        "Flatten" => Shaping::Flatten { axis: attributes.int("axis", 1) },
        "Squeeze" => Shaping::Squeeze { axes },
        _ => Shaping::Unsqueeze { axes },
    };
    Ok(Some(Box::new(shaping)))
}

impl Shaping {
    fn shape(&self, from: &[usize], operand: Option<Vec<i64>>) -> Result<Vec<usize>, OperandError> {
        match self {
            Self::Reshape { keep_zero } => {
                let wanted = operand.ok_or_else(|| OperandError::new("it needs a shape"))?;
                resolve(from, &wanted, *keep_zero)
            }
            Self::Flatten { axis: behind } => {
                let rank = from.len();
                let at = if *behind == rank as i64 { rank } else { axis(*behind, rank)? };
                Ok(vec![from[..at].iter().product(), from[at..].iter().product()])
            }
            Self::Squeeze { axes } => match operand.or_else(|| axes.clone()) {
                None => Ok(from.iter().copied().filter(|&d| d != 1).collect()),
                Some(axes) => squeezed(from, &axes),
            },
            Self::Unsqueeze { axes } => {
                let axes = operand.or_else(|| axes.clone());
                unsqueezed(from, &axes.ok_or_else(|| OperandError::new("it needs axes"))?)
            }
        }
    }
}

fn squeezed(from: &[usize], axes: &[i64]) -> Result<Vec<usize>, OperandError> {
    let gone: Vec<usize> = axes.iter().map(|&a| axis(a, from.len())).collect::<Result<_, _>>()?;
    if let Some(at) = gone.iter().find(|&&a| from[a] != 1) {
        return Err(OperandError::new(format!("axis {at} of {from:?} is not of length 1")));
    }
    let kept = from.iter().enumerate().filter(|(a, _)| !gone.contains(a));
    Ok(kept.map(|(_, &d)| d).collect())
}

fn unsqueezed(from: &[usize], axes: &[i64]) -> Result<Vec<usize>, OperandError> {
    let rank = from.len() + axes.len();
    let mut new: Vec<usize> = axes.iter().map(|&a| axis(a, rank)).collect::<Result<_, _>>()?;
    new.sort_unstable();
    let mut shape = from.to_vec();
    for at in new {
        if at > shape.len() {
            return Err(OperandError::new(format!("axes {axes:?} do not fit {from:?}")));
        }
        shape.insert(at, 1);
    }
    Ok(shape)
}

/// ONNX's shorthands: 0 keeps an axis, -1 takes what is left.
fn resolve(from: &[usize], wanted: &[i64], keep_zero: bool) -> Result<Vec<usize>, OperandError> {
    let operand_error = || OperandError::new(format!("{from:?} cannot be reshaped to {wanted:?}"));
    let mut shape = Vec::with_capacity(wanted.len());
    for (axis, &length) in wanted.iter().enumerate() {
        shape.push(match length {
            // Since version 14, `allowzero` makes 0 an axis of length zero.
            0 if !keep_zero => *from.get(axis).ok_or_else(operand_error)?,
            -1 => 1,
            n => usize::try_from(n).map_err(|_| operand_error())?,
        });
    }
    let total: usize = from.iter().product();
    let known =
        shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or_else(operand_error)?;
    if let Some(open) = wanted.iter().position(|&d| d == -1) {
        if known == 0 || !total.is_multiple_of(known) {
            return Err(operand_error());
        }
        shape[open] = total / known;
    } else if known != total {
        return Err(operand_error());
    }
    Ok(shape)
}

impl Op for Shaping {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = operands[0] else { return Ok(None) };
        let operand = operands.get(1).copied().flatten().and_then(Value::integers);
        let reshaped = match input {
            Value::Sequence(_) => return Ok(None),
            Value::Floats(floats) => {
                let shape = self.shape(&floats.shape, operand)?;
                Value::Floats(Floats { shape, ..floats.clone() })
            }
            Value::Other(tensor) => {
                let shape = self.shape(tensor.shape(), operand)?;
                let data = tensor.data().clone();
                Value::Other(
                    Tensor::new(shape, data).map_err(|e| OperandError::new(e.to_string()))?,
                )
            }
        };
        Ok(Some(vec![Some(reshaped)]))
    }
}

/// `Transpose`: of rank 4 between the channel orders without moving anything.
pub(crate) struct Transpose {
    permutation: Option<Vec<usize>>,
}

pub(super) fn parse_transpose(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Transpose::new(attributes))))
}

impl Op for Transpose {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::Alike
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        let permutation = self.permutation(value.shape().len())?;
        one(transposed(value.clone(), &permutation)?)
    }
}

impl Transpose {
    pub(crate) fn new(attributes: &Attributes<'_>) -> Self {
        Self {
            permutation: attributes.ints("perm").map(|p| p.iter().map(|&a| a as usize).collect()),
        }
    }

    /// Which axis of the operand each axis of the result is.
    pub(crate) fn permutation(&self, rank: usize) -> Result<Vec<usize>, OperandError> {
        let permutation = self.permutation.clone().unwrap_or_else(|| (0..rank).rev().collect());
        let mut sorted = permutation.clone();
        sorted.sort_unstable();
        if sorted != (0..rank).collect::<Vec<_>>() {
            return Err(OperandError::new(format!(
                "perm {permutation:?} does not fit {rank} axes"
            )));
        }
        Ok(permutation)
    }
}

/// The value with its axes in another order, moved only where another label does not do.
pub(crate) fn transposed(value: Value, permutation: &[usize]) -> Result<Value, OperandError> {
    let shape: Vec<usize> = permutation.iter().map(|&a| value.shape()[a]).collect();
    let floats = match value {
        Value::Floats(floats) => floats,
        other => return permuted(&other, permutation, shape),
    };
    let order = match (floats.order, permutation) {
        // NHWC as ONNX sees it is channels last as it lies: only the label changes.
        (Order::ChannelsLast, [0, 2, 3, 1]) => Order::RowMajor,
        (Order::RowMajor, [0, 3, 1, 2]) => Order::ChannelsLast,
        (Order::RowMajor, _) => return permuted(&Value::Floats(floats), permutation, shape),
        (Order::ChannelsLast, _) => {
            let plain = Value::Floats(floats.in_order(Order::RowMajor));
            return permuted(&plain, permutation, shape);
        }
    };
    Ok(Value::Floats(Floats { shape, order, ..floats }))
}

/// The elements of a value with its axes in another order.
fn permuted(
    value: &Value,
    permutation: &[usize],
    shape: Vec<usize>,
) -> Result<Value, OperandError> {
    let strides = strides(value.shape());
    let strides: Vec<usize> = permutation.iter().map(|&a| strides[a]).collect();
    view(value, &shape.clone(), &strides, shape)
}

/// `SpaceToDepth` and `DepthToSpace`: blocks of pixels become channels, and back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks {
    size: usize,
    /// Whether channels become pixels.
    to_space: bool,
    /// Whether a block's pixels lie side by side within each channel, else across the channels.
    within_channel: bool,
}

pub(super) fn parse_blocks(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Blocks::new(attributes)?)))
}

impl Blocks {
    pub(crate) fn new(attributes: &Attributes<'_>) -> Result<Self, OperandError> {
        let size = usize::try_from(attributes.int("blocksize", 0)).ok().filter(|&b| b > 0);
        Ok(Self {
            size: size.ok_or_else(|| OperandError::new("attribute blocksize must be positive"))?,
            to_space: attributes.op_type() == "DepthToSpace",
            within_channel: attributes.string("mode", "DCR") == "CRD",
        })
    }

    /// The operand as the result reads it.
    pub(crate) fn view(&self, of: &[usize]) -> Result<View, OperandError> {
        let Self { size, to_space, within_channel } = *self;
        let operand_error = || OperandError::new(format!("{of:?} does not make blocks of {size}"));
        let &[n, c, h, w] = of else { return Err(operand_error()) };
        let image = c * h * w;
        let channel = h * w;
        let block = size.checked_mul(size).ok_or_else(operand_error)?;
        let (axes, strides, shape) = if to_space {
            let c = c.is_multiple_of(block).then_some(c / block).ok_or_else(operand_error)?;
            // CRD keeps a block's pixels within each channel, DCR spreads them over the channels.
            let [of_c, of_block] = if within_channel { [block, 1] } else { [1, c] };
            let of_row = of_block * size * channel;
            let strides = [image, of_c * channel, w, of_row, 1, of_block * channel];
            ([n, c, h, size, w, size], strides, vec![n, c, h * size, w * size])
        } else if size <= h && size <= w && h.is_multiple_of(size) && w.is_multiple_of(size) {
            let strides = [image, w, 1, channel, w * size, size];
            let rows = h / size;
            let columns = w / size;
            ([n, size, size, c, rows, columns], strides, vec![n, block * c, rows, columns])
        } else {
            return Err(operand_error());
        };
        Ok(View { axes, strides, shape })
    }
}

/// A strided view, read in row-major order of its axes, and the shape that its elements take.
pub(crate) struct View {
    pub(crate) axes: [usize; 6],
    pub(crate) strides: [usize; 6],
    shape: Vec<usize>,
}

impl Op for Blocks {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        let View { axes, strides, shape } = self.view(value.shape())?;
        one(view(value, &axes, &strides, shape)?)
    }
}
