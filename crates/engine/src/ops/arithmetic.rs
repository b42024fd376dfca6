//! Arithmetic on whole numbers and doubles, which the float kernels do not take.
//!
//! Whole numbers wrap around where they overflow; a division of them by zero is an error.

use super::cast::{Exact, Number, cast};
use super::elements::{Element, alike, by_type};
use super::operands::{Answers, one, operand, required, whole_value};
use super::places::{broadcast, spread_offsets};
use super::{Attributes, Op};
use crate::error::OperandError;
use crate::kernels::elementwise::{Binary, Unary};
use crate::value::Value;
use faultlens_core::{DType, Tensor, TensorData};
use std::cmp::Ordering;

/// A function of two elements; `None` where it has no answer.
type Pair<'a> = dyn Fn(Exact, Exact) -> Option<Exact> + 'a;

/// A function of two values of whole numbers or doubles; `None` for other operands.
pub(super) fn binary(function: Binary, a: &Value, b: &Value) -> Answers {
    if function == Binary::Pow {
        return power(a, b);
    }
    let (Some(x), Some(y)) = (a.tensor(), b.tensor()) else { return Ok(None) };
    one(pairwise(x, y, &|x, y| combine(function, x, y))?)
}

fn combine(function: Binary, x: Exact, y: Exact) -> Option<Exact> {
    let (Some(x), Some(y)) = (x.whole(), y.whole()) else {
        return Some(Exact::Float(on_doubles(function, x.double(), y.double())));
    };
    let answer = match function {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x.checked_div(y)?,
        Binary::Max => x.max(y),
        Binary::Min => x.min(y),
        Binary::PRelu => {
            if x < 0 {
                x * y
            } else {
                x
            }
        }
        Binary::Pow => return None,
    };
    Some(Exact::wrapped(answer))
}

fn on_doubles(function: Binary, x: f64, y: f64) -> f64 {
    match function {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::Max => {
            if x >= y || x.is_nan() {
                x
            } else {
                y
            }
        }
        Binary::Min => {
            if x <= y || x.is_nan() {
                x
            } else {
                y
            }
        }
        Binary::PRelu => {
            if x < 0.0 {
                x * y
            } else {
                x
            }
        }
        Binary::Pow => libm::pow(x, y),
    }
}

/// Powers of anything to anything: computed as doubles, in the type of the base.
fn power(base: &Value, exponent: &Value) -> Answers {
    let Some(dtype) = base.dtype() else { return Ok(None) };
    let base = cast(base, DType::F64)?;
    let exponent = cast(exponent, DType::F64)?;
    let (Some(x), Some(y)) = (base.tensor(), exponent.tensor()) else { return Ok(None) };
    let pow =
        |x: Exact, y: Exact| Some(Exact::Float(on_doubles(Binary::Pow, x.double(), y.double())));
    one(cast(&pairwise(x, y, &pow)?, dtype)?)
}

/// A function of one element, where it has an answer for whole numbers or doubles.
pub(super) fn unary(function: Unary, value: &Value) -> Answers {
    let known = matches!(function, Unary::Abs | Unary::Neg | Unary::Relu | Unary::Sign);
    let Some(tensor) = value.tensor().filter(|_| known) else { return Ok(None) };
    let answer = |x: Exact| match x.whole() {
        Some(x) => Exact::wrapped(match function {
            Unary::Abs => x.abs(),
            Unary::Neg => -x,
            Unary::Relu => x.max(0),
            _ => x.signum(),
        }),
        None => Exact::Float(match (function, x.double()) {
            (Unary::Abs, x) => x.abs(),
            (Unary::Neg, x) => -x,
            (Unary::Relu, x) => {
                if x < 0.0 {
                    0.0
                } else {
                    x
                }
            }
            (_, x) => {
                if x == 0.0 || x.is_nan() {
                    x
                } else {
                    x.signum()
                }
            }
        }),
    };
    fn each<T: Number>(elements: &[T], answer: impl Fn(Exact) -> Exact) -> Vec<T> {
        elements.iter().map(|x| T::from_exact(answer(x.exact()))).collect()
    }
    let data: TensorData = by_type!(tensor.data(), v => each(v, answer).into());
    one(whole_value(tensor.shape().to_vec(), data)?)
}

/// `Clip` of whole numbers and doubles between limits that may be left out.
pub(super) fn clip(operands: &[Option<&Value>]) -> Answers {
    let Some(mut clipped) = required(operands, 0)?.tensor().cloned() else { return Ok(None) };
    for (at, wins) in [(1, Ordering::Greater), (2, Ordering::Less)] {
        let Some(limit) = operand(operands, at) else { continue };
        let Some(limit) = limit.tensor() else { return Ok(None) };
        let pair = move |x: Exact, limit: Exact| {
            Some(if limit.order(x) == Some(wins) { limit } else { x })
        };
        let Value::Other(next) = pairwise(&clipped, limit, &pair)? else { return Ok(None) };
        clipped = next;
    }
    one(Value::Other(clipped))
}

/// `Mod` of whole numbers; rten computes that of floats.
struct Mod {
    /// Whether the rest has the sign of the dividend, else of the divisor.
    of_dividend: bool,
}

pub(super) fn parse_mod(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Mod { of_dividend: attributes.int("fmod", 0) != 0 })))
}

impl Op for Mod {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let a = required(operands, 0)?.tensor();
        let b = required(operands, 1)?.tensor();
        let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
        let of_dividend = self.of_dividend;
        one(pairwise(a, b, &move |x, y| {
            let (Some(x), Some(y)) = (x.whole(), y.whole()) else {
                return Some(Exact::Float(libm::fmod(x.double(), y.double())));
            };
            let rest = x.checked_rem(y)?;
            let crosses = !of_dividend && rest != 0 && (rest < 0) != (y < 0);
            Some(Exact::wrapped(if crosses { rest + y } else { rest }))
        })?)
    }
}

/// Applies a function to two tensors of one type, broadcast to each other.
fn pairwise(a: &Tensor, b: &Tensor, pair: &Pair<'_>) -> Result<Value, OperandError> {
    let shapes = [a.shape(), b.shape()];
    let operand_error =
        || OperandError::new(format!("shapes {:?} and {:?} do not fit", a.shape(), b.shape()));
    let shape = broadcast(&shapes).ok_or_else(operand_error)?;
    let places = shapes.map(|own| spread_offsets(own, &shape));
    let data: TensorData = by_type!(a.data(), v => paired(v, [a, b], &places, pair)?.into());
    whole_value(shape, data)
}

fn paired<T: Element + Number>(
    first: &[T],
    tensors: [&Tensor; 2],
    places: &[Vec<usize>; 2],
    pair: &Pair<'_>,
) -> Result<Vec<T>, OperandError> {
    let Some(both) = alike(first, &tensors) else {
        let [a, b] = tensors.map(|tensor| tensor.dtype().name());
        return Err(OperandError::new(format!("operands of types {a} and {b} do not mix")));
    };
    let answers = places[0]
        .iter()
        .zip(&places[1])
        .map(|(&i, &j)| pair(both[0][i].exact(), both[1][j].exact()).map(T::from_exact));
    let answers: Option<Vec<T>> = answers.collect();
    answers.ok_or_else(|| OperandError::new("a whole number is divided by zero"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(v: Vec<i64>) -> Value {
        Value::from_tensor(Tensor::vector(v))
    }

    fn answer(function: Binary, a: i64, b: i64) -> Option<Vec<i64>> {
        let values = binary(function, &value(vec![a]), &value(vec![b])).ok()??;
        values[0].as_ref()?.integers()
    }

    #[test]
    fn whole_numbers_have_all_their_bits_and_wrap() {
        assert_eq!(answer(Binary::Add, 1 << 40, 1), Some(vec![(1 << 40) + 1]));
        assert_eq!(answer(Binary::Add, i64::MAX, 1), Some(vec![i64::MIN]));
        assert_eq!(answer(Binary::Div, i64::MIN, -1), Some(vec![i64::MIN]));
        assert_eq!(answer(Binary::Div, -7, 2), Some(vec![-3]));
        assert_eq!(answer(Binary::Div, 1, 0), None);
        assert_eq!(answer(Binary::Pow, -2, 3), Some(vec![-8]));
    }

    #[test]
    fn unsigned_numbers_keep_their_highest_bit() {
        let of = |x: u64| Value::from_tensor(Tensor::vector(vec![x]));
        let got = binary(Binary::Max, &of(u64::MAX), &of(1)).unwrap().unwrap();
        let got = got[0].as_ref().unwrap().to_tensor().unwrap();
        assert_eq!(got.data(), &TensorData::U64(vec![u64::MAX]));
    }

    #[test]
    fn clipping_beyond_32_bits() {
        let x = value(vec![-(1 << 50), 1 << 50]);
        let low = value(vec![-(1 << 40)]);
        let got = clip(&[Some(&x), Some(&low)]).unwrap().unwrap();
        assert_eq!(got[0].as_ref().unwrap().integers(), Some(vec![-(1 << 40), 1 << 50]));
    }
}
