//! Optimisers: one file per update rule, and what all rules share.

mod adam;
mod rmsprop;
mod sgd;

use crate::error::TrainError;
use faultlens_core::did_you_mean;
use faultlens_engine::{Learner, WeightInfo};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Elements that one thread changes at a time.
const CHUNK: usize = 1 << 15;

/// An update rule. It sees some neighbouring weights at a time and treats each by itself, so that
/// threads may share a tensor.
pub trait Optimiser: Debug + Sync {
    /// Its name in recipes.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    /// The settings that suit it by default.
    fn usual(&self) -> Settings;

    /// How many state variables it has for each weight; they start at zero.
    fn memories(&self) -> usize;

    /// Updates weights by their gradients. `memory` holds the first state variable of all weights,
    /// then the second of all, and so on.
    fn change(&self, step: &Step, weights: &mut [f32], gradient: &[f32], memory: &mut [f32]);
}

/// Every optimiser, in alphabetical order. Add yours here.
pub const OPTIMISERS: &[&dyn Optimiser] = &[&adam::Adam, &rmsprop::RmsProp, &sgd::Sgd];

/// The optimiser of recipes that name none, as in cards of versions that had no choice.
pub const DEFAULT_OPTIMISER: &str = "sgd";

/// The optimiser of this name.
pub fn optimiser(name: &str) -> Result<&'static dyn Optimiser, TrainError> {
    if let Some(found) = OPTIMISERS.iter().find(|optimiser| optimiser.name() == name) {
        return Ok(*found);
    }
    let known: Vec<&str> = OPTIMISERS.iter().map(|optimiser| optimiser.name()).collect();
    let why = match did_you_mean(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("known are {}", known.join(", ")),
    };
    Err(TrainError::Recipe { what: "the optimiser", given: name.to_owned(), why })
}

/// Hyperparameters that every optimiser takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The learning rate.
    pub learning_rate: f64,
    /// How much of the last step goes into the next.
    pub momentum: f64,
    /// Weight decay of filters and matrices; biases, normalisations and slopes have none.
    pub weight_decay: f64,
}

/// One step of one weight tensor.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Which step of this tensor it is, from 1.
    pub count: u64,
    /// The learning rate of this step.
    pub rate: f64,
    /// How much of the last step goes into this one.
    pub momentum: f64,
    /// The factor of the gradient; below 1 where it is clipped.
    shorten: f32,
    /// The weight decay of this tensor.
    decay: f32,
}

impl Step {
    /// The effective gradient: clipped, plus the weight decay (an L2 penalty, as in PyTorch's SGD).
    pub fn followed(&self, weight: f32, gradient: f32) -> f32 {
        self.shorten * gradient + self.decay * weight
    }
}

/// Gradient descent: the update rule, its settings, and its state.
#[derive(Debug)]
pub struct Descent {
    optimiser: &'static dyn Optimiser,
    momentum: f64,
    weight_decay: f32,
    clip: Option<f64>,
    memories: BTreeMap<String, Memory>,
}

/// The state of one weight tensor.
#[derive(Debug, Default)]
struct Memory {
    count: u64,
    /// Chunk by chunk, so that the state of a chunk is contiguous.
    values: Vec<f32>,
}

impl Descent {
    /// A descent at its start. Gradients whose norm over all weights exceeds `clip` are scaled down
    /// to it.
    pub fn new(optimiser: &'static dyn Optimiser, settings: Settings, clip: Option<f64>) -> Self {
        let Settings { momentum, weight_decay, .. } = settings;
        let weight_decay = weight_decay as f32;
        Self { optimiser, momentum, weight_decay, clip, memories: BTreeMap::new() }
    }

    /// Changes all weights of the learner by its last gradients.
    pub fn step(&mut self, learner: &mut Learner, rate: f64) {
        let shorten = self.clip.map_or(1.0, |clip| shorten(learner.gradient_length(), clip));
        let Self { optimiser, momentum, weight_decay, ref mut memories, .. } = *self;
        let each = optimiser.memories();
        learner.update(|weight: &WeightInfo<'_>, weights, gradient| {
            let decay = if weight.decays { weight_decay } else { 0.0 };
            let memory = memories.entry(weight.name.to_owned()).or_default();
            memory.count += 1;
            memory.values.resize(each * weights.len(), 0.0);
            let step = Step { count: memory.count, rate, momentum, shorten, decay };
            change(optimiser, &step, weights, gradient, &mut memory.values);
        });
    }
}

/// Lets the rule change one tensor, on the threads of the pool that this runs in.
fn change(
    optimiser: &dyn Optimiser,
    step: &Step,
    weights: &mut [f32],
    gradient: &[f32],
    memory: &mut [f32],
) {
    let each = CHUNK * optimiser.memories();
    let one = |((w, m), g): ((&mut [f32], &mut [f32]), &[f32])| optimiser.change(step, w, g, m);
    if rayon::current_thread_index().is_some() {
        let chunks = weights.par_chunks_mut(CHUNK).zip(memory.par_chunks_mut(each));
        chunks.zip(gradient.par_chunks(CHUNK)).for_each(one);
    } else {
        let chunks = weights.chunks_mut(CHUNK).zip(memory.chunks_mut(each));
        chunks.zip(gradient.chunks(CHUNK)).for_each(one);
    }
}

/// The factor that brings a gradient of this norm down to the largest one allowed.
fn shorten(length: f64, longest: f64) -> f32 {
    (longest / length.max(longest)) as f32
}

#[cfg(test)]
mod tests;
