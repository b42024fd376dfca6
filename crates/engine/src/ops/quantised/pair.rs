//! `QLinearAdd` and `QLinearMul`.

use super::super::{Attributes, Op};
use super::{Answers, Bytes, QuantParams, answer, broadcast, required, spread};
use crate::error::OperandError;
use crate::kernels::quantised::{IntegerRange, pairs};
use crate::value::Value;

enum Pair {
    Add,
    Mul,
}

pub(in crate::ops) fn parse(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let pair = if attributes.op_type() == "QLinearAdd" { Pair::Add } else { Pair::Mul };
    Ok(Some(Box::new(pair)))
}

impl Op for Pair {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let a = required(operands, 0)?;
        let b = required(operands, 3)?;
        let of_a = QuantParams::of(operands, 1, a)?;
        let of_b = QuantParams::of(operands, 4, b)?;
        let to = QuantParams::of(operands, 6, a)?;
        let shape = broadcast(a.shape(), b.shape())?;
        let range = to.range()?;
        let x: Vec<i16> = spread(Bytes::of(a)?.shifted(0), a.shape(), &shape);
        let y: Vec<i16> = spread(Bytes::of(b)?.shifted(0), b.shape(), &shape);
        let mut bits = vec![0; x.len()];
        match self {
            Self::Mul => multiply([(&x, of_a), (&y, of_b)], to, range, &mut bits),
            // ONNX Runtime adds the operand that is a single number to a row of others first.
            Self::Add if single(a.shape(), b.shape()) => {
                add([(&y, of_b), (&x, of_a)], to, range, &mut bits);
            }
            Self::Add => add([(&x, of_a), (&y, of_b)], to, range, &mut bits),
        }
        answer(shape, to.dtype, bits)
    }
}

/// Whether `a` is one number along the last axis on which `b` is more than one.
fn single(a: &[usize], b: &[usize]) -> bool {
    let last = b.iter().rev().position(|&length| length > 1);
    let ends_before =
        |from_end: usize| a.iter().rev().take(from_end + 1).all(|&length| length == 1);
    last.is_some_and(ends_before)
}

/// The second operand is added to what the zero points come to, the first one to both.
fn add(
    [(x, a), (y, b)]: [(&[i16], QuantParams); 2],
    to: QuantParams,
    range: IntegerRange,
    bits: &mut [u8],
) {
    let by_a = a.scale / to.scale;
    let by_b = b.scale / to.scale;
    let rest = to.zero as f32 - by_a.mul_add(a.zero as f32, by_b * b.zero as f32);
    pairs(x, y, bits, move |x, y| {
        range.converted((x as f32).mul_add(by_a, (y as f32).mul_add(by_b, rest)))
    });
}

fn multiply(
    [(x, a), (y, b)]: [(&[i16], QuantParams); 2],
    to: QuantParams,
    range: IntegerRange,
    bits: &mut [u8],
) {
    let factor = a.scale * b.scale / to.scale;
    pairs(x, y, bits, move |x, y| {
        range.converted(((x - a.zero) * (y - b.zero)) as f32 * factor + to.zero as f32)
    });
}
