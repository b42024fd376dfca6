//! How good the models are without an attack: what every verdict has to be read beside.

use serde::Serialize;

/// Below this share of right answers a model is more often wrong than right without any attack.
const LOW: f64 = 0.5;

/// The clean accuracy of the configurations that have a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Clean {
    /// The accuracy in the middle.
    pub median: f64,
    /// The lowest one.
    pub lowest: f64,
    /// The highest one.
    pub highest: f64,
    /// How many configurations there are.
    pub configurations: u64,
    /// How many of them answer fewer than half of the undisturbed samples rightly.
    pub low: u64,
}

impl Clean {
    /// Of the accuracies of configurations; `None` without any.
    pub(super) fn of(mut shares: Vec<f64>) -> Option<Self> {
        shares.sort_by(f64::total_cmp);
        Some(Self {
            median: *shares.get(shares.len() / 2)?,
            lowest: *shares.first()?,
            highest: *shares.last()?,
            configurations: shares.len() as u64,
            low: shares.iter().filter(|share| **share < LOW).count() as u64,
        })
    }

    /// Whether the model in the middle is more often wrong than right.
    #[must_use]
    pub fn is_low(&self) -> bool {
        self.median < LOW
    }
}
