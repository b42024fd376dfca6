//! Functions of one element. At a kink they have the slope that PyTorch gives them.

use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::elementwise::{Unary, softplus};
use crate::kernels::math::{exp, sigmoid, tanh};
use crate::ops::elementwise;
use crate::value::Value;
use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// Any function that stands in its operator's attributes.
pub(super) fn unary(backward: &mut Backward<'_>) -> Gradients {
    let function = elementwise::unary(&backward.attributes);
    backpropagate(
        backward,
        function.ok_or_else(|| OperandError::new("it is no function of one element"))?,
    )
}

/// `Clip`, whose limits are attributes or operands. Limits have no gradient, and at a limit nothing
/// passes: of all slopes that would do there, PyTorch takes the smallest (from 2.15 on for `clamp`,
/// always for `relu6`).
pub(super) fn clip(backward: &mut Backward<'_>) -> Gradients {
    if backward.wants(1) || backward.wants(2) {
        return Err(OperandError::new("its limits have no gradient"));
    }
    let operands: Vec<Option<&Value>> =
        backward.operands.iter().map(|slot| slot.map(|slot| &slot.value)).collect();
    let function =
        elementwise::unary(&backward.attributes).or_else(|| elementwise::clip(&operands));
    backpropagate(backward, function.ok_or_else(|| OperandError::new("its limits must be floats"))?)
}

/// `Identity` and what is one here: `Dropout` when nothing is trained, and `Cast`, whose rounding
/// is left out of account as in PyTorch.
pub(super) fn pass(backward: &mut Backward<'_>) -> Gradients {
    match backward.gradient(0) {
        Some(gradient) => Ok(backward.only(0, gradient)),
        None => Ok(Vec::new()),
    }
}

fn backpropagate(backward: &mut Backward<'_>, function: Unary) -> Gradients {
    let order = backward.operand_order(0);
    let mut gradient = backward.gradient_in(order)?;
    let g = &mut gradient.data;
    let x = backward.floats(0, order)?;
    match function {
        Unary::Exp
        | Unary::Reciprocal
        | Unary::Relu
        | Unary::Sigmoid
        | Unary::Sqrt
        | Unary::Tanh => by_result(backward, function, g, &backward.result(0, order)?.data),
        Unary::Elu(_) | Unary::Celu(_) | Unary::Selu(..) | Unary::Gelu | Unary::GeluTanh => {
            by_exponential(backward, function, g, &x.data);
        }
        Unary::Ceil | Unary::Floor | Unary::Sign => {
            return Err(OperandError::new("its slope is zero everywhere"));
        }
        _ => by_operand(backward, function, g, &x.data),
    }
    Ok(backward.only(0, gradient))
}

/// Functions whose slope follows from what they answered.
fn by_result(backward: &Backward<'_>, function: Unary, g: &mut [f32], y: &[f32]) {
    match function {
        // Written in terms of the answer y, which is kept, so that no function is computed again.
        Unary::Exp => backward.pairs(g, y, |g, y| g * y),
        Unary::Reciprocal => backward.pairs(g, y, |g, y| -g * y * y),
        Unary::Sigmoid => backward.pairs(g, y, |g, y| g * y * (1.0 - y)),
        Unary::Sqrt => backward.pairs(g, y, |g, y| g / (2.0 * y)),
        Unary::Tanh => backward.pairs(g, y, |g, y| g * (1.0 - y * y)),
        Unary::Relu => backward.pairs(g, y, |g, y| if y <= 0.0 { 0.0 } else { g }),
        other => unreachable!("{other:?} does not follow from its result"),
    }
}

/// Activations that bend smoothly into zero or a negative constant.
fn by_exponential(backward: &Backward<'_>, function: Unary, g: &mut [f32], x: &[f32]) {
    match function {
        Unary::Celu(a) => {
            backward.pairs(g, x, move |g, x| if x > 0.0 { g } else { g * exp(x / a) })
        }
        Unary::Elu(a) => backward.pairs(g, x, move |g, x| if x > 0.0 { g } else { g * a * exp(x) }),
        Unary::Selu(a, factor) => backward
            .pairs(g, x, move |g, x| if x > 0.0 { g * factor } else { g * factor * a * exp(x) }),
        Unary::GeluTanh => backward.pairs(g, x, |g, x| {
            const ROOT: f32 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
            // y = x/2 · (1 + tanh(u)), u = sqrt(2/π) · (x + 0.044715 x³).
            let t = tanh(ROOT * 0.044_715f32.mul_add(x * x * x, x));
            let inner = ROOT * (3.0 * 0.044_715f32).mul_add(x * x, 1.0);
            g * 0.5 * (1.0 + t + x * (1.0 - t * t) * inner)
        }),
        Unary::Gelu => backward.pairs(g, x, |g, x| {
            // y = x · Φ(x), so that dy = Φ(x) + x · φ(x).
            let below = 0.5 * (1.0 + libm::erff(x * FRAC_1_SQRT_2));
            let density = 0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * exp(-0.5 * x * x);
            g * x.mul_add(density, below)
        }),
        other => unreachable!("{other:?} has no exponential"),
    }
}

/// All other functions.
fn by_operand(backward: &Backward<'_>, function: Unary, g: &mut [f32], x: &[f32]) {
    match function {
        Unary::Abs => backward.pairs(g, x, |g, x| {
            // NaN, and the kink at zero, are their own slope.
            let slope = if x > 0.0 { 1.0 } else { x };
            g * if x < 0.0 { -1.0 } else { slope }
        }),
        Unary::Clip(low, high) => {
            backward.pairs(g, x, move |g, x| if x <= low || x >= high { 0.0 } else { g })
        }
        Unary::Erf => backward.pairs(g, x, |g, x| g * FRAC_2_SQRT_PI * exp(-x * x)),
        Unary::HardSigmoid(a, b) => backward.pairs(g, x, move |g, x| {
            let y = a.mul_add(x, b);
            if y <= 0.0 || y >= 1.0 { 0.0 } else { g * a }
        }),
        Unary::HardSwish => backward.pairs(g, x, |g, x| {
            let slope = if x >= 3.0 { 1.0 } else { x.mul_add(1.0 / 3.0, 0.5) };
            if x <= -3.0 { 0.0 } else { g * slope }
        }),
        Unary::LeakyRelu(a) => backward.pairs(g, x, move |g, x| if x > 0.0 { g } else { g * a }),
        Unary::Log => backward.pairs(g, x, |g, x| g / x),
        Unary::Mish => backward.pairs(g, x, |g, x| {
            // y = x · tanh(softplus x), and softplus has the slope sigmoid x.
            let t = tanh(softplus(x));
            g * (x * sigmoid(x)).mul_add(1.0 - t * t, t)
        }),
        Unary::Neg => backward.pairs(g, x, |g, _| -g),
        Unary::Softplus => backward.pairs(g, x, |g, x| g * sigmoid(x)),
        Unary::Softsign => backward.pairs(g, x, |g, x| g / ((1.0 + x.abs()) * (1.0 + x.abs()))),
        Unary::ThresholdedRelu(a) => {
            backward.pairs(g, x, move |g, x| if x > a { g } else { 0.0 });
        }
        // Rounding to a narrower type passes gradients on.
        Unary::Identity | Unary::RoundToF16 | Unary::RoundToBf16 => {}
        other => unreachable!("{other:?} stands elsewhere"),
    }
}
