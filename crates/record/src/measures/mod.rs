//! The measures of a trial beside its outcome.

mod attack;
mod detections;
mod field;
mod number;
mod precision;
mod scene;

pub use attack::{AttackCost, AttackSuccess, FirstSuccess};
pub(crate) use detections::decimal;
pub use detections::{ChangeCounts, ChangedBox, DetectionDiff, FoundObject, LabelledBox};
pub(crate) use field::CHANGES;
pub use field::Field;
pub use scene::{Relocation, SceneChange, SceneObject};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What is measured of a trial beside its outcome. A measure that a trial does not have, or that has
/// its usual value (documented with each), is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measures {
    /// How much people notice of the change of the shown image, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub visual_change: Option<f64>,
    /// The drawn strengths of a fault whose strength varies from trial to trial.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strengths: Vec<NamedValue>,
    /// How many strengths were drawn until one fitted; `None` where the first did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u32>,
    /// The place of the undisturbed best answer in the observed answer, from 1; 0 where the
    /// observed answer does not have it. `None` where it is still the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// The observed score of the undisturbed best answer, where that is not the best any more.
    #[serde(skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub confidence: Option<f32>,
    /// The place of the right answer, counted as [`rank`](Self::rank); `None` where it is first, or
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth_rank: Option<u64>,
    /// Mean average precision at an overlap of one half (COCO), the undisturbed answer for the
    /// truth.
    #[serde(skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub ap: Option<f64>,
    /// Mean average precision as PASCAL VOC has it, the undisturbed answer for the truth, where it
    /// is below 1.
    #[serde(skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub voc_ap: Option<f64>,
    /// How similar the answer is to the undisturbed one, 0 to 1: objects of both over objects of
    /// either, or the mean intersection over union of segments.
    #[serde(skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub similarity: Option<f64>,
    /// The quality of the answer against the truth: average precision of objects, mean
    /// intersection over union of segments.
    #[serde(skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub truth_score: Option<f64>,
    /// The quality of the undisturbed answer.
    #[serde(skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub truth_score_before: Option<f64>,
    /// Whether the answer is the one that fairness counts; `None` where the campaign does not ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive: Option<bool>,
    /// Why the target did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many elements a model fault changed, where it is not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits: Option<u64>,
    /// The importance-sampling weight of the trial, where it is not 1.
    #[serde(skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub weight: Option<f64>,
    /// How far the oracle found the answer to lie from the undisturbed one, under the oracle's name
    /// for it, such as `iou`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<NamedValue>,
    /// What a search for the bits that break the answer found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<BoundarySearch>,
    /// What an attack cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attack: Option<AttackCost>,
    /// How the scene was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<SceneChange>,
    /// How the objects of the answer differ from those that were expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detections: Option<DetectionDiff>,
    /// The objects that were found, where the case's own are known; empty where nothing was found
    /// or the target did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Vec<FoundObject>>,
}

/// A number under a name that a fault or an oracle chose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedValue {
    /// What is measured.
    pub name: Cow<'static, str>,
    /// The number; may be infinite or NaN.
    #[serde(with = "number::exact")]
    pub value: f64,
}

/// A binary search for the lowest bit of each exponent and sign that breaks the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundarySearch {
    /// Bits that break the answer.
    pub critical: u64,
    /// Bits that the search decided on.
    pub searched: u64,
    /// Bits that were tried only to check the search's assumption.
    pub checked: u64,
    /// Those of them that contradict it.
    pub unexpected: u64,
}

impl Measures {
    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The oracle's measure, where it has this name.
    pub fn oracle_value(&self, name: &str) -> Option<f64> {
        self.oracle.as_ref().filter(|measure| measure.name == name).map(|measure| measure.value)
    }

    /// The measures without the times of an attack, which differ from run to run.
    pub(crate) fn without_times(mut self) -> Self {
        self.attack = self.attack.map(AttackCost::without_times);
        self
    }
}
