//! What an experiment has measured, seed by seed.

use super::{Plan, Precision};
use serde::{Deserialize, Serialize};

/// Raised when files of before can no longer be read.
pub const VERSION: u32 = 1;

/// All that an experiment has measured so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retraining {
    /// The form of the file.
    pub version: u32,
    /// What is measured.
    pub plan: Plan,
    /// What was measured on, in words.
    pub measured_on: String,
    /// The seeds that are done.
    pub seeds: Vec<OfSeed>,
}

/// The whole experiment, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfSeed {
    /// The seed.
    pub seed: u64,
    /// How many originals there are.
    pub scenes: usize,
    /// How good the first model is.
    pub first: Precision,
    /// What the campaign found.
    pub used: ScenesUsed,
    /// How each configuration went on.
    pub courses: Vec<Course>,
}

/// Changed scenes of a campaign, and which of them were used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenesUsed {
    /// Scenes that were judged.
    pub judged: u64,
    /// Scenes among them in which the first model's answer changed.
    pub failing: u64,
    /// Failing scenes to draw from, each once: as they were placed, and as far as they moved.
    pub different: usize,
    /// Failing scenes that were drawn; where there are fewer than originals, they are used again.
    pub failing_used: usize,
    /// Scenes that were drawn whatever became of them.
    pub unchecked_used: usize,
    /// Those among them in which the answer changed.
    pub unchecked_failing: usize,
    /// A few of the failing scenes, from the experiment's folder.
    pub shown: Vec<String>,
}

/// What a model goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Configuration {
    /// The originals, each twice in an epoch.
    Originals,
    /// The originals and as many scenes in which the first model fails.
    Failing,
    /// The originals and as many changed scenes that nobody looked at.
    Unchecked,
}

impl Configuration {
    /// All, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Originals, Self::Failing, Self::Unchecked];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Originals => "originals",
            Self::Failing => "failing",
            Self::Unchecked => "unchecked",
        }
    }

    /// What it learns from, in words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Originals => "originals alone",
            Self::Failing => "originals and failing scenes",
            Self::Unchecked => "originals and unchecked scenes",
        }
    }

    /// The mAP, in percent, that the paper reports for it.
    pub fn paper(self) -> f64 {
        match self {
            Self::Originals => 9.3,
            Self::Failing => 10.5,
            Self::Unchecked => 8.6,
        }
    }
}

/// How a configuration went on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Which one.
    pub configuration: Configuration,
    /// The loss of every epoch, by the steps at its end.
    pub losses: Vec<(usize, f64)>,
    /// Every measurement after the start.
    pub points: Vec<Point>,
}

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Steps done until then.
    pub steps: usize,
    /// How good the model was.
    pub precision: Precision,
}

impl Retraining {
    /// An experiment of which nothing is done.
    pub fn new(plan: Plan, measured_on: String) -> Self {
        Self { version: VERSION, plan, measured_on, seeds: Vec::new() }
    }

    /// Whether every seed is done.
    pub fn is_complete(&self) -> bool {
        self.seeds.len() == self.plan.seeds
    }
}
