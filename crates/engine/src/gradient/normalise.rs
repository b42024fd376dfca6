//! Normalisations by a value's own mean and variance, which depend on every element of a group.

use super::backward::gradient;
use super::broadcast::{Broadcast, Layout, recycle};
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::elementwise::{each, pairs};
use crate::kernels::grid::{Floats, Order};
use crate::kernels::sum::{sum, sum_pairs};
use crate::ops::normalise::{Spread, groups};
use crate::ops::places::axis;

/// `LayerNormalization`: all axes from one on are normalised together.
pub(super) fn layer(backward: &mut Backward<'_>) -> Gradients {
    if backward.gradient(1).or(backward.gradient(2)).is_some() {
        return Err(OperandError::new("no gradients go back through its mean and deviation"));
    }
    let shape = backward.shape(0)?;
    let at = axis(backward.attributes.int("axis", -1), shape.len())?;
    let images = shape[..at].iter().product();
    let length = shape[at..].iter().product();
    backpropagate(backward, [images, 1, length, 1])
}

/// `InstanceNormalization` and `GroupNormalization`: some channels of one image at a time.
pub(super) fn grouped(backward: &mut Backward<'_>) -> Gradients {
    let shape = backward.shape(0)?;
    let &[images, channels, ref plane @ ..] = shape else {
        return Err(OperandError::new(format!("images are wanted, not {shape:?}")));
    };
    let groups = groups(&backward.attributes)?.unwrap_or(channels);
    backpropagate(backward, [images, groups, channels / groups.max(1), plane.iter().product()])
}

/// The gradients of input, scale and offset. The axes are images, groups, channels or elements
/// with scales of their own, and elements that share one; the last two are normalised together.
fn backpropagate(backward: &mut Backward<'_>, axes: [usize; 4]) -> Gradients {
    let norm = Norm { epsilon: backward.attributes.float("epsilon", 1e-5), axes };
    let whole = backward.gradient_in(Order::RowMajor)?.data;
    let x = backward.floats(0, Order::RowMajor)?;
    let mut gradients = vec![None; backward.operands.len()];
    if backward.wants(1) {
        let mut own = norm.normalised(backward, x);
        backward.pairs(&mut own, &whole, |x, g| x * g);
        gradients[1] = Some(norm.folded(backward, 1, own)?);
    }
    if backward.wants(2) {
        gradients[2] = Some(norm.folded(backward, 2, backward.copy(&whole))?);
    }
    if backward.wants(0) {
        let scale = backward.floats(1, Order::RowMajor)?;
        let mut own = whole;
        let scales = norm.under(scale).spread(backward, &scale.data);
        backward.pairs(&mut own, &scales, |g, scale| g * scale);
        recycle(backward, scales);
        norm.unnormalise(backward, x, &mut own);
        gradients[0] = Some(gradient(&x.shape, Order::RowMajor, own));
    }
    Ok(gradients)
}

struct Norm {
    epsilon: f32,
    axes: [usize; 4],
}

impl Norm {
    /// Elements that are normalised together; they lie together.
    fn row(&self) -> usize {
        self.axes[2] * self.axes[3]
    }

    /// Where scales or offsets stand in the input: one for all, one per group, or one for each
    /// channel or element.
    fn under(&self, list: &Floats) -> Broadcast {
        let [_, groups, each, _] = self.axes;
        let axes = match list.data.len() {
            1 => [1; 4],
            n if n == groups * each => [1, groups, each, 1],
            _ => [1, groups, 1, 1],
        };
        Broadcast::new(Layout::row_major(&axes), Layout::row_major(&self.axes))
    }

    /// A gradient summed up to the shape of an operand of scales or offsets.
    fn folded(
        &self,
        backward: &Backward<'_>,
        at: usize,
        whole: Vec<f32>,
    ) -> Result<Floats, OperandError> {
        let list = backward.floats(at, Order::RowMajor)?;
        let sums = self.under(list).fold(backward, whole);
        Ok(gradient(&list.shape, Order::RowMajor, sums))
    }

    fn normalised(&self, backward: &Backward<'_>, x: &Floats) -> Vec<f32> {
        let mut normalised = backward.copy(&x.data);
        backward.rows(&mut normalised, self.row(), |_, row| {
            let spread = Spread::of(row);
            let inverse = spread.inverse_deviation(self.epsilon);
            each(row, move |x| (x - spread.mean) * inverse);
        });
        normalised
    }

    /// From gradients of normalised elements to those of the elements: less their mean and what
    /// goes along with the element, since mean and variance take both out.
    fn unnormalise(&self, backward: &Backward<'_>, x: &Floats, gradients: &mut [f32]) {
        let length = self.row();
        backward.rows(gradients, length, |at, row| {
            // With x̂ = (x - mean) / deviation: dx = (g - mean(g) - x̂ · mean(g · x̂)) /
            // deviation. Sums are recomputed from the input instead of kept from the forward run.
            let x = &x.data[at * length..][..length];
            let spread = Spread::of(x);
            let inverse = spread.inverse_deviation(self.epsilon);
            let middle = f64::from(spread.mean);
            let mean = (sum(row, |g| g) / length as f64) as f32;
            let along = sum_pairs(row, x, |g, x| g * (x - middle)) / length as f64;
            let along = (along * f64::from(inverse) * f64::from(inverse)) as f32;
            pairs(row, x, move |g, x| (g - mean - (x - spread.mean) * along) * inverse);
        });
    }
}
