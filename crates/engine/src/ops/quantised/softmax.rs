//! `QLinearSoftmax`: exponentials from a table, as far apart as elements are from the largest.

use super::super::places::axis;
use super::super::{Attributes, Op};
use super::{Answers, Bytes, QuantParams, answer, required};
use crate::error::OperandError;
use crate::value::Value;

/// How many powers of e ONNX Runtime leaves free below the largest float.
const RESERVE: f64 = 5.0;

struct Softmax {
    axis: i64,
    /// Before opset 13 all axes from `axis` on count as one.
    flattens: bool,
}

pub(in crate::ops) fn parse(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let flattens = attributes.int("opset", 13) < 13;
    let axis = attributes.int("axis", if flattens { 1 } else { -1 });
    Ok(Some(Box::new(Softmax { axis, flattens })))
}

impl Op for Softmax {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let input = required(operands, 0)?;
        let from = QuantParams::of(operands, 1, input)?;
        let to = QuantParams::of(operands, 3, input)?;
        let shape = input.shape().to_vec();
        let axis = axis(self.axis, shape.len())?;
        let inner: usize = shape[axis + 1..].iter().product();
        let (length, stride) =
            if self.flattens { (shape[axis] * inner, 1) } else { (shape[axis], inner) };
        let elements = Bytes::of(input)?.shifted(0);
        let powers = powers(from.scale, length);
        let mut bits = vec![0; elements.len()];
        let block = (length * stride).max(1);
        for (elements, bits) in elements.chunks_exact(block).zip(bits.chunks_exact_mut(block)) {
            for start in 0..stride {
                let row: Vec<i16> = elements[start..].iter().step_by(stride).copied().collect();
                let answers = normalised(&row, &powers, to)?;
                bits[start..].iter_mut().step_by(stride).zip(answers).for_each(|(b, x)| *b = x);
            }
        }
        answer(shape, to.dtype, bits)
    }
}

/// Exponentials by how far an element lies below the largest: first that of the largest itself,
/// which is as large as the sum of a row allows.
fn powers(scale: f32, length: usize) -> Vec<f32> {
    let room = f64::from(libm::logf(f32::MAX / length as f32));
    let shift = (room - RESERVE).max(0.0) / f64::from(scale);
    (0..256).map(|below| libm::exp((shift - f64::from(below)) * f64::from(scale)) as f32).collect()
}

/// One row's answers.
fn normalised(row: &[i16], powers: &[f32], to: QuantParams) -> Result<Vec<u8>, OperandError> {
    let top = row.iter().copied().max().unwrap_or(0);
    let exponentials: Vec<f32> =
        row.iter().map(|&x| powers[usize::from((top - x).unsigned_abs())]).collect();
    let sum: f32 = exponentials.iter().sum();
    let steps = (1.0 / to.scale).floor();
    let range = to.range()?;
    Ok(exponentials.iter().map(|power| range.nearest(power * steps / sum) as u8).collect())
}
