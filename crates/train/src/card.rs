//! Model cards: what a model is, how it was trained, what its training cost and how good it is.

use crate::cost::Cost;
use crate::recipe::Recipe;
use crate::score::Score;
use crate::trainer::Epoch;
use serde::{Deserialize, Serialize};

/// Everything that a user of a model should know about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The model's name.
    pub name: String,
    /// The architecture it was built from.
    pub architecture: String,
    /// How many trainable parameters it has.
    pub parameters: usize,
    /// What it was trained on.
    pub data: String,
    /// The names of its classes; none for a regressor.
    pub classes: Vec<String>,
    /// How it was trained.
    pub recipe: Recipe,
    /// What its scores were measured on; empty in cards of versions that did not record it.
    #[serde(default)]
    pub measured_on: String,
    /// How good it is on cases that it has not seen.
    pub scores: Vec<Score>,
    /// What its training cost.
    pub cost: Cost,
    /// The loss of each epoch.
    pub epochs: Vec<Epoch>,
    /// The command that trains it again.
    pub command: String,
    /// The version of the program that trained it.
    pub version: String,
}
