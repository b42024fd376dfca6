//! `Cast` and `CastLike`, between every two types.
//!
//! A float outside of an integer type becomes that type's lowest number (32 and 64 bits) or the
//! low bits of the 32-bit one (8 and 16 bits), as in ONNX Runtime on x86-64; here on every machine.

use super::elements::by_type;
use super::operands::{Answers, one, required};
use super::{Attributes, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::{Floats, Order};
use crate::onnx;
use crate::value::Value;
use faultlens_core::{DType, Tensor, TensorData};
use half::{bf16, f16};
use std::cmp::Ordering;

/// The type to cast to; `None` takes that of the second operand.
struct Cast(Option<DType>);

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    if attributes.op_type() == "CastLike" {
        return Ok(Some(Box::new(Cast(None))));
    }
    let number = attributes.int("to", 0);
    let to = i32::try_from(number).ok().and_then(onnx::dtype);
    let to =
        to.ok_or_else(|| OperandError::new(format!("it cannot cast to element type {number}")))?;
    Ok(Some(Box::new(Cast(Some(to)))))
}

impl Op for Cast {
    fn wants(&self, _operand: usize) -> Wants {
        match self.0 {
            Some(DType::F32 | DType::F16 | DType::BF16) => Wants::Alike,
            _ => Wants::RowMajor,
        }
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        let to = match self.0 {
            Some(to) => Some(to),
            None => required(operands, 1)?.dtype(),
        };
        let to = to.ok_or_else(|| OperandError::new("a list of tensors has no type to cast to"))?;
        one(cast(value, to)?)
    }
}

/// The value with its elements as another type. Floats keep their order in memory where they stay
/// floats, and must lie as ONNX counts where they do not.
pub(crate) fn cast(value: &Value, to: DType) -> Result<Value, OperandError> {
    let data = match (value, to) {
        (Value::Floats(floats), DType::F32 | DType::F16 | DType::BF16) => {
            // Narrower floats are kept in 32 bits, rounded to what the narrow type can hold.
            let mut floats = Floats { dtype: to, ..floats.clone() };
            crate::step::round(&mut floats);
            return Ok(Value::Floats(floats));
        }
        (Value::Floats(floats), _) => converted(&floats.in_order(Order::RowMajor).data, to),
        (Value::Other(tensor), _) => by_type!(tensor.data(), v => converted(v, to)),
        (Value::Sequence(_), _) => {
            return Err(OperandError::new("it cannot cast a list of tensors"));
        }
    };
    let tensor = Tensor::new(value.shape().to_vec(), data);
    tensor.map(Value::from_tensor).map_err(|e| OperandError::new(e.to_string()))
}

fn converted<T: Number>(from: &[T], to: DType) -> TensorData {
    fn each<S: Number, T: Number>(from: &[S]) -> Vec<T> {
        from.iter().map(|x| T::from_exact(x.exact())).collect()
    }
    match to {
        DType::F32 => each::<T, f32>(from).into(),
        DType::F16 => each::<T, f16>(from).into(),
        DType::BF16 => each::<T, bf16>(from).into(),
        DType::F64 => each::<T, f64>(from).into(),
        DType::I8 => each::<T, i8>(from).into(),
        DType::U8 => each::<T, u8>(from).into(),
        DType::I16 => each::<T, i16>(from).into(),
        DType::U16 => each::<T, u16>(from).into(),
        DType::I32 => each::<T, i32>(from).into(),
        DType::U32 => each::<T, u32>(from).into(),
        DType::I64 => each::<T, i64>(from).into(),
        DType::U64 => each::<T, u64>(from).into(),
        DType::Bool => each::<T, bool>(from).into(),
    }
}

/// Any element, without loss.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exact {
    Float(f64),
    Whole(i64),
    Large(u64),
}

impl Exact {
    /// A whole number with room for every sum and product of two elements.
    pub(super) fn whole(self) -> Option<i128> {
        match self {
            Self::Float(_) => None,
            Self::Whole(x) => Some(x.into()),
            Self::Large(x) => Some(x.into()),
        }
    }

    /// The nearest double.
    pub(super) fn double(self) -> f64 {
        f64::from_exact(self)
    }

    /// Which of two elements of one type is larger; `None` if one is not a number.
    pub(super) fn order(self, other: Self) -> Option<Ordering> {
        match (self.whole(), other.whole()) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            _ => self.double().partial_cmp(&other.double()),
        }
    }

    /// The low 64 bits, from which every type of whole numbers takes its own.
    pub(super) fn wrapped(x: i128) -> Self {
        Self::Whole(x as i64)
    }
}

/// A type of elements that can become any other.
pub(super) trait Number: Copy {
    fn exact(self) -> Exact;
    fn from_exact(exact: Exact) -> Self;
}

macro_rules! numbers {
    ($($type:ty, $exact:ident($wide:ty), |$x:ident| $from_float:expr;)+) => {
        $(impl Number for $type {
            fn exact(self) -> Exact {
                Exact::$exact(<$wide>::from(self))
            }

            fn from_exact(exact: Exact) -> Self {
                match exact {
                    Exact::Float($x) => $from_float,
                    Exact::Whole(x) => x as Self,
                    Exact::Large(x) => x as Self,
                }
            }
        })+
    };
}

numbers! {
    f32, Float(f64), |x| x as f32;
    f64, Float(f64), |x| x;
    i8, Whole(i64), |x| to_i32(x) as i8;
    u8, Whole(i64), |x| to_i32(x) as u8;
    i16, Whole(i64), |x| to_i32(x) as i16;
    u16, Whole(i64), |x| to_i32(x) as u16;
    i32, Whole(i64), |x| to_i32(x);
    u32, Whole(i64), |x| to_i64(x) as u32;
    i64, Whole(i64), |x| to_i64(x);
    u64, Large(u64), |x| to_u64(x);
}

macro_rules! halves {
    ($($type:ty;)+) => {
        $(impl Number for $type {
            fn exact(self) -> Exact {
                Exact::Float(self.to_f64())
            }

            fn from_exact(exact: Exact) -> Self {
                Self::from_f32(f32::from_exact(exact))
            }
        })+
    };
}

halves! { f16; bf16; }

impl Number for bool {
    fn exact(self) -> Exact {
        Exact::Whole(i64::from(self))
    }

    fn from_exact(exact: Exact) -> Self {
        match exact {
            Exact::Float(x) => x != 0.0,
            Exact::Whole(x) => x != 0,
            Exact::Large(x) => x != 0,
        }
    }
}

/// 2⁶³.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn to_i32(x: f64) -> i32 {
    if x.trunc() >= f64::from(i32::MIN) && x.trunc() <= f64::from(i32::MAX) {
        x as i32
    } else {
        i32::MIN
    }
}

fn to_i64(x: f64) -> i64 {
    if (-TWO_TO_63..TWO_TO_63).contains(&x) { x as i64 } else { i64::MIN }
}

fn to_u64(x: f64) -> u64 {
    if (TWO_TO_63..2.0 * TWO_TO_63).contains(&x) { x as u64 } else { to_i64(x) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_outside_of_the_type() {
        let floats = vec![f32::NAN, f32::INFINITY, -1e30, 3e9, 300.5, -1.5];
        let value = Value::from_tensor(Tensor::vector(floats));
        let to = |dtype| cast(&value, dtype).unwrap().to_tensor().unwrap().into_parts().1;
        let low = i32::MIN;
        assert_eq!(to(DType::I32), TensorData::I32(vec![low, low, low, low, 300, -1]));
        let low = i64::MIN;
        assert_eq!(to(DType::I64), TensorData::I64(vec![low, low, low, 3_000_000_000, 300, -1]));
        assert_eq!(to(DType::U8), TensorData::U8(vec![0, 0, 0, 0, 44, 255]));
        assert_eq!(to(DType::Bool), TensorData::Bool(vec![true; 6]));
    }

    #[test]
    fn whole_numbers_keep_their_low_bits() {
        let value = Value::from_tensor(Tensor::vector(vec![-1i64, 1 << 40, i64::MAX]));
        let to = |dtype| cast(&value, dtype).unwrap().to_tensor().unwrap().into_parts().1;
        assert_eq!(to(DType::U8), TensorData::U8(vec![255, 0, 255]));
        assert_eq!(to(DType::U64), TensorData::U64(vec![u64::MAX, 1 << 40, i64::MAX as u64]));
        assert_eq!(
            to(DType::F64),
            TensorData::F64(vec![-1.0, (1u64 << 40) as f64, i64::MAX as f64])
        );
    }
}
