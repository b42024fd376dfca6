//! Functions of one element, or of two that stand at the same place.
//!
//! NaN goes through them as it does in ONNX Runtime.

use super::math;
use super::simd::per_isa;
use half::{bf16, f16};

/// A function of one element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unary {
    Abs,
    Ceil,
    /// Factor below zero, by which the element is divided first.
    Celu(f32),
    /// Lowest and highest answer.
    Clip(f32, f32),
    /// Factor below zero.
    Elu(f32),
    Erf,
    Exp,
    Floor,
    Gelu,
    GeluTanh,
    /// Slope and offset.
    HardSigmoid(f32, f32),
    HardSwish,
    Identity,
    /// Factor below zero.
    LeakyRelu(f32),
    Log,
    Mish,
    Neg,
    Reciprocal,
    Relu,
    /// To the nearest `bf16`.
    RoundToBf16,
    /// To the nearest `f16`.
    RoundToF16,
    /// Factor below zero and factor over all.
    Selu(f32, f32),
    Sigmoid,
    /// -1, 0 or 1.
    Sign,
    Softplus,
    Softsign,
    Sqrt,
    Tanh,
    /// Zero up to this.
    ThresholdedRelu(f32),
}

/// A function of two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Div,
    Max,
    Min,
    Mul,
    Pow,
    /// The first, times the second where the first is negative.
    PRelu,
    Sub,
}

per_isa! {
    /// Applies a closure in place; it is compiled into the loop for each instruction set.
    fn each[F: Fn(f32) -> f32](row: &mut [f32], f: F) = {
        for x in row.iter_mut() {
            *x = f(*x);
        }
    };
}

per_isa! {
    /// Combines two rows into the first.
    fn pairs[F: Fn(f32, f32) -> f32](row: &mut [f32], other: &[f32], f: F) = {
        for (x, &y) in row.iter_mut().zip(other) {
            *x = f(*x, y);
        }
    };
}

per_isa! {
    /// Combines three rows into the first.
    fn triples[F: Fn(f32, f32, f32) -> f32](row: &mut [f32], a: &[f32], b: &[f32], f: F) = {
        for ((x, &a), &b) in row.iter_mut().zip(a).zip(b) {
            *x = f(*x, a, b);
        }
    };
}

/// Applies the function to every element of the row.
pub(crate) fn unary(function: Unary, row: &mut [f32]) {
    match function {
        Unary::Abs => each(row, f32::abs),
        Unary::Ceil => each(row, f32::ceil),
        Unary::Celu(a) => {
            each(row, move |x| if x < 0.0 { a * (math::exp(x / a) - 1.0) } else { x })
        }
        Unary::Clip(low, high) => each(row, move |x| clip(x, low, high)),
        Unary::Elu(a) => each(row, move |x| if x < 0.0 { a * (math::exp(x) - 1.0) } else { x }),
        Unary::Erf => each(row, libm::erff),
        Unary::Exp => each(row, math::exp),
        Unary::Floor => each(row, f32::floor),
        Unary::Gelu => {
            each(row, |x| 0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2)))
        }
        Unary::GeluTanh => each(row, |x| {
            // 0.797 884 6 is sqrt(2 / pi); the approximation of Hendrycks and Gimpel (2016).
            let inner = 0.797_884_6 * 0.044_715f32.mul_add(x * x * x, x);
            0.5 * x * (1.0 + math::tanh(inner))
        }),
        Unary::HardSigmoid(a, b) => each(row, move |x| clip(a.mul_add(x, b), 0.0, 1.0)),
        Unary::HardSwish => each(row, |x| x * clip(x.mul_add(1.0 / 6.0, 0.5), 0.0, 1.0)),
        Unary::Identity => {}
        Unary::LeakyRelu(a) => each(row, move |x| if x < 0.0 { a * x } else { x }),
        Unary::Log => each(row, libm::logf),
        Unary::Mish => each(row, |x| x * math::tanh(softplus(x))),
        Unary::Neg => each(row, |x| -x),
        Unary::Reciprocal => each(row, |x| 1.0 / x),
        Unary::Relu => each(row, |x| if x < 0.0 { 0.0 } else { x }),
        Unary::RoundToBf16 => each(row, |x| bf16::from_f32(x).to_f32()),
        Unary::RoundToF16 => each(row, |x| f16::from_f32(x).to_f32()),
        Unary::Selu(a, g) => {
            each(row, move |x| if x > 0.0 { g * x } else { g * (a * math::exp(x) - a) })
        }
        Unary::Sigmoid => each(row, math::sigmoid),
        Unary::Sign => each(row, |x| if x == 0.0 || x.is_nan() { x } else { x.signum() }),
        Unary::Softplus => each(row, softplus),
        Unary::Softsign => each(row, |x| x / (1.0 + x.abs())),
        Unary::Sqrt => each(row, f32::sqrt),
        Unary::Tanh => each(row, math::tanh),
        // ONNX Runtime answers zero for NaN here, and only here.
        Unary::ThresholdedRelu(a) => each(row, move |x| if x > a { x } else { 0.0 }),
    }
}

/// Comparisons are false for NaN, which therefore stays.
#[inline(always)]
fn clip(x: f32, low: f32, high: f32) -> f32 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

#[inline(always)]
pub(crate) fn softplus(x: f32) -> f32 {
    // ln(1 + e^x), written so that the exponential never overflows.
    if x > 0.0 { x + libm::log1pf(math::exp(-x)) } else { libm::log1pf(math::exp(x)) }
}

/// Combines `row` with a value per element, or one for all of them. `swapped` puts the row's
/// elements second.
pub(crate) fn binary(function: Binary, row: &mut [f32], other: &[f32], swapped: bool) {
    match function {
        Binary::Add => both(row, other, |x, y| x + y),
        Binary::Mul => both(row, other, |x, y| x * y),
        Binary::Sub if swapped => both(row, other, |x, y| y - x),
        Binary::Sub => both(row, other, |x, y| x - y),
        Binary::Div if swapped => both(row, other, |x, y| y / x),
        Binary::Div => both(row, other, |x, y| x / y),
        Binary::Max if swapped => both(row, other, |x, y| larger(y, x)),
        Binary::Max => both(row, other, larger),
        Binary::Min if swapped => both(row, other, |x, y| smaller(y, x)),
        Binary::Min => both(row, other, smaller),
        Binary::Pow if swapped => both(row, other, |x, y| power(y, x)),
        Binary::Pow => both(row, other, power),
        Binary::PRelu if swapped => both(row, other, |x, y| prelu(y, x)),
        Binary::PRelu => both(row, other, prelu),
    }
}

#[inline(always)]
fn both<F: Fn(f32, f32) -> f32>(row: &mut [f32], other: &[f32], f: F) {
    match *other {
        [y] => each(row, move |x| f(x, y)),
        _ => pairs(row, other, f),
    }
}

/// NaN if either is; the first of two equals, which tells zeros apart.
#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if x >= y || x.is_nan() { x } else { y }
}

#[inline(always)]
fn smaller(x: f32, y: f32) -> f32 {
    if x <= y || x.is_nan() { x } else { y }
}

#[inline(always)]
fn prelu(x: f32, slope: f32) -> f32 {
    if x < 0.0 { slope * x } else { x }
}

#[inline(always)]
fn power(x: f32, exponent: f32) -> f32 {
    // Squares are common, and exact where `powf` need not be.
    if exponent == 2.0 { x * x } else { libm::powf(x, exponent) }
}

per_isa! {
    /// Batch normalisation at inference: a factor and an offset per channel, repeated over rows.
    fn affine[](rows: &mut [f32], factor: &[f32], offset: &[f32]) = {
        for row in rows.chunks_exact_mut(factor.len()) {
            for ((x, &a), &b) in row.iter_mut().zip(factor).zip(offset) {
                *x = x.mul_add(a, b);
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_goes_through_and_infinities_are_clipped() {
        let functions =
            [Unary::Relu, Unary::Clip(0.0, 6.0), Unary::LeakyRelu(0.1), Unary::HardSwish];
        for function in functions {
            let mut row = [f32::NAN, -1.0];
            unary(function, &mut row);
            assert!(row[0].is_nan(), "{function:?}");
        }
        let mut row = [f32::INFINITY, f32::NEG_INFINITY];
        unary(Unary::Clip(0.0, 6.0), &mut row);
        assert_eq!(row, [6.0, 0.0]);
        for function in [Binary::Max, Binary::Min] {
            let mut row = [f32::NAN, 1.0];
            binary(function, &mut row, &[1.0, f32::NAN], false);
            assert!(row[0].is_nan() && row[1].is_nan(), "{function:?}");
        }
    }
}
