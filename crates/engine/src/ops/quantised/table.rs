//! Functions of one element: with 256 elements to meet, each is a table.

use super::super::{Attributes, Op};
use super::{Answers, Bytes, QuantParams, answer, required};
use crate::error::OperandError;
use crate::kernels::math::sigmoid;
use crate::value::Value;
use faultlens_core::DType;

enum Function {
    /// Factor below zero.
    LeakyRelu(f32),
    Sigmoid,
}

pub(in crate::ops) fn parse(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let function = match attributes.op_type() {
        "QLinearLeakyRelu" => Function::LeakyRelu(attributes.float("alpha", 0.01)),
        _ => Function::Sigmoid,
    };
    Ok(Some(Box::new(function)))
}

impl Op for Function {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let input = required(operands, 0)?;
        let from = QuantParams::of(operands, 1, input)?;
        let to = QuantParams::of(operands, 3, input)?;
        let table = match *self {
            Self::LeakyRelu(slope) => table(from, to, |x| if x >= 0.0 { x } else { slope * x }),
            Self::Sigmoid => table(from, to, sigmoid),
        }?;
        answer(input.shape().to_vec(), to.dtype, Bytes::of(input)?.through(&table))
    }
}

/// The function's answer to every element, by the element's bits.
pub(super) fn table(
    from: QuantParams,
    to: QuantParams,
    function: impl Fn(f32) -> f32,
) -> Result<[u8; 256], OperandError> {
    let range = to.range()?;
    Ok(std::array::from_fn(|bits| {
        let element = match from.dtype {
            DType::I8 => i32::from(bits as u8 as i8),
            _ => bits as i32,
        };
        range.nearest(function(from.real(element)) / to.scale) as u8
    }))
}
