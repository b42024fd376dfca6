//! Functions of several elements at the same place, whose operands may broadcast: an operand that
//! repeats gets the sum over all places where it stood.

use super::backward::gradient;
use super::broadcast::{Broadcast, Layout};
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::elementwise::{Unary, unary};
use crate::kernels::grid::Floats;
use crate::ops::cast::cast;
use faultlens_core::DType;
use std::borrow::Cow;
use std::cell::OnceCell;

/// An operand, and where its elements stand in the result.
struct Operand<'a> {
    floats: Cow<'a, Floats>,
    under: Broadcast,
    spread: OnceCell<Vec<f32>>,
}

impl<'a> Operand<'a> {
    /// The operand under the result, in the result's order where it has a choice.
    fn new(backward: &Backward<'a>, at: usize, result: &Floats) -> Result<Self, OperandError> {
        let value = backward
            .operand(at)
            .ok_or_else(|| OperandError::new(format!("operand {at} is missing")))?;
        let floats = match value.floats() {
            Some(_) => Cow::Borrowed(backward.floats(at, result.order)?),
            // A condition, or an exponent of whole numbers.
            None => Cow::Owned(as_floats(cast(value, DType::F32)?.floats())?),
        };
        let under = Broadcast::new(Layout::of(&floats), Layout::of(result));
        Ok(Self { floats, under, spread: OnceCell::new() })
    }

    /// An element for each of the result's.
    fn row(&self, backward: &Backward<'_>) -> &[f32] {
        if self.under.is_alike() {
            return &self.floats.data;
        }
        self.spread.get_or_init(|| self.under.spread(backward, &self.floats.data).into_owned())
    }
}

fn as_floats(floats: Option<&Floats>) -> Result<Floats, OperandError> {
    floats.cloned().ok_or_else(|| OperandError::new("its operands must be numbers"))
}

/// An operator with all its operands, and the gradient of its result.
struct ElementwiseBackward<'b, 'a> {
    backward: &'b Backward<'a>,
    result: &'a Floats,
    operands: Vec<Operand<'a>>,
    gradient: Vec<f32>,
}

impl<'b, 'a> ElementwiseBackward<'b, 'a> {
    fn of(backward: &'b mut Backward<'a>) -> Result<Self, OperandError> {
        let order = backward.result_order(0);
        let gradient = backward.gradient_in(order)?.data;
        let result = backward.result(0, order)?;
        let backward: &'b Backward<'a> = backward;
        let operands = (0..backward.operands.len()).map(|at| Operand::new(backward, at, result));
        Ok(Self { backward, result, operands: operands.collect::<Result<_, _>>()?, gradient })
    }

    fn row(&self, at: usize) -> &[f32] {
        self.operands[at].row(self.backward)
    }

    /// For each wanted operand, the result's gradient times the operand's slope, which `times`
    /// puts in place, folded to the operand's shape.
    fn share(mut self, times: impl Fn(&Self, usize, &mut [f32])) -> Gradients {
        let backward = self.backward;
        let mut whole = std::mem::take(&mut self.gradient);
        // The last operand that wants a gradient may work in the incoming one's memory.
        let last = (0..self.operands.len()).rfind(|&at| backward.wants(at));
        let gradients = self
            .operands
            .iter()
            .enumerate()
            .map(|(at, operand)| {
                let mut own = match last {
                    Some(last) if at == last => std::mem::take(&mut whole),
                    _ if backward.wants(at) => backward.copy(&whole),
                    _ => return None,
                };
                times(&self, at, &mut own);
                let shape = &operand.floats.shape;
                let order = operand.floats.order;
                Some(gradient(shape, order, operand.under.fold(backward, own)))
            })
            .collect();
        for operand in self.operands {
            operand
                .spread
                .into_inner()
                .into_iter()
                .for_each(|spread| backward.buffers.give(spread));
        }
        Ok(gradients)
    }
}

/// `Add` and `Sum`.
pub(super) fn sum(backward: &mut Backward<'_>) -> Gradients {
    ElementwiseBackward::of(backward)?.share(|_, _, _| ())
}

pub(super) fn sub(backward: &mut Backward<'_>) -> Gradients {
    ElementwiseBackward::of(backward)?.share(|_, at, g| {
        if at == 1 {
            unary(Unary::Neg, g);
        }
    })
}

pub(super) fn mul(backward: &mut Backward<'_>) -> Gradients {
    ElementwiseBackward::of(backward)?
        .share(|p, at, g| p.backward.pairs(g, p.row(1 - at), |g, other| g * other))
}

pub(super) fn div(backward: &mut Backward<'_>) -> Gradients {
    ElementwiseBackward::of(backward)?.share(|p, at, g| match at {
        0 => p.backward.pairs(g, p.row(1), |g, b| g / b),
        _ => p.backward.triples(g, [p.row(0), p.row(1)], |g, a, b| -g * (a / b) / b),
    })
}

/// As in PyTorch, nothing raised to the power of zero has a slope, and neither has the exponent
/// of zero.
pub(super) fn pow(backward: &mut Backward<'_>) -> Gradients {
    ElementwiseBackward::of(backward)?.share(|p, at, g| match at {
        0 => p.backward.triples(g, [p.row(0), p.row(1)], |g, base, exponent| {
            if exponent == 2.0 {
                g * 2.0 * base
            } else if exponent == 0.0 {
                0.0
            } else {
                g * exponent * libm::powf(base, exponent - 1.0)
            }
        }),
        _ => p.backward.triples(g, [p.row(0), p.row(1)], |g, base, exponent| {
            // d xᵉ/de = xᵉ · ln x, and the limit at zero is zero.
            let flat = base == 0.0 && exponent >= 0.0;
            if flat { 0.0 } else { g * libm::powf(base, exponent) * libm::logf(base) }
        }),
    })
}

pub(super) fn prelu(backward: &mut Backward<'_>) -> Gradients {
    ElementwiseBackward::of(backward)?.share(|p, at, g| match at {
        0 => p.backward.triples(
            g,
            [p.row(0), p.row(1)],
            |g, x, slope| {
                if x > 0.0 { g } else { g * slope }
            },
        ),
        _ => p.backward.pairs(g, p.row(0), |g, x| if x > 0.0 { 0.0 } else { g * x }),
    })
}

/// `Max` and `Min` of any number of operands: those that equal the result share its gradient
/// evenly, so that two get half each as from PyTorch's `maximum`.
pub(super) fn extreme(backward: &mut Backward<'_>) -> Gradients {
    let mut places = ElementwiseBackward::of(backward)?;
    let backward = places.backward;
    let y = places.result;
    let mut ties = backward.zeros(y.data.len());
    for at in 0..places.operands.len() {
        let rows = [places.row(at), &y.data];
        backward.triples(&mut ties, rows, |n, x, y| if is_extreme(x, y) { n + 1.0 } else { n });
    }
    backward.pairs(&mut places.gradient, &ties, |g, n| g / n);
    backward.buffers.give(ties);
    places.share(|p, at, g| {
        let rows = [p.row(at), &p.result.data];
        p.backward.triples(g, rows, |g, x, y| if is_extreme(x, y) { g } else { 0.0 });
    })
}

/// Whether an element is the extreme; all are where there is none but NaN.
#[inline(always)]
pub(super) fn is_extreme(x: f32, extreme: f32) -> bool {
    x == extreme || extreme.is_nan()
}

/// `Where`: each element's gradient goes to the branch that it came from.
pub(super) fn select(backward: &mut Backward<'_>) -> Gradients {
    ElementwiseBackward::of(backward)?.share(|p, at, g| {
        let first = at == 1;
        let chosen = move |g, condition| if (condition != 0.0) == first { g } else { 0.0 };
        p.backward.pairs(g, p.row(0), chosen);
    })
}
