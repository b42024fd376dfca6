//! Stochastic gradient descent with momentum.

use super::{Optimiser, Settings, Step};

/// # What it does
/// As PyTorch's `SGD`: `v = momentum · v + g`, `w = w - rate · v`.
/// # When to use it
/// Where there is time to find a good rate; it often ends with the better model.
#[derive(Debug)]
pub(super) struct Sgd;

impl Optimiser for Sgd {
    fn name(&self) -> &'static str {
        "sgd"
    }

    fn about(&self) -> &'static str {
        "stochastic gradient descent with momentum"
    }

    fn usual(&self) -> Settings {
        Settings { learning_rate: 0.05, momentum: 0.9, weight_decay: 5e-4 }
    }

    fn memories(&self) -> usize {
        1
    }

    fn change(&self, step: &Step, weights: &mut [f32], gradient: &[f32], memory: &mut [f32]) {
        let momentum = step.momentum as f32;
        let rate = step.rate as f32;
        for ((w, v), &g) in weights.iter_mut().zip(memory).zip(gradient) {
            *v = momentum * *v + step.followed(*w, g);
            *w -= rate * *v;
        }
    }
}
