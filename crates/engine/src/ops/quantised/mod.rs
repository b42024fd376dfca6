//! Operators of quantised models: ONNX's own, and those that ONNX Runtime's quantiser writes.
//!
//! Elements of eight bits stand for `scale · (element − zero point)`. Every operator rounds where
//! ONNX Runtime does, so that its answers are the same to the last bit.

mod concat;
mod conv;
mod linear;
mod pair;
mod pass;
mod pool;
mod product;
mod softmax;
mod table;

use super::operands::{Answers, operand, required, whole_value};
use super::places;
use crate::error::OperandError;
use crate::kernels::quantised::IntegerRange;
use crate::value::Value;
pub(super) use concat::parse as parse_concat;
pub(super) use conv::{parse as parse_conv, parse_integer as parse_conv_integer};
use faultlens_core::{DType, Tensor, TensorData};
pub(super) use linear::{parse_dequantise, parse_dynamic, parse_quantise};
pub(super) use pair::parse as parse_pair;
pub(super) use pool::{parse as parse_pool, parse_global as parse_global_pool};
pub(super) use product::parse as parse_product;
pub(super) use softmax::parse as parse_softmax;
pub(super) use table::parse as parse_table;

/// How one value's elements stand for real numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct QuantParams {
    scale: f32,
    zero: i32,
    dtype: DType,
}

impl QuantParams {
    /// The code whose scale is operand `scale`, and whose zero point is the one behind it; without
    /// a zero point it is of `like`'s type.
    fn of(operands: &[Option<&Value>], scale: usize, like: &Value) -> Result<Self, OperandError> {
        let zero = operand(operands, scale + 1);
        let dtype = zero.unwrap_or(like).dtype().unwrap_or(DType::U8);
        match (scales(required(operands, scale)?)?, zeros(zero)?.as_slice()) {
            (&[scale], &[zero]) => Ok(Self { scale, zero, dtype }),
            _ => Err(OperandError::new("one scale and one zero point are wanted for all elements")),
        }
    }

    /// The elements that this code may write.
    fn range(&self) -> Result<IntegerRange, OperandError> {
        let (low, high) = range(self.dtype)?;
        Ok(IntegerRange { low, high, zero: self.zero })
    }

    /// The real number that an element stands for.
    fn real(&self, element: i32) -> f32 {
        self.scale * (element - self.zero) as f32
    }
}

/// The lowest and highest element of a type.
fn range(dtype: DType) -> Result<(i32, i32), OperandError> {
    match dtype {
        DType::I8 => Ok((-128, 127)),
        DType::U8 => Ok((0, 255)),
        DType::I16 => Ok((-32_768, 32_767)),
        DType::U16 => Ok((0, 65_535)),
        other => Err(OperandError::new(format!("it cannot answer in {}", other.name()))),
    }
}

/// Scales are floats, of whatever precision.
fn scales(value: &Value) -> Result<&[f32], OperandError> {
    match value.floats() {
        Some(floats) if !floats.data.is_empty() => Ok(&floats.data),
        _ => Err(OperandError::new("scales must be floats")),
    }
}

/// Zero points of elements of eight bits; a missing operand means zero.
fn zeros(value: Option<&Value>) -> Result<Vec<i32>, OperandError> {
    let zeros = value.map_or_else(|| Ok(vec![0]), integers)?;
    match zeros.iter().find(|zero| !(-128..=255).contains(*zero)) {
        Some(zero) => {
            Err(OperandError::new(format!("a zero point of {zero} does not fit eight bits")))
        }
        None => Ok(zeros),
    }
}

/// The elements of a value of whole numbers.
fn integers(value: &Value) -> Result<Vec<i32>, OperandError> {
    fn wide<T: Copy + Into<i32>>(data: &[T]) -> Vec<i32> {
        data.iter().map(|&x| x.into()).collect()
    }
    match tensor(value)?.data() {
        TensorData::I8(v) => Ok(wide(v)),
        TensorData::U8(v) => Ok(wide(v)),
        TensorData::I16(v) => Ok(wide(v)),
        TensorData::U16(v) => Ok(wide(v)),
        TensorData::I32(v) => Ok(v.clone()),
        other => Err(OperandError::new(format!(
            "whole numbers are wanted, not {}",
            other.dtype().name()
        ))),
    }
}

fn tensor(value: &Value) -> Result<&Tensor, OperandError> {
    match value {
        Value::Other(tensor) => Ok(tensor),
        _ => Err(OperandError::new("whole numbers are wanted")),
    }
}

/// The elements of a value of eight bits.
#[derive(Debug, Clone, Copy)]
enum Bytes<'a> {
    Signed(&'a [i8]),
    Unsigned(&'a [u8]),
}

impl<'a> Bytes<'a> {
    fn of(value: &'a Value) -> Result<Self, OperandError> {
        match tensor(value)?.data() {
            TensorData::I8(v) => Ok(Self::Signed(v)),
            TensorData::U8(v) => Ok(Self::Unsigned(v)),
            other => Err(OperandError::new(format!(
                "eight bits are wanted, not {}",
                other.dtype().name()
            ))),
        }
    }

    /// The elements minus a zero point.
    fn shifted(&self, zero: i32) -> Vec<i16> {
        let zero = zero as i16;
        match self {
            Self::Signed(v) => v.iter().map(|&x| i16::from(x) - zero).collect(),
            Self::Unsigned(v) => v.iter().map(|&x| i16::from(x) - zero).collect(),
        }
    }

    /// Every element through a table that is indexed by its bits.
    fn through(&self, table: &[u8; 256]) -> Vec<u8> {
        match self {
            Self::Signed(v) => v.iter().map(|&x| table[usize::from(x as u8)]).collect(),
            Self::Unsigned(v) => v.iter().map(|&x| table[usize::from(x)]).collect(),
        }
    }
}

/// One answer of eight bits, from the bits of its elements.
fn answer(shape: Vec<usize>, dtype: DType, bits: Vec<u8>) -> Answers {
    let data: TensorData = match dtype {
        DType::I8 => bits.into_iter().map(|b| b as i8).collect::<Vec<_>>().into(),
        DType::U8 => bits.into(),
        other => return Err(OperandError::new(format!("it cannot answer in {}", other.name()))),
    };
    Ok(Some(vec![Some(whole_value(shape, data)?)]))
}

/// The shape that two shapes broadcast to.
fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, OperandError> {
    places::broadcast(&[a, b])
        .ok_or_else(|| OperandError::new(format!("shapes {a:?} and {b:?} do not fit together")))
}

/// The elements of a value as broadcasting repeats them to fill `to`.
fn spread<T: Copy>(data: Vec<T>, from: &[usize], to: &[usize]) -> Vec<T> {
    if from == to {
        return data;
    }
    places::spread_offsets(from, to).into_iter().map(|at| data[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_from_their_ends() {
        let cases = [
            (vec![2, 3], vec![2, 3], Some(vec![2, 3])),
            (vec![2, 1, 4], vec![3, 1], Some(vec![2, 3, 4])),
            (vec![], vec![5], Some(vec![5])),
            (vec![0, 3], vec![1, 1], Some(vec![0, 3])),
            (vec![2, 3], vec![2, 1, 4], None),
        ];
        for (a, b, shape) in cases {
            assert_eq!(broadcast(&a, &b).ok(), shape, "{a:?} {b:?}");
        }
    }

    #[test]
    fn elements_are_repeated_where_an_axis_is_of_length_one() {
        assert_eq!(spread(vec![1, 2], &[2, 1], &[2, 3]), [1, 1, 1, 2, 2, 2]);
        assert_eq!(spread(vec![1, 2], &[2], &[2, 2]), [1, 2, 1, 2]);
        assert_eq!(spread(vec![7], &[], &[3]), [7, 7, 7]);
    }

    #[test]
    fn a_zero_point_outside_of_eight_bits_is_an_error() {
        let value = |zero: i32| Value::Other(Tensor::vector(vec![zero]));
        assert_eq!(zeros(Some(&value(-128))), Ok(vec![-128]));
        assert!(zeros(Some(&value(256))).is_err());
        assert_eq!(zeros(None), Ok(vec![0]));
    }
}
