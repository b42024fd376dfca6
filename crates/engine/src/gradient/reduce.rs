//! `ReduceSum` and kin: each element gets its share of the answer that it was folded into.

use super::arithmetic::is_extreme;
use super::backward::gradient;
use super::broadcast::{Broadcast, Layout, recycle};
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::grid::Floats;
use crate::kernels::math::exp;
use crate::ops::places::axis;
use crate::ops::reduce::{Reduce, Reduction};

pub(super) fn reduce(backward: &mut Backward<'_>) -> Gradients {
    let reduce = Reduce::of(&backward.attributes);
    let order = backward.operand_order(0);
    let x = backward.floats(0, order)?;
    let mut kept = x.shape.clone();
    for at in reduce.axes(backward.operand(1), kept.len()) {
        let at = axis(at, kept.len())?;
        kept[at] = 1;
    }
    let answer = backward.gradient_in(order)?;
    let y = backward.result(0, order)?;
    let under = Broadcast::new(Layout::new(&kept, y.order), Layout::of(x));
    let rows = Rows { backward, x, y, under };
    let data = rows.gradient(reduce.kind, answer.data)?;
    Ok(backward.only(0, gradient(&x.shape, order, data)))
}

/// Elements, and the answers that they were folded into.
struct Rows<'b, 'a> {
    backward: &'b Backward<'a>,
    x: &'a Floats,
    y: &'a Floats,
    under: Broadcast,
}

impl Rows<'_, '_> {
    /// What an answer's elements have in common is done before their gradients part.
    fn gradient(&self, kind: Reduction, mut answer: Vec<f32>) -> Result<Vec<f32>, OperandError> {
        let backward = self.backward;
        let x = &self.x.data;
        let y = &self.y.data;
        match kind {
            Reduction::Sum => Ok(self.part(answer)),
            Reduction::Mean => {
                let count = x.len() as f32 / y.len() as f32;
                answer.iter_mut().for_each(|g| *g /= count);
                Ok(self.part(answer))
            }
            Reduction::L1 => {
                Ok(self.times(answer, |g, x| if x == 0.0 { 0.0 } else { g * x.signum() }))
            }
            Reduction::L2 => {
                // The norm has a kink at zero, where PyTorch lets nothing through.
                backward.pairs(&mut answer, y, |g, y| if y == 0.0 { 0.0 } else { g / y });
                Ok(self.times(answer, |g, x| g * x))
            }
            Reduction::SumSquare => Ok(self.times(answer, |g, x| g * 2.0 * x)),
            Reduction::LogSum => {
                backward.pairs(&mut answer, y, |g, y| g * exp(-y));
                Ok(self.part(answer))
            }
            Reduction::LogSumExp => Ok(self.with_answers(answer, |g, x, y| g * exp(x - y))),
            Reduction::Max | Reduction::Min => Ok(self.extreme(answer)),
            Reduction::Prod => {
                Err(OperandError::new("no rule hands gradients back through a product"))
            }
        }
    }

    /// Each element gets its answer's gradient.
    fn part(&self, answer: Vec<f32>) -> Vec<f32> {
        if self.under.is_alike() {
            return answer;
        }
        let whole = self.under.spread(self.backward, &answer).into_owned();
        self.backward.buffers.give(answer);
        whole
    }

    /// As a function of its answer's gradient and the element.
    fn times(&self, answer: Vec<f32>, f: impl Fn(f32, f32) -> f32 + Copy + Sync) -> Vec<f32> {
        let mut whole = self.part(answer);
        self.backward.pairs(&mut whole, &self.x.data, f);
        whole
    }

    /// As a function of its answer's gradient, the element and its answer.
    fn with_answers(
        &self,
        answer: Vec<f32>,
        f: impl Fn(f32, f32, f32) -> f32 + Copy + Sync,
    ) -> Vec<f32> {
        let mut whole = self.part(answer);
        let answers = self.under.spread(self.backward, &self.y.data);
        self.backward.triples(&mut whole, [&self.x.data, &answers], f);
        recycle(self.backward, answers);
        whole
    }

    /// Elements that equal the largest or smallest share its gradient evenly, as from PyTorch's
    /// `amax`.
    fn extreme(&self, mut answer: Vec<f32>) -> Vec<f32> {
        let mut ties = self.part(self.backward.copy(&self.y.data));
        self.backward.pairs(
            &mut ties,
            &self.x.data,
            |y, x| if is_extreme(x, y) { 1.0 } else { 0.0 },
        );
        let ties = self.under.fold(self.backward, ties);
        self.backward.pairs(&mut answer, &ties, |g, n| g / n);
        self.with_answers(answer, |g, x, y| if is_extreme(x, y) { g } else { 0.0 })
    }
}
