//! How weights follow their gradients: one file per rule, and what all rules share.

mod adam;
mod rmsprop;
mod sgd;

use crate::{Recipe, TrainError};
use faultlens_core::did_you_mean;
use faultlens_engine::{Learner, WeightInfo};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Elements that one thread changes at a time.
const CHUNK: usize = 1 << 15;

/// A rule by which weights follow their gradients. It sees some neighbouring weights at a time and
/// treats each by itself, so that threads may share a tensor.
pub trait Optimiser: Debug + Sync {
    /// Its name in recipes.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    /// The settings that suit it where nobody says others.
    fn usual(&self) -> Settings;

    /// How many numbers it remembers for each weight; they start at zero.
    fn memories(&self) -> usize;

    /// Changes weights by their gradients. `memory` holds as many numbers as there are weights
    /// for the first that is remembered, then as many for the next.
    fn change(&self, step: &Step, weights: &mut [f32], gradient: &[f32], memory: &mut [f32]);
}

/// Every optimiser, in alphabetical order. Add yours here.
pub const OPTIMISERS: &[&dyn Optimiser] = &[&adam::Adam, &rmsprop::RmsProp, &sgd::Sgd];

/// What is followed where a recipe names none, as in cards from before there was a choice.
pub const USUAL_OPTIMISER: &str = "sgd";

/// The optimiser of this name.
pub fn optimiser(name: &str) -> Result<&'static dyn Optimiser, TrainError> {
    let known = || OPTIMISERS.iter().map(|optimiser| optimiser.name());
    let found = OPTIMISERS.iter().find(|optimiser| optimiser.name() == name).copied();
    found.ok_or_else(|| TrainError::Recipe {
        what: "the optimiser",
        given: name.to_owned(),
        why: match did_you_mean(name, known()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known are {}", known().collect::<Vec<_>>().join(", ")),
        },
    })
}

/// Numbers that every optimiser takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How far a step goes.
    pub learning_rate: f64,
    /// How much of the last step goes into the next.
    pub momentum: f64,
    /// How strongly what is multiplied (filters and matrices) is pulled to zero; biases, norms
    /// and slopes are not.
    pub weight_decay: f64,
}

/// One step of one weight tensor.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Which step of this tensor it is, from 1.
    pub count: u64,
    /// How far it goes.
    pub rate: f64,
    /// How much of the last step goes into this one.
    pub momentum: f64,
    /// What the gradient is multiplied with; below 1 where it is too long.
    shorten: f32,
    /// How strongly these weights are pulled to zero.
    decay: f32,
}

impl Step {
    /// What is followed: the gradient, shortened where it is too long, and the pull to zero.
    pub fn followed(&self, weight: f32, gradient: f32) -> f32 {
        self.shorten * gradient + self.decay * weight
    }
}

/// A descent along gradients: the rule, its settings, and what it remembers.
#[derive(Debug)]
pub struct Descent {
    optimiser: &'static dyn Optimiser,
    momentum: f64,
    weight_decay: f32,
    clip: Option<f64>,
    memories: BTreeMap<String, Memory>,
}

/// What is remembered of one weight tensor.
#[derive(Debug, Default)]
struct Memory {
    count: u64,
    /// Chunk by chunk, so that a chunk's memory lies together.
    values: Vec<f32>,
}

impl Descent {
    /// At rest. Gradients that are longer than `clip`, over all weights, are shortened to it.
    pub fn new(optimiser: &'static dyn Optimiser, settings: Settings, clip: Option<f64>) -> Self {
        let Settings { momentum, weight_decay, .. } = settings;
        let weight_decay = weight_decay as f32;
        Self { optimiser, momentum, weight_decay, clip, memories: BTreeMap::new() }
    }

    /// The descent that a recipe describes.
    pub fn of(recipe: &Recipe) -> Result<Self, TrainError> {
        Ok(Self::new(optimiser(&recipe.optimiser)?, recipe.settings(), recipe.clip))
    }

    /// Changes all weights of the learner by its last gradients.
    pub fn step(&mut self, learner: &mut Learner, rate: f64) {
        let shorten = self.clip.map_or(1.0, |most| shorten(learner.gradient_length(), most));
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

/// The factor that brings a gradient of this length down to the longest that is followed.
fn shorten(length: f64, longest: f64) -> f32 {
    (longest / length.max(longest)) as f32
}

#[cfg(test)]
mod tests;
