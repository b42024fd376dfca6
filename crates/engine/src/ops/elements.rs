//! Elements of any type: one body for all of them, and picking elements by number.

use super::operands::{rounded, whole_value};
use super::places::offsets;
use crate::error::OperandError;
use crate::kernels::grid::Order;
use crate::value::Value;
use faultlens_core::{Tensor, TensorData};
use half::{bf16, f16};

/// Evaluates one expression for whatever type of elements a tensor holds.
macro_rules! by_type {
    ($data:expr, $elements:ident => $body:expr) => {
        match $data {
            faultlens_core::TensorData::F32($elements) => $body,
            faultlens_core::TensorData::F16($elements) => $body,
            faultlens_core::TensorData::BF16($elements) => $body,
            faultlens_core::TensorData::F64($elements) => $body,
            faultlens_core::TensorData::I8($elements) => $body,
            faultlens_core::TensorData::U8($elements) => $body,
            faultlens_core::TensorData::I16($elements) => $body,
            faultlens_core::TensorData::U16($elements) => $body,
            faultlens_core::TensorData::I32($elements) => $body,
            faultlens_core::TensorData::U32($elements) => $body,
            faultlens_core::TensorData::I64($elements) => $body,
            faultlens_core::TensorData::U64($elements) => $body,
            faultlens_core::TensorData::Bool($elements) => $body,
        }
    };
}
pub(super) use by_type;

/// A type of elements, so that several operands can be asked for the same one.
pub(super) trait Element: Copy + PartialOrd {
    /// The elements, if they are of this type.
    fn of(data: &TensorData) -> Option<&[Self]>;
}

macro_rules! elements {
    ($($variant:ident, $type:ty;)+) => {
        $(impl Element for $type {
            fn of(data: &TensorData) -> Option<&[Self]> {
                match data {
                    TensorData::$variant(v) => Some(v),
                    _ => None,
                }
            }
        })+
    };
}

elements! {
    F32, f32; F16, f16; BF16, bf16; F64, f64;
    I8, i8; U8, u8; I16, i16; U16, u16;
    I32, i32; U32, u32; I64, i64; U64, u64;
    Bool, bool;
}

/// The elements of several tensors, if all are of one type. The first argument only names it.
pub(super) fn alike<'a, T: Element>(_first: &[T], tensors: &[&'a Tensor]) -> Option<Vec<&'a [T]>> {
    tensors.iter().map(|tensor| T::of(tensor.data())).collect()
}

/// A value of the elements that `at` numbers, counted on from one source to the next. Floats must
/// lie as ONNX counts.
pub(crate) fn pick(
    sources: &[&Value],
    at: &[usize],
    shape: Vec<usize>,
) -> Result<Value, OperandError> {
    let mixed = || OperandError::new("its operands differ in type");
    // Floats of any width lie in memory as `f32`; other types are picked as they are.
    let floats: Option<Vec<_>> = sources.iter().map(|v| v.floats()).collect();
    if let Some(floats) = floats {
        let first = floats.first().ok_or_else(mixed)?;
        debug_assert!(floats.iter().all(|f| f.order == Order::RowMajor), "as ONNX counts");
        let slices: Vec<&[f32]> = floats.iter().map(|f| f.data.as_slice()).collect();
        return Ok(rounded(shape, first.dtype, picked(&slices, at)?));
    }
    let tensors: Option<Vec<&Tensor>> = sources.iter().map(|v| v.tensor()).collect();
    let tensors = tensors.ok_or_else(mixed)?;
    let first = tensors.first().ok_or_else(mixed)?;
    let data: TensorData = by_type!(first.data(), v => {
        picked(&alike(v, &tensors).ok_or_else(mixed)?, at)?.into()
    });
    whole_value(shape, data)
}

/// The elements of values one behind the other, in the type of the first, under a new shape.
pub(crate) fn joined(values: &[Value], shape: Vec<usize>) -> Result<Value, OperandError> {
    let mixed = || OperandError::new("what turns collect differs in type or shape");
    let first = values.first().ok_or_else(mixed)?;
    if values.iter().any(|value| value.shape() != first.shape()) {
        return Err(mixed());
    }
    if let Some(floats) = first.floats() {
        let mut data = Vec::new();
        for value in values {
            let part = value.floats().filter(|part| part.dtype == floats.dtype);
            data.extend(part.ok_or_else(mixed)?.in_order(Order::RowMajor).data);
        }
        return Ok(rounded(shape, floats.dtype, data));
    }
    let tensors: Option<Vec<&Tensor>> = values.iter().map(|v| v.tensor()).collect();
    let tensors = tensors.ok_or_else(mixed)?;
    let own = tensors.first().ok_or_else(mixed)?;
    let data: TensorData =
        by_type!(own.data(), v => alike(v, &tensors).ok_or_else(mixed)?.concat().into());
    whole_value(shape, data)
}

/// A value of a strided view's elements, walked in row-major order of `axes`. Floats must lie as
/// ONNX counts.
pub(super) fn view(
    value: &Value,
    axes: &[usize],
    strides: &[usize],
    shape: Vec<usize>,
) -> Result<Value, OperandError> {
    match value {
        Value::Floats(floats) => {
            Ok(rounded(shape, floats.dtype, viewed(&floats.data, axes, strides)))
        }
        Value::Other(tensor) => {
            let data: TensorData = by_type!(tensor.data(), v => viewed(v, axes, strides).into());
            whole_value(shape, data)
        }
        Value::Sequence(_) => Err(OperandError::new("a tensor is wanted")),
    }
}

fn viewed<T: Copy>(data: &[T], axes: &[usize], strides: &[usize]) -> Vec<T> {
    let (Some((&length, outer)), Some((&stride, outer_strides))) =
        (axes.split_last(), strides.split_last())
    else {
        return data.to_vec();
    };
    let starts = offsets(outer, outer_strides);
    let mut elements = Vec::with_capacity(starts.len() * length);
    for start in starts {
        match stride {
            1 if length > 0 => elements.extend_from_slice(&data[start..][..length]),
            _ => elements.extend((0..length).map(|i| data[start + i * stride])),
        }
    }
    elements
}

fn picked<T: Copy>(sources: &[&[T]], at: &[usize]) -> Result<Vec<T>, OperandError> {
    at.iter()
        .map(|&number| {
            let mut rest = number;
            for source in sources {
                match source.get(rest) {
                    Some(&element) => return Ok(element),
                    None => rest -= source.len(),
                }
            }
            Err(OperandError::new(format!("there is no element {number}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_across_sources_of_one_type() {
        let of = |v: Vec<i64>| Value::from_tensor(Tensor::vector(v));
        let a = of(vec![1 << 40, 2]);
        let b = of(vec![3]);
        let got = pick(&[&a, &b], &[2, 0, 1], vec![3]).unwrap();
        assert_eq!(got.integers(), Some(vec![3, 1 << 40, 2]));
        assert!(pick(&[&a, &b], &[3], vec![1]).is_err());
        let c = Value::from_tensor(Tensor::vector(vec![true]));
        assert!(pick(&[&a, &c], &[0], vec![1]).is_err());
    }
}
