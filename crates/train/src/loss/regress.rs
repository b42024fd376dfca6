//! The mean squared distance from the right numbers.

use super::{NUMBERS, Wanted};
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
    let wanted = Wanted { task: Task::Regress, images: cases.len(), why: NUMBERS };
    let (mut found, [n, count]) = wanted.copied::<2>(answers, output)?;
    let weight = 1.0 / (n * count) as f32;
    let mut value = 0.0;
    for (case, found) in cases.iter().zip(found.chunks_exact_mut(count)) {
        for (found, wanted) in found.iter_mut().zip(truth::values(case, count)?) {
            let distance = *found - wanted;
            value += f64::from(distance * distance * weight);
            *found = 2.0 * distance * weight;
        }
    }
    let gradient = Tensor::new(vec![n, count], found);
    let gradients = gradient.into_iter().map(|g| (output.to_owned(), g)).collect();
    Ok(Loss { value, gradients })
}
