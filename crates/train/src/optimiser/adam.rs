//! Adam (Kingma and Ba, 2015).

use super::{Optimiser, Settings, Step};

/// How much of the mean square goes into the next: PyTorch's second beta.
const KEPT: f64 = 0.999;
/// Keeps weights without gradients from a division by zero.
const EPSILON: f32 = 1e-8;

/// # What it does
/// As PyTorch's `Adam`: each weight goes by the running mean of its gradients, divided by the root
/// of their running mean square; both are corrected for having started at zero. The momentum is
/// the first beta.
/// # When to use it
/// Where the usual rate must do at once, for weights with gradients of very different sizes.
#[derive(Debug)]
pub(super) struct Adam;

impl Optimiser for Adam {
    fn name(&self) -> &'static str {
        "adam"
    }

    fn about(&self) -> &'static str {
        "running mean of gradients over the root of their mean square, corrected at the start"
    }

    fn usual(&self) -> Settings {
        Settings { learning_rate: 0.001, momentum: 0.9, weight_decay: 0.0 }
    }

    fn memories(&self) -> usize {
        2
    }

    fn change(&self, step: &Step, weights: &mut [f32], gradient: &[f32], memory: &mut [f32]) {
        let (means, squares) = memory.split_at_mut(weights.len());
        let missing = |beta: f64| 1.0 - libm::pow(beta, step.count as f64);
        let rate = (step.rate / missing(step.momentum)) as f32;
        let root = missing(KEPT).sqrt() as f32;
        let fresh = (1.0 - step.momentum) as f32;
        let kept = KEPT as f32;
        let fresh_square = (1.0 - KEPT) as f32;
        for (((w, mean), square), &g) in weights.iter_mut().zip(means).zip(squares).zip(gradient) {
            let g = step.followed(*w, g);
            *mean += fresh * (g - *mean);
            *square = kept * *square + fresh_square * g * g;
            *w -= rate * (*mean / (square.sqrt() / root + EPSILON));
        }
    }
}
