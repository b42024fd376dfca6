//! What a sweep has measured: one row for each sample that was attacked.

use serde::{Deserialize, Serialize};

/// All that a sweep has measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// What the sweep is called; empty where it has no name.
    #[serde(default)]
    pub name: String,
    /// What was attacked, and how.
    pub configurations: Vec<Configuration>,
    /// One for each attacked sample.
    pub rows: Vec<Row>,
    /// Trials that crashed or ran out of time before anything was measured, which have no row.
    #[serde(default)]
    pub lost: u64,
}

impl Rows {
    /// Takes the rows of another part in.
    pub fn join(&mut self, other: Self) {
        let before = self.configurations.len() as u32;
        self.lost += other.lost;
        if self.name.is_empty() {
            self.name = other.name;
        }
        self.configurations.extend(other.configurations);
        self.rows.extend(other.rows.into_iter().map(|row| {
            let configuration = row.configuration + before;
            Row { configuration, ..row }
        }));
    }
}

/// A model, a defence and an attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The data set.
    pub data: String,
    /// Which of the shuffles of the data.
    pub permutation: u32,
    /// The network's name; that of the file for a model that was trained elsewhere.
    pub architecture: String,
    /// How many layers with weights it has.
    pub layers: u32,
    /// How often it saw its training set.
    pub epochs: u32,
    /// How fast it learned.
    pub learning_rate: f64,
    /// The defence; `control` where there is none.
    pub defence: Choice,
    /// The attack.
    pub attack: Choice,
    /// What the attack must learn from a model: `gradients`, `scores` or `answers`; empty where it
    /// does not search.
    #[serde(default)]
    pub needs: String,
    /// The norm in which the attack measures changes, where it can be set.
    pub norm: Option<String>,
    /// How far the attack may go in its norm, where it has such a limit.
    pub epsilon: Option<f64>,
    /// Whether the time until a change is no duration: of a single shot at fixed strength, and of
    /// a search whose first change may lie at any distance.
    pub one_shot: bool,
    /// Processor seconds of training for each sample of the training set.
    pub training_seconds: f64,
    /// Processor seconds of a plain answer.
    pub prediction_seconds: f64,
    /// The share of right answers to undisturbed samples that the model has not seen.
    pub benign_accuracy: f64,
    /// How many undisturbed samples were asked for it.
    pub benign_samples: u64,
    /// What the times were measured on; times of different machines do not go together. Several
    /// are joined by [`AND`].
    pub machine: String,
}

impl Configuration {
    /// The machines that the times were measured on.
    pub(crate) fn machines(&self) -> impl Iterator<Item = &str> {
        self.machine.split(AND)
    }
}

/// Stands between the names of machines where several worked on one run.
pub const AND: &str = " and ";

/// One of the values on an axis of the grid: a defence or an attack with its strength.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Its name, such as `pgd`; `pgd (norm 2)` in a sweep of several norms, whose strengths do not
    /// compare.
    pub name: String,
    /// Its name with the settings that distinguish it, for people.
    pub label: String,
    /// Its strength in its own unit; 0 where it has none.
    pub strength: f64,
    /// The strength between the least (0) and the most (1) of that name in the sweep.
    pub scaled: f64,
}

/// One attacked sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which of the configurations.
    pub configuration: u32,
    /// The sample's name.
    pub sample: String,
    /// Whether the attack changed the answer before its budget ended.
    pub changed: bool,
    /// Whether the answer to the attacked sample is wrong, whatever the undisturbed one was; `None`
    /// where nobody knows the right one.
    pub wrong: Option<bool>,
    /// Whether the defended model refused to answer in the end.
    pub rejected: bool,
    /// Processor seconds until the answer changed, or until the budget ended.
    pub seconds: f64,
    /// Seconds that passed meanwhile.
    pub wall_seconds: f64,
    /// Questions until the answer changed, or until the budget ended; gradients count as one.
    pub queries: u64,
    /// How far the attacked sample lies from the original, by the attack's own norm.
    pub distance: f64,
    /// The same by the largest change of a value, where that was measured.
    pub distance_inf: Option<f64>,
    /// The same by the length of the change, where that was measured.
    pub distance_2: Option<f64>,
    /// How much people notice of it, from 0 to 1, where that was measured.
    pub visual_change: Option<f64>,
}
