//! What an attack cost and how far it moved the image.

use super::number;
use serde::{Deserialize, Serialize};

/// The cost of an adversarial search. Times differ from run to run and are never compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackCost {
    /// Processor seconds of the whole search.
    #[serde(with = "number::exact")]
    pub cpu_seconds: f64,
    /// Seconds of the whole search on the clock.
    #[serde(with = "number::exact")]
    pub wall_seconds: f64,
    /// Gradient evaluations of the whole search.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gradients: u64,
    /// What the search found; `None` where no image that it tried has the wanted answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<AttackSuccess>,
}

/// An image that fools the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackSuccess {
    /// Distance of the best adversarial image from the original, in the norm of the attack.
    #[serde(with = "number::exact")]
    pub distance: f64,
    /// The same distance in the maximum norm.
    #[serde(with = "number::exact")]
    pub distance_inf: f64,
    /// The same distance in the Euclidean norm.
    #[serde(with = "number::exact")]
    pub distance_2: f64,
    /// How many elements differ from the original.
    #[serde(with = "number::exact")]
    pub distance_0: f64,
    /// When the first adversarial image was found.
    pub first: FirstSuccess,
}

/// What an attack had spent when it succeeded first; later queries only bring the image closer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstSuccess {
    /// Queries so far.
    pub queries: u64,
    /// Gradient evaluations so far.
    pub gradients: u64,
    /// Distance of that image, in the norm of the attack.
    #[serde(with = "number::exact")]
    pub distance: f64,
    /// Processor seconds so far.
    #[serde(with = "number::exact")]
    pub cpu_seconds: f64,
    /// Seconds on the clock so far.
    #[serde(with = "number::exact")]
    pub wall_seconds: f64,
}

impl AttackCost {
    /// The cost without its times: what is the same on every machine.
    pub(crate) fn without_times(mut self) -> Self {
        self.cpu_seconds = 0.0;
        self.wall_seconds = 0.0;
        if let Some(success) = &mut self.success {
            success.first.cpu_seconds = 0.0;
            success.first.wall_seconds = 0.0;
        }
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
