//! Values on their way to rten and back.

use crate::error::OperandError;
use crate::kernels::grid::{Floats, Order};
use crate::value::Value;
use faultlens_core::{DType, Tensor, TensorData};
use rten_tensor::prelude::*;

/// A value as rten takes it: floats in 32 bits, whole numbers in 8 or 32.
pub(super) fn to_rten(value: &Value) -> Result<rten::Value, OperandError> {
    fn tensor<T>(shape: &[usize], data: Vec<T>) -> Result<rten::Value, OperandError>
    where
        rten::Value: From<rten_tensor::Tensor<T>>,
    {
        rten::Value::from_shape(shape, data).map_err(|e| OperandError::new(e.to_string()))
    }
    let value = match value {
        Value::Sequence(sequence) => return Ok(sequence.clone().into()),
        Value::Floats(floats) => {
            return tensor(&floats.shape, floats.in_order(Order::RowMajor).data);
        }
        Value::Other(tensor) => tensor,
    };
    let shape = value.shape();
    match value.data() {
        TensorData::F64(v) => tensor(shape, v.iter().map(|&x| x as f32).collect()),
        TensorData::I8(v) => tensor(shape, v.clone()),
        TensorData::U8(v) => tensor(shape, v.clone()),
        TensorData::I32(v) => tensor(shape, v.clone()),
        TensorData::I64(v) => tensor(shape, v.iter().map(|&x| saturate(x)).collect()),
        TensorData::Bool(v) => tensor(shape, v.iter().map(|&x| i32::from(x)).collect()),
        other => {
            Err(OperandError::new(format!("it cannot take {} operands", other.dtype().name())))
        }
    }
}

/// Ends such as "the largest integer" in slices mean the same in 32 bits.
fn saturate(x: i64) -> i32 {
    x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// What rten answered, in the type that ONNX gives it.
pub(super) fn from_rten(value: rten::Value, dtype: Option<DType>) -> Result<Value, OperandError> {
    let operand_error = |e: faultlens_core::TensorError| OperandError::new(e.to_string());
    match value {
        // Computed in single precision, as all that rten does.
        rten::Value::FloatTensor(t) if dtype == Some(DType::F64) => {
            let doubles: Vec<f64> = t.to_vec().into_iter().map(f64::from).collect();
            Tensor::new(t.shape().to_vec(), doubles).map(Value::Other).map_err(operand_error)
        }
        rten::Value::FloatTensor(t) => {
            let dtype = dtype.filter(|d| matches!(d, DType::F16 | DType::BF16));
            let shape = t.shape().to_vec();
            let dtype = dtype.unwrap_or(DType::F32);
            let mut floats = Floats { shape, order: Order::RowMajor, dtype, data: t.to_vec() };
            crate::step::round(&mut floats);
            Ok(Value::Floats(floats))
        }
        rten::Value::Int32Tensor(t) => {
            let shape = t.shape().to_vec();
            let data = t.to_vec();
            let data: TensorData = match dtype {
                Some(DType::I64) | None => {
                    data.into_iter().map(i64::from).collect::<Vec<_>>().into()
                }
                Some(DType::Bool) => data.into_iter().map(|x| x != 0).collect::<Vec<_>>().into(),
                _ => data.into(),
            };
            Tensor::new(shape, data).map(Value::Other).map_err(operand_error)
        }
        rten::Value::Int8Tensor(t) => {
            Tensor::new(t.shape().to_vec(), t.to_vec()).map(Value::Other).map_err(operand_error)
        }
        rten::Value::UInt8Tensor(t) => {
            Tensor::new(t.shape().to_vec(), t.to_vec()).map(Value::Other).map_err(operand_error)
        }
        rten::Value::Sequence(s) => Ok(Value::Sequence(s)),
        _ => Err(OperandError::new("rten answered a kind of value that Faultlens does not know")),
    }
}
