//! Cross-entropy of an image's class.

use super::{CLASSES, Wanted, cross_entropy};
use crate::error::TrainError;
use crate::task::Task;
use crate::truth;
use faultlens_core::{Case, Tensor};
use faultlens_engine::{Answers, Loss};

pub(super) fn loss(
    answers: &Answers<'_>,
    output: &str,
    cases: &[Case],
) -> Result<Loss, TrainError> {
    let wanted = Wanted { task: Task::Classify, images: cases.len(), why: CLASSES };
    let (mut scores, [n, classes]) = wanted.copied::<2>(answers, output)?;
    let weight = 1.0 / n as f32;
    let mut value = 0.0;
    for (case, scores) in cases.iter().zip(scores.chunks_exact_mut(classes)) {
        value += cross_entropy(scores, 1, truth::label(case, classes)?, weight);
    }
    let gradient = Tensor::new(vec![n, classes], scores);
    let gradients = gradient.into_iter().map(|g| (output.to_owned(), g)).collect();
    Ok(Loss { value, gradients })
}
