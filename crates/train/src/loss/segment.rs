//! Cross-entropy of every pixel's class.

use super::{PIXELS, Wanted, cross_entropy};
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
    let wanted = Wanted { task: Task::Segment, images: cases.len(), why: PIXELS };
    let (mut scores, [n, classes, height, width]) = wanted.copied::<4>(answers, output)?;
    let plane = height * width;
    let weight = 1.0 / (n * plane) as f32;
    let mut value = 0.0;
    for (case, scores) in cases.iter().zip(scores.chunks_exact_mut(classes * plane)) {
        let segments = truth::segments(case, plane, classes)?;
        for (pixel, &class) in segments.iter().enumerate() {
            // The last class's score ends the slice, so that it holds every class once.
            let own = &mut scores[pixel..=pixel + (classes - 1) * plane];
            value += cross_entropy(own, plane, usize::from(class), weight);
        }
    }
    let gradient = Tensor::new(vec![n, classes, height, width], scores);
    let gradients = gradient.into_iter().map(|g| (output.to_owned(), g)).collect();
    Ok(Loss { value, gradients })
}
