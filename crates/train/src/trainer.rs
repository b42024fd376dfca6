//! The loop: batches in a drawn order, loss, gradients, new weights.

use crate::augment::{self, Augment};
use crate::cost::{Clock, Cost};
use crate::error::TrainError;
use crate::hook::Pixels;
use crate::loss::Objective;
use crate::optimiser::Descent;
use crate::recipe::Recipe;
use crate::task::Task;
use crate::truth;
use faultlens_core::{Case, Seed};
use faultlens_data::DataSet;
use faultlens_engine::onnx::ModelProto;
use faultlens_engine::{Answers, Learner};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Raised when the same recipe, model and data give other weights than before, so that models
/// that were kept are not taken for what would be trained now.
pub const TRAINING_VERSION: u32 = 1;

/// How far the training is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Of how many.
    pub epochs: usize,
    /// Steps done in this epoch.
    pub step: usize,
    /// Of how many.
    pub steps: usize,
    /// The mean loss of this epoch so far.
    pub loss: f64,
}

/// What an epoch came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The mean loss over all its images.
    pub loss: f64,
    /// The learning rate at its end.
    pub learning_rate: f64,
}

/// A model that has learnt.
#[derive(Debug)]
pub struct Trained {
    /// The ordinary model.
    pub model: ModelProto,
    /// What each epoch came to.
    pub epochs: Vec<Epoch>,
    /// What it cost.
    pub cost: Cost,
    /// How many numbers were learned.
    pub parameters: usize,
}

/// The training between two epochs, to evaluate the model so far.
pub struct Rest<'a> {
    /// The epoch that has ended, from 1.
    pub epoch: usize,
    /// Steps done so far, over all epochs.
    pub steps: usize,
    /// What the epoch came to.
    pub came_to: Epoch,
    learner: &'a Learner,
}

impl Rest<'_> {
    /// The ordinary model with the weights as they are now.
    pub fn model(&self) -> ModelProto {
        self.learner.to_proto()
    }
}

/// Trains a model on all cases of a set. The same recipe gives the same weights, bit for bit, on
/// any number of threads. Ends with [`TrainError::Stopped`] where `progress` breaks off.
///
/// Every epoch sees each case once, in batches of the recipe's size. Where a single case would be
/// left for the last batch, the batch before takes it too: batch norms need more than one value.
pub fn train(
    recipe: &Recipe,
    model: &ModelProto,
    data: &DataSet,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Trained, TrainError> {
    train_with(recipe, model, data, threads, progress, &mut |_| Ok(()))
}

/// Trains as [`train`] does, with the same weights, and lets `each_epoch` look at the model between
/// epochs. What that takes is not part of the cost.
pub fn train_with(
    recipe: &Recipe,
    model: &ModelProto,
    data: &DataSet,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    each_epoch: &mut dyn FnMut(&Rest<'_>) -> Result<(), TrainError>,
) -> Result<Trained, TrainError> {
    recipe.check()?;
    if data.is_empty() {
        return Err(TrainError::Empty);
    }
    if recipe.task == Task::Detect {
        truth::some_objects(data)?;
    }
    let mut clock = Clock::start();
    let mut training = Training {
        recipe,
        data,
        learner: Learner::new(model, threads)?,
        descent: recipe.descent()?,
        objective: Objective::new(recipe.task, model),
        augment: augment::named(&recipe.augment)?,
        seed: Seed::new(recipe.seed).child("training"),
    };
    let per_epoch = batches(&(0..data.len()).collect::<Vec<_>>(), recipe.batch).len();
    let mut epochs = Vec::new();
    for epoch in 1..=recipe.epochs {
        let came_to = training.epoch(epoch - 1, progress)?;
        epochs.push(came_to);
        let rest = Rest { epoch, steps: epoch * per_epoch, came_to, learner: &training.learner };
        clock.pause(|| each_epoch(&rest))?;
    }
    let cost = clock.cost(data.len() * recipe.epochs, threads);
    let parameters = training.learner.parameters();
    Ok(Trained { model: training.learner.to_proto(), epochs, cost, parameters })
}

/// Cuts an order into batches; a last one of a single case joins the one before.
fn batches(order: &[usize], batch: usize) -> Vec<&[usize]> {
    let mut ends: Vec<usize> = (0..order.len()).step_by(batch).skip(1).collect();
    if batch > 1 && ends.last().is_some_and(|&end| end + 1 == order.len()) {
        ends.pop();
    }
    ends.push(order.len());
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, &end)| &order[start..end]).collect()
}

struct Training<'a> {
    recipe: &'a Recipe,
    data: &'a DataSet,
    learner: Learner,
    descent: Descent,
    objective: Objective,
    augment: Vec<&'static dyn Augment>,
    seed: Seed,
}

impl Training<'_> {
    fn epoch(
        &mut self,
        epoch: usize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Epoch, TrainError> {
        let seed = self.seed.at(epoch as u64);
        let mut order: Vec<usize> = (0..self.data.len()).collect();
        seed.child("order").stream().shuffle(&mut order);
        let batches = batches(&order, self.recipe.batch);
        let steps = batches.len();
        let epochs = self.recipe.epochs;
        let mut sum = 0.0;
        let mut seen = 0usize;
        let mut rate = 0.0;
        for (step, members) in batches.into_iter().enumerate() {
            rate = self.recipe.rate(epoch * steps + step, steps * epochs);
            let loss = self.step(members, seed.at(step as u64))?;
            // A loss or gradient that is not finite must not reach the weights: both are checked first.
            let length = self.learner.gradient_length();
            let watched = [("loss", loss), ("gradient's length", length)];
            if let Some((what, value)) = watched.into_iter().find(|(_, x)| !x.is_finite()) {
                let before = sum / seen.max(1) as f64;
                let epoch = epoch + 1;
                let step = step + 1;
                return Err(TrainError::NotFinite { what, value, epoch, step, rate, before });
            }
            self.descent.step(&mut self.learner, rate);
            sum += loss * members.len() as f64;
            seen += members.len();
            let epoch = epoch + 1;
            let step = step + 1;
            let loss = sum / seen as f64;
            if progress(Progress { epoch, epochs, step, steps, loss }).is_break() {
                return Err(TrainError::Stopped);
            }
        }
        Ok(Epoch { loss: sum / seen.max(1) as f64, learning_rate: rate })
    }

    /// The loss of one batch; its gradients wait in the learner.
    fn step(&mut self, members: &[usize], seed: Seed) -> Result<f64, TrainError> {
        let cases = members.iter().enumerate().map(|(at, &member)| {
            let mut stream = seed.at(at as u64).stream();
            let mut case = self.data.case(member)?;
            for augment in &self.augment {
                case.image = augment.apply(case.image, &mut stream)?;
            }
            Ok(case)
        });
        let cases: Vec<Case> = cases.collect::<Result<_, TrainError>>()?;
        let images: Vec<_> = cases.iter().map(|case| case.image.clone()).collect();
        let mut batch = self.recipe.input.tensor(&images)?;
        let draw = seed.child("dropout").stream().next_u64();
        let objective = &self.objective;
        let input = &self.recipe.input;
        let pixels = Pixels::of(input);
        if let Some(noise) = self.recipe.noise {
            noise.add(&mut batch, &pixels, seed.child("noise"));
        }
        if let Some(adversarial) = self.recipe.adversarial {
            let learner = &mut self.learner;
            adversarial.replace(&mut batch, &pixels, seed.child("adversarial"), |batch| {
                let feeds = [(objective.input.as_str(), batch.clone())];
                learner.input_gradient(&feeds, draw, &objective.input, |answers: &Answers<'_>| {
                    objective.loss(answers, &cases, input)
                })
            })?;
        }
        let feeds = [(objective.input.as_str(), batch)];
        self.learner.step(&feeds, draw, |answers| objective.loss(answers, &cases, input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_batch_but_a_wanted_one_has_a_single_case() {
        let cases: [(usize, usize, &[usize]); 7] = [
            (8, 4, &[4, 4]),
            (9, 4, &[4, 5]),
            (10, 4, &[4, 4, 2]),
            (3, 1, &[1, 1, 1]),
            (1, 4, &[1]),
            (5, 4, &[5]),
            (3, usize::MAX, &[3]),
        ];
        for (cases, batch, wanted) in cases {
            let order: Vec<usize> = (0..cases).rev().collect();
            let batches = batches(&order, batch);
            assert_eq!(batches.concat(), order);
            let lengths: Vec<usize> = batches.iter().map(|batch| batch.len()).collect();
            assert_eq!(lengths, wanted, "{cases} by {batch}");
        }
    }
}
