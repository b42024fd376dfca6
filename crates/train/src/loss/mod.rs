//! What a model is to make small: one file per task.

mod classify;
mod detect;
mod reconstruct;
mod regress;
mod segment;

use crate::error::TrainError;
use crate::task::Task;
use faultlens_core::{Case, Tensor};
use faultlens_engine::onnx::ModelProto;
use faultlens_engine::{Answers, Loss};
use faultlens_vision::InputDescription;

pub use detect::detections;

/// A task, and the model's values that it works on.
pub(crate) struct Objective {
    task: Task,
    /// The input that images are fed to.
    pub(crate) input: String,
    /// The first output.
    output: String,
}

impl Objective {
    pub(crate) fn new(task: Task, model: &ModelProto) -> Self {
        let graph = model.graph.as_ref();
        // Old files list stored weights among the inputs too.
        let input = graph.and_then(|g| {
            g.input.iter().find(|i| g.initializer.iter().all(|stored| stored.name != i.name))
        });
        let output = graph.and_then(|g| g.output.first());
        Self {
            task,
            input: input.map(|i| i.name.clone()).unwrap_or_default(),
            output: output.map(|o| o.name.clone()).unwrap_or_default(),
        }
    }

    /// The mean loss over the cases, whose images are fed as `input` says, and its gradients.
    pub(crate) fn loss(
        &self,
        answers: &Answers<'_>,
        cases: &[Case],
        input: &InputDescription,
    ) -> Result<Loss, TrainError> {
        match self.task {
            Task::Classify => classify::loss(answers, &self.output, cases),
            Task::Segment => segment::loss(answers, &self.output, cases),
            Task::Regress => regress::loss(answers, &self.output, cases),
            Task::Detect => detect::loss(answers, cases, input.size),
            Task::Reconstruct => reconstruct::loss(answers, &self.output, cases, input),
        }
    }
}

/// An answer of floats: what the task needs of it.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) task: Task,
    /// How many images were asked; the first axis.
    pub(crate) images: usize,
    /// The axes in words.
    pub(crate) why: &'static str,
}

impl Wanted {
    /// The answer's numbers and shape, refused unless it has `N` axes with something in each.
    pub(crate) fn floats<'a, const N: usize>(
        self,
        tensor: &'a Tensor,
        name: &str,
    ) -> Result<(&'a [f32], [usize; N]), TrainError> {
        let refuse = || self.refusal(tensor.shape(), name);
        let shape: [usize; N] = tensor.shape().try_into().map_err(|_| refuse())?;
        let data = tensor.as_f32().ok_or_else(refuse)?;
        if shape.first() != Some(&self.images) || shape.contains(&0) {
            return Err(refuse());
        }
        Ok((data, shape))
    }

    /// The pictures that were shown, refused unless they have the answer's shape.
    pub(crate) fn same_shape<'a>(
        self,
        shown: &'a Tensor,
        answer: [usize; 4],
        name: &str,
    ) -> Result<&'a [f32], TrainError> {
        let floats = shown.as_f32().filter(|_| shown.shape() == answer);
        floats.ok_or_else(|| self.refusal(&answer, name))
    }

    fn refusal(self, shape: &[usize], name: &str) -> TrainError {
        TrainError::Answer {
            task: self.task.name(),
            value: name.to_owned(),
            shape: shape.to_vec(),
            why: self.why.to_owned(),
        }
    }

    /// A copy of a value inside the learner, to be turned into its gradient.
    fn copied<const N: usize>(
        self,
        answers: &Answers<'_>,
        name: &str,
    ) -> Result<(Vec<f32>, [usize; N]), TrainError> {
        let tensor = answers.value(name)?;
        let (data, shape) = self.floats(&tensor, name)?;
        Ok((data.to_vec(), shape))
    }
}

/// What each task needs of the model's answer; the same words for losses and scores.
pub(crate) const CLASSES: &str = "a score per image and class is needed";
pub(crate) const PIXELS: &str = "a score per image, class, row and column is needed";
pub(crate) const NUMBERS: &str = "a row of numbers per image is needed";
pub(crate) const CELLS: &str = "a score per image, cell and class is needed";
pub(crate) const PICTURE: &str = "a picture of the input's shape per image is needed";
pub(crate) const BOXES: &str = "four numbers per image and cell are needed";

/// Turns scores into the gradient of the cross-entropy against `class`, times `weight`; gives the
/// loss. Steps of `stride` lead from class to class.
fn cross_entropy(scores: &mut [f32], stride: usize, class: usize, weight: f32) -> f64 {
    let each = || (0..scores.len()).step_by(stride);
    let highest = each().fold(f32::NEG_INFINITY, |m, at| m.max(scores[at]));
    let sum: f64 = each().map(|at| f64::from(libm::expf(scores[at] - highest))).sum();
    let own = f64::from(scores[class * stride] - highest);
    let ends = (0..scores.len()).step_by(stride);
    for at in ends {
        let share = f64::from(libm::expf(scores[at] - highest)) / sum;
        scores[at] = share as f32 * weight;
    }
    scores[class * stride] -= weight;
    (libm::log(sum) - own) * f64::from(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cross_entropy_has_the_gradient_of_its_value() {
        let scores = [0.3f32, -1.2, 2.0, 0.1];
        let mut gradient = scores;
        let loss = cross_entropy(&mut gradient, 1, 1, 0.5);
        // -log softmax by hand, in double precision.
        let sum: f64 = scores.iter().map(|&s| f64::from(s).exp()).sum();
        assert!((loss - 0.5 * (sum.ln() + 1.2)).abs() < 1e-6);
        for at in 0..4 {
            let moved = |by: f32| {
                let mut scores = scores;
                scores[at] += by;
                cross_entropy(&mut scores, 1, 1, 0.5)
            };
            let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            assert!((slope - f64::from(gradient[at])).abs() < 1e-4);
        }
    }
}
