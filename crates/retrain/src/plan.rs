//! How large an experiment is.

use crate::RetrainError;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The most scenes, and the most trials of an object: beyond, a slip of the hand is likelier.
const MOST_SCENES: usize = 100_000;
const MOST_PER_OBJECT: u32 = 1000;
/// The most seeds.
const MOST_SEEDS: usize = 1000;

/// All that decides what an experiment measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Where the first model and the scenes come from.
    pub origin: Origin,
    /// The first of the seeds; the others follow it.
    pub seed: u64,
    /// How many seeds there are: each is the whole experiment once.
    pub seeds: usize,
    /// How many original scenes each seed has, and how many are added to them; all that there are
    /// where it is not said.
    pub scenes: Option<usize>,
    /// How many epochs a configuration goes on for; an epoch is twice as many images as there are
    /// originals, in all three.
    pub epochs: usize,
    /// After how many epochs the model is measured each time.
    pub every: usize,
    /// Images per step.
    pub batch: usize,
    /// The learning rate; the first model's own where it is not said.
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
        /// Where inserted objects come from; the training scenes where it is not said.
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

    /// Says what is wrong before anything is made; recipes check the rest.
    pub fn check(&self) -> Result<(), RetrainError> {
        let scenes = self.scenes.unwrap_or(2);
        let checks = [
            ("the number of seeds", self.seeds, 1, MOST_SEEDS, "from 1 to 1000 are possible"),
            ("the number of scenes", scenes, 2, MOST_SCENES, "from 2 to 100000 are possible"),
            (
                "the number of epochs between measurements",
                self.every,
                1,
                self.epochs,
                "it must be from 1 up to the number of epochs",
            ),
            (
                "the number of trials per object",
                self.per_object as usize,
                1,
                MOST_PER_OBJECT as usize,
                "from 1 to 1000 are possible",
            ),
        ];
        for (what, given, least, most, why) in checks {
            if !(least..=most).contains(&given) {
                return Err(RetrainError::Plan { what, given: given.to_string(), why });
            }
        }
        match self.origin {
            Origin::World { held_out, .. } if !(1..=MOST_SCENES).contains(&held_out) => {
                let what = "the number of held-out scenes";
                let why = "from 1 to 100000 are possible";
                Err(RetrainError::Plan { what, given: held_out.to_string(), why })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_said_first() {
        let plain = Plan::new(Origin::world());
        assert!(plain.check().is_ok());
        assert_eq!(Plan { seed: u64::MAX, seeds: 2, ..plain.clone() }.all_seeds().last(), Some(0));
        let few = Origin::World { architecture: String::new(), first_epochs: 1, held_out: 0 };
        for (plan, wanted) in [
            (Plan { seeds: 0, ..plain.clone() }, "seeds cannot be 0"),
            (Plan { scenes: Some(1), ..plain.clone() }, "scenes cannot be 1: from 2"),
            (Plan { every: 6, ..plain.clone() }, "cannot be 6: it must be from 1 up to"),
            (Plan { epochs: 0, ..plain.clone() }, "cannot be 1"),
            (Plan { per_object: 0, ..plain.clone() }, "per object cannot be 0"),
            (Plan { origin: few, ..plain }, "held-out scenes cannot be 0"),
        ] {
            let error = plan.check().unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
