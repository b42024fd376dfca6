//! The mean squared distance from the picture that was shown.

use super::{PICTURE, Wanted};
use crate::error::TrainError;
use crate::task::Task;
use crate::truth;
use faultlens_core::{Case, Tensor};
use faultlens_engine::{Answers, Loss};
use faultlens_vision::InputDescription;

pub(super) fn loss(
    answers: &Answers<'_>,
    output: &str,
    cases: &[Case],
    input: &InputDescription,
) -> Result<Loss, TrainError> {
    let wanted = Wanted { task: Task::Reconstruct, images: cases.len(), why: PICTURE };
    let (mut found, shape) = wanted.copied::<4>(answers, output)?;
    let shown = truth::pictures(cases, input)?;
    let shown = wanted.same_shape(&shown, shape, output)?;
    let weight = 1.0 / found.len() as f32;
    let mut value = 0.0;
    for (found, &shown) in found.iter_mut().zip(shown) {
        let distance = *found - shown;
        value += f64::from(distance * distance);
        *found = 2.0 * distance * weight;
    }
    let value = value / found.len() as f64;
    let gradient = Tensor::new(shape.to_vec(), found);
    let gradients = gradient.into_iter().map(|g| (output.to_owned(), g)).collect();
    Ok(Loss { value, gradients })
}
