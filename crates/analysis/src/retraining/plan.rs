//! How large an experiment is.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// All that decides what an experiment measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Where the first model and the scenes come from.
    pub origin: Origin,
    /// The first of the seeds; the others follow it.
    pub seed: u64,
    /// How many seeds there are: each is the whole experiment once.
    pub seeds: usize,
    /// How many original scenes each seed has, and how many are added to them; all that there
    /// are by default.
    pub scenes: Option<usize>,
    /// How many epochs a configuration goes on for; an epoch is twice as many images as there are
    /// originals, in all three.
    pub epochs: usize,
    /// After how many epochs the model is measured each time.
    pub every: usize,
    /// Images per step.
    pub batch: usize,
    /// The learning rate; the first model's own by default.
    pub rate: Option<f64>,
    /// How many scenes are made for every object that the first model finds.
    pub per_object: u32,
    /// Whether inserted objects are labelled too.
    pub label_inserted: bool,
}

/// Where the first model and the scenes come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The embedded world: every seed has its own scenes and trains its own first model on them.
    World {
        /// The network.
        architecture: String,
        /// For how many epochs the first model is trained.
        first_epochs: usize,
        /// How many held-out scenes are measured on.
        held_out: usize,
    },
    /// A detector that `faultlens train` made.
    Own {
        /// The model; its card lies beside it.
        model: PathBuf,
        /// What it was trained on.
        data: PathBuf,
        /// What is measured on.
        evaluate: PathBuf,
        /// Where inserted objects come from; the training scenes by default.
        objects: Option<PathBuf>,
    },
}

impl Origin {
    /// The embedded world as the defaults have it: the shipped detector's network, stopped long
    /// before it has learned all that it could.
    pub fn world() -> Self {
        Self::World {
            architecture: "detector:12,24x2,48x3".into(),
            first_epochs: 15,
            held_out: 200,
        }
    }
}

impl Plan {
    /// The usual experiment with a first model from there.
    pub fn new(origin: Origin) -> Self {
        let scenes = matches!(origin, Origin::World { .. }).then_some(100);
        Self {
            origin,
            seed: 1,
            seeds: 5,
            scenes,
            epochs: 5,
            every: 1,
            batch: 16,
            rate: None,
            per_object: 10,
            label_inserted: false,
        }
    }

    /// The seeds.
    pub fn all_seeds(&self) -> impl Iterator<Item = u64> {
        (0..self.seeds as u64).map(|at| self.seed.wrapping_add(at))
    }
}
