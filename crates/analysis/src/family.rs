//! What faults disturb.

use faultlens_record::store::FaultOn;
use serde::Serialize;

/// What faults disturb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Numbers inside the model.
    InsideModel,
    /// Images.
    Images,
    /// Images, as a search found them.
    Attacks,
    /// What stands in the scene.
    Scenes,
}

impl From<FaultOn> for Family {
    fn from(on: FaultOn) -> Self {
        match on {
            FaultOn::Model => Self::InsideModel,
            FaultOn::Image => Self::Images,
            FaultOn::Attack => Self::Attacks,
            FaultOn::Scene => Self::Scenes,
        }
    }
}
