//! What an operator is given and what it answers, with errors that say which operand is wrong.

use crate::error::OperandError;
use crate::kernels::grid::{Floats, Order};
use crate::value::Value;
use faultlens_core::{DType, Tensor, TensorData};

/// What `Op::whole` answers: a value per output, or `None` to hand over to rten.
pub(super) type Answers = Result<Option<Vec<Option<Value>>>, OperandError>;

/// The answer of an operator with one output.
pub(super) fn one(value: Value) -> Answers {
    Ok(Some(vec![Some(value)]))
}

/// An operand that may have been left out.
pub(super) fn operand<'a>(operands: &[Option<&'a Value>], at: usize) -> Option<&'a Value> {
    operands.get(at).copied().flatten()
}

/// An operand without which the operator means nothing.
pub(super) fn required<'a>(
    operands: &[Option<&'a Value>],
    at: usize,
) -> Result<&'a Value, OperandError> {
    operand(operands, at).ok_or_else(|| OperandError::new(format!("operand {at} is missing")))
}

/// A float operand as ONNX counts; `None` where it is left out.
pub(super) fn floats<'a>(
    operands: &[Option<&'a Value>],
    at: usize,
) -> Result<Option<&'a Floats>, OperandError> {
    match operand(operands, at).map(Value::floats) {
        None => Ok(None),
        Some(Some(floats)) => Ok(Some(floats)),
        Some(None) => Err(OperandError::new(format!("operand {at} must be floats"))),
    }
}

/// The value as ONNX counts its elements.
pub(super) fn row_major(value: &Value) -> Value {
    match value {
        Value::Floats(floats) => Value::Floats(floats.in_order(Order::RowMajor)),
        other => other.clone(),
    }
}

/// A value of floats that was computed in 32 bits, rounded to the type that the model stores.
pub(super) fn rounded(shape: Vec<usize>, dtype: DType, data: Vec<f32>) -> Value {
    let mut floats = Floats { shape, order: Order::RowMajor, dtype, data };
    crate::step::round(&mut floats);
    Value::Floats(floats)
}

/// A value of anything but floats.
pub(super) fn whole_value(
    shape: Vec<usize>,
    data: impl Into<TensorData>,
) -> Result<Value, OperandError> {
    Tensor::new(shape, data).map(Value::Other).map_err(|e| OperandError::new(e.to_string()))
}
