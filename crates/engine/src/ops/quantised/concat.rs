//! `QLinearConcat`: operands of different scales one behind the other.

use super::super::places::axis;
use super::super::{Attributes, Op};
use super::{Answers, Bytes, QuantParams, answer, required, table};
use crate::error::OperandError;
use crate::value::Value;

struct Concat {
    axis: i64,
    operands: usize,
}

/// Scale and zero point of the answer, then elements, scale and zero point of each operand.
pub(in crate::ops) fn parse(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let (operands, _) = attributes.arity();
    if operands < 5 || operands % 3 != 2 {
        return Err(OperandError::new("every operand needs a scale and a zero point"));
    }
    Ok(Some(Box::new(Concat { axis: attributes.int("axis", 0), operands })))
}

impl Op for Concat {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let first = required(operands, 2)?;
        let to = QuantParams::of(operands, 0, first)?;
        let mut shape = first.shape().to_vec();
        let axis = axis(self.axis, shape.len())?;
        shape[axis] = 0;
        let mut parts: Vec<(Vec<u8>, usize)> = Vec::new();
        for at in (2..self.operands).step_by(3) {
            let part = required(operands, at)?;
            let own = part.shape();
            let fits =
                own.len() == shape.len() && (0..own.len()).all(|a| a == axis || own[a] == shape[a]);
            if !fits {
                return Err(OperandError::new(format!("{own:?} does not fit behind {shape:?}")));
            }
            shape[axis] += own[axis];
            let from = QuantParams::of(operands, at + 1, part)?;
            let same = std::array::from_fn(|bits| bits as u8);
            let table = if from == to { same } else { table::table(from, to, |x| x)? };
            let bits = Bytes::of(part)?.through(&table);
            parts.push((bits, own[axis..].iter().product()));
        }
        let outer: usize = shape[..axis].iter().product();
        let mut bits = Vec::with_capacity(shape.iter().product());
        for row in 0..outer {
            for (part, length) in &parts {
                bits.extend_from_slice(&part[row * length..][..*length]);
            }
        }
        answer(shape, to.dtype, bits)
    }
}
