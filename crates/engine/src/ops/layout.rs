//! Operators that only rename, reshape or reorder: `Identity`, `Reshape`, `Transpose` and kin.

use super::{Attributes, Op, Wants};
use crate::error::Misfit;
use crate::kernels::grid::{Floats, Order};
use crate::value::Value;
use faultlens_core::{Tensor, TensorData};

struct Constant(Value);

pub(super) fn parse_constant(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let tensor = if let Some(tensor) = attributes.tensor("value")? {
        tensor
    } else if attributes.has("value_float") {
        scalar(vec![attributes.float("value_float", 0.0)])
    } else if attributes.has("value_int") {
        scalar(vec![attributes.int("value_int", 0)])
    } else if let Some(floats) = attributes.floats("value_floats").filter(|v| !v.is_empty()) {
        Tensor::vector(floats.to_vec())
    } else if let Some(ints) = attributes.ints("value_ints").filter(|_| attributes.has("value_ints")) {
        Tensor::vector(ints.to_vec())
    } else {
        return Err(Misfit::new("it holds no tensor or number"));
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
    fn whole(&self, _operands: &[Option<&Value>]) -> Result<Option<Vec<Option<Value>>>, Misfit> {
        Ok(Some(vec![Some(self.0.clone())]))
    }
}

struct Identity;

pub(super) fn parse_identity(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let plain = attributes.arity().1 == 1;
    Ok(plain.then(|| Box::new(Identity) as Box<dyn Op>))
}

impl Op for Identity {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::Alike
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Result<Option<Vec<Option<Value>>>, Misfit> {
        Ok(Some(vec![operands[0].cloned()]))
    }
}

/// `Reshape`, `Flatten`, `Squeeze` and `Unsqueeze`: the same elements under another shape.
enum Reshape {
    Reshape { keep_zero: bool },
    Flatten { axis: i64 },
    Squeeze { axes: Option<Vec<i64>> },
    Unsqueeze { axes: Option<Vec<i64>> },
}

pub(super) fn parse_reshape(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let axes = attributes.ints("axes").map(<[i64]>::to_vec);
    let reshape = match attributes.op_type() {
        "Reshape" if attributes.opset() < 5 => return Ok(None),
        "Reshape" => Reshape::Reshape { keep_zero: attributes.int("allowzero", 0) != 0 },
        "Flatten" => Reshape::Flatten { axis: attributes.int("axis", 1) },
        "Squeeze" => Reshape::Squeeze { axes },
        _ => Reshape::Unsqueeze { axes },
    };
    Ok(Some(Box::new(reshape)))
}

impl Reshape {
    fn shape(&self, from: &[usize], operand: Option<Vec<i64>>) -> Result<Vec<usize>, Misfit> {
        let place = |axis: i64, rank: usize| {
            let at = if axis < 0 { axis + rank as i64 } else { axis };
            usize::try_from(at).ok().filter(|&a| a <= rank).ok_or_else(|| {
                Misfit::new(format!("axis {axis} does not exist in {rank} axes"))
            })
        };
        match self {
            Self::Reshape { keep_zero } => {
                let wanted = operand.ok_or_else(|| Misfit::new("it needs a shape"))?;
                resolve(from, &wanted, *keep_zero)
            }
            Self::Flatten { axis } => {
                let at = place(*axis, from.len())?;
                Ok(vec![from[..at].iter().product(), from[at..].iter().product()])
            }
            Self::Squeeze { axes } => {
                let Some(axes) = operand.or_else(|| axes.clone()) else {
                    return Ok(from.iter().copied().filter(|&d| d != 1).collect());
                };
                let gone: Vec<usize> =
                    axes.iter().map(|&a| place(a, from.len())).collect::<Result<_, _>>()?;
                if let Some(at) = gone.iter().find(|&&a| from.get(a) != Some(&1)) {
                    return Err(Misfit::new(format!("axis {at} of {from:?} is not of length 1")));
                }
                let kept = from.iter().enumerate().filter(|(a, _)| !gone.contains(a));
                Ok(kept.map(|(_, &d)| d).collect())
            }
            Self::Unsqueeze { axes } => {
                let axes = operand.or_else(|| axes.clone());
                let axes = axes.ok_or_else(|| Misfit::new("it needs axes"))?;
                let rank = from.len() + axes.len();
                let mut new: Vec<usize> =
                    axes.iter().map(|&a| place(a, rank)).collect::<Result<_, _>>()?;
                new.sort_unstable();
                let mut shape = from.to_vec();
                for at in new {
                    if at > shape.len() {
                        return Err(Misfit::new(format!("axes {axes:?} do not fit {from:?}")));
                    }
                    shape.insert(at, 1);
                }
                Ok(shape)
            }
        }
    }
}

/// ONNX's shorthands: 0 keeps an axis, -1 takes what is left.
fn resolve(from: &[usize], wanted: &[i64], keep_zero: bool) -> Result<Vec<usize>, Misfit> {
    let misfit = || Misfit::new(format!("{from:?} cannot be reshaped to {wanted:?}"));
    let mut shape = Vec::with_capacity(wanted.len());
    for (axis, &length) in wanted.iter().enumerate() {
        shape.push(match length {
            0 if !keep_zero => *from.get(axis).ok_or_else(misfit)?,
            -1 => 1,
            n => usize::try_from(n).map_err(|_| misfit())?,
        });
    }
    let total: usize = from.iter().product();
    let known = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or_else(misfit)?;
    if let Some(open) = wanted.iter().position(|&d| d == -1) {
        if known == 0 || total % known != 0 {
            return Err(misfit());
        }
        shape[open] = total / known;
    } else if known != total {
        return Err(misfit());
    }
    Ok(shape)
}

impl Op for Reshape {
    fn whole(&self, operands: &[Option<&Value>]) -> Result<Option<Vec<Option<Value>>>, Misfit> {
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
                Value::Other(Tensor::new(shape, data).map_err(|e| Misfit::new(e.to_string()))?)
            }
        };
        Ok(Some(vec![Some(reshaped)]))
    }
}

/// `Transpose`: of rank 4 between the channel orders without moving anything.
struct Transpose {
    permutation: Option<Vec<usize>>,
}

pub(super) fn parse_transpose(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let permutation = attributes.ints("perm").map(|p| p.iter().map(|&a| a as usize).collect());
    Ok(Some(Box::new(Transpose { permutation })))
}

impl Op for Transpose {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::Alike
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Result<Option<Vec<Option<Value>>>, Misfit> {
        let Some(floats) = operands[0].and_then(Value::floats) else { return Ok(None) };
        let rank = floats.shape.len();
        let permutation = self.permutation.clone().unwrap_or_else(|| (0..rank).rev().collect());
        let mut sorted = permutation.clone();
        sorted.sort_unstable();
        if sorted != (0..rank).collect::<Vec<_>>() {
            return Err(Misfit::new(format!("perm {permutation:?} does not fit {rank} axes")));
        }
        let shape: Vec<usize> = permutation.iter().map(|&a| floats.shape[a]).collect();
        let done = |order: Order, data: Vec<f32>| {
            let value = Floats { shape: shape.clone(), order, dtype: floats.dtype, data };
            Ok(Some(vec![Some(Value::Floats(value))]))
        };
        match (floats.order, permutation.as_slice()) {
            (Order::ChannelsLast, [0, 2, 3, 1]) => done(Order::RowMajor, floats.data.clone()),
            (Order::RowMajor, [0, 3, 1, 2]) => done(Order::ChannelsLast, floats.data.clone()),
            _ => done(Order::RowMajor, permuted(floats, &permutation, &shape)),
        }
    }
}

fn permuted(floats: &Floats, permutation: &[usize], shape: &[usize]) -> Vec<f32> {
    let plain = floats.in_order(Order::RowMajor);
    let mut strides = vec![1; shape.len()];
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * plain.shape[axis + 1];
    }
    let strides: Vec<usize> = permutation.iter().map(|&a| strides[a]).collect();
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    let mut data = Vec::with_capacity(plain.data.len());
    for _ in 0..plain.data.len() {
        data.push(plain.data[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    data
}
