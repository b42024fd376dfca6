//! Comparisons, and what kind of number an element is: operators that answer true or false.

use super::elements::{Element, alike, by_type};
use super::operands::{Answers, one, required, whole_value};
use super::places::{broadcast, spread_offsets};
use super::{Attributes, Op};
use crate::error::OperandError;
use crate::value::Value;
use faultlens_core::TensorData;
use std::cmp::Ordering;

/// The orders of two elements for which a comparison holds. NaN has none, so nothing does.
struct Compare(&'static [Ordering]);

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    use Ordering::{Equal, Greater, Less};
    let holds: &'static [Ordering] = match attributes.op_type() {
        "Equal" => &[Equal],
        "Greater" => &[Greater],
        "GreaterOrEqual" => &[Greater, Equal],
        "Less" => &[Less],
        _ => &[Less, Equal],
    };
    Ok(Some(Box::new(Compare(holds))))
}

impl Compare {
    fn each<T: PartialOrd>(&self, both: [&[T]; 2], places: &[Vec<usize>; 2]) -> Vec<bool> {
        let pairs = places[0].iter().zip(&places[1]);
        let order = pairs.map(|(&i, &j)| both[0][i].partial_cmp(&both[1][j]));
        order.map(|order| order.is_some_and(|o| self.0.contains(&o))).collect()
    }

    fn of_type<T: Element>(
        &self,
        first: &[T],
        tensors: [&faultlens_core::Tensor; 2],
        places: &[Vec<usize>; 2],
    ) -> Result<Vec<bool>, OperandError> {
        let both = alike(first, &tensors);
        let both = both.ok_or_else(|| OperandError::new("its operands differ in type"))?;
        Ok(self.each([both[0], both[1]], places))
    }
}

impl Op for Compare {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let a = required(operands, 0)?;
        let b = required(operands, 1)?;
        let shapes = [a.shape(), b.shape()];
        let operand_error =
            || OperandError::new(format!("shapes {:?} and {:?} do not fit", a.shape(), b.shape()));
        let shape = broadcast(&shapes).ok_or_else(operand_error)?;
        let places = shapes.map(|own| spread_offsets(own, &shape));
        let answers = match (a, b) {
            (Value::Floats(a), Value::Floats(b)) => self.each([&a.data, &b.data], &places),
            (Value::Other(a), Value::Other(b)) => {
                by_type!(a.data(), v => self.of_type(v, [a, b], &places)?)
            }
            _ => return Err(OperandError::new("its operands differ in type")),
        };
        one(whole_value(shape, answers)?)
    }
}

/// `IsNaN` and `IsInf`.
struct FloatClass {
    nan: bool,
    positive: bool,
    negative: bool,
}

pub(super) fn parse_float_class(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let nan = attributes.op_type() == "IsNaN";
    let positive = !nan && attributes.int("detect_positive", 1) != 0;
    let negative = !nan && attributes.int("detect_negative", 1) != 0;
    Ok(Some(Box::new(FloatClass { nan, positive, negative })))
}

impl FloatClass {
    fn is(&self, x: f64) -> bool {
        (self.nan && x.is_nan())
            || (self.positive && x == f64::INFINITY)
            || (self.negative && x == f64::NEG_INFINITY)
    }
}

impl Op for FloatClass {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        let answers: Vec<bool> = match value {
            Value::Floats(floats) => floats.data.iter().map(|&x| self.is(x.into())).collect(),
            Value::Other(tensor) => match tensor.data() {
                TensorData::F64(v) => v.iter().map(|&x| self.is(x)).collect(),
                other => {
                    return Err(OperandError::new(format!(
                        "{} is never that",
                        other.dtype().name()
                    )));
                }
            },
            Value::Sequence(_) => return Err(OperandError::new("a tensor is wanted")),
        };
        one(whole_value(value.shape().to_vec(), answers)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Tensor;

    #[test]
    fn large_whole_numbers_are_told_apart() {
        let of = |x: i64| Value::from_tensor(Tensor::vector(vec![x]));
        let equal = Compare(&[Ordering::Equal]);
        let answers = equal.whole(&[Some(&of(1 << 40)), Some(&of((1 << 40) + 1))]);
        let answer = answers.unwrap().unwrap()[0].as_ref().unwrap().to_tensor().unwrap();
        assert_eq!(answer.data(), &TensorData::Bool(vec![false]));
    }
}
