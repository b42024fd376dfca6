//! `Loop` that never turns, for which rten has no answer; it runs all others.

use super::cast::cast;
use super::operands::{Answers, operand, whole_value};
use super::{Attributes, Op};
use crate::error::OperandError;
use crate::onnx::{self, ValueInfoProto};
use crate::value::Value;
use faultlens_core::{DType, TensorData};

struct Loop {
    /// Type and shape of one turn's part of each collected output; free axes have length zero.
    collected: Vec<(DType, Vec<usize>)>,
    carried: usize,
}

pub(super) fn parse_loop(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let Some(body) = attributes.graph("body") else {
        return Err(OperandError::new("attribute body is missing"));
    };
    let carried = attributes.arity().0.saturating_sub(2);
    let collected = body.output.iter().skip(1 + carried).map(declared).collect();
    Ok(Some(Box::new(Loop { collected, carried })))
}

fn declared(output: &ValueInfoProto) -> (DType, Vec<usize>) {
    let tensor = output.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
    let dtype = tensor.and_then(|t| onnx::dtype(t.elem_type)).unwrap_or(DType::F32);
    let axes = tensor.and_then(|t| t.shape.as_ref()).map_or(&[][..], |shape| &shape.dim);
    // An axis without a fixed length is empty where the loop never turned.
    let lengths = axes
        .iter()
        .map(|axis| axis.dim_value.and_then(|length| usize::try_from(length).ok()).unwrap_or(0));
    (dtype, lengths.collect())
}

impl Op for Loop {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let turns = operand(operands, 0).and_then(Value::integers).and_then(|n| n.first().copied());
        let goes_on = operand(operands, 1).and_then(Value::tensor).is_none_or(
            |tensor| !matches!(tensor.data(), TensorData::Bool(v) if v.first() == Some(&false)),
        );
        if turns.is_none_or(|n| n > 0) && goes_on {
            return Ok(None);
        }
        let mut answers: Vec<Option<Value>> =
            (0..self.carried).map(|i| operand(operands, 2 + i).cloned()).collect();
        for (dtype, part) in &self.collected {
            let mut shape = vec![0];
            shape.extend(part);
            answers.push(Some(cast(&whole_value(shape, Vec::<bool>::new())?, *dtype)?));
        }
        Ok(Some(answers))
    }
}
