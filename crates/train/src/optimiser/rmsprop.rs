//! RMSprop (Tieleman and Hinton, 2012).

use super::{Optimiser, Settings, Step};

/// How much of the mean square goes into the next: PyTorch's alpha.
const KEPT: f64 = 0.99;
/// Keeps weights without gradients from a division by zero.
const EPSILON: f32 = 1e-8;

/// # What it does
/// As PyTorch's `RMSprop`: each weight's gradient is divided by the root of its running mean
/// square; with a momentum, what was followed before goes on.
/// # When to use it
/// For recurrent networks, and to compare with studies that trained with it.
#[derive(Debug)]
pub(super) struct RmsProp;

impl Optimiser for RmsProp {
    fn name(&self) -> &'static str {
        "rmsprop"
    }

    fn about(&self) -> &'static str {
        "gradients over the root of their running mean square"
    }

    fn usual(&self) -> Settings {
        Settings { learning_rate: 0.001, momentum: 0.0, weight_decay: 0.0 }
    }

    fn memories(&self) -> usize {
        2
    }

    fn change(&self, step: &Step, weights: &mut [f32], gradient: &[f32], memory: &mut [f32]) {
        let (squares, velocities) = memory.split_at_mut(weights.len());
        let rate = step.rate as f32;
        let momentum = step.momentum as f32;
        let kept = KEPT as f32;
        let fresh = (1.0 - KEPT) as f32;
        let remembered = squares.iter_mut().zip(velocities);
        for ((w, (square, v)), &g) in weights.iter_mut().zip(remembered).zip(gradient) {
            let g = step.followed(*w, g);
            *square = kept * *square + fresh * g * g;
            *v = momentum * *v + g / (square.sqrt() + EPSILON);
            *w -= rate * *v;
        }
    }
}
