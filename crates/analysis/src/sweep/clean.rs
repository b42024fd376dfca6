//! How good the models are without an attack: what every verdict has to be read beside.

use serde::Serialize;

use super::findings::OfConfiguration;

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
    /// Of configurations with a verdict whose accuracy is known; `None` without any.
    pub(super) fn of(configurations: &[OfConfiguration]) -> Option<Self> {
        let mut shares: Vec<f64> = configurations
            .iter()
            .filter(|one| one.costs.as_ref().is_some_and(|costs| costs.verdict.is_some()))
            .filter_map(|one| one.counts.benign.value)
            .collect();
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
