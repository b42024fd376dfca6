//! Everything that image faults showed.

use crate::benefit::Benefit;
use crate::detection::DetectionQuality;
use crate::fairness::Fairness;
use crate::robustness::Robustness;
use crate::side_by_side::{KCurve, MeasureChange, SideBySide};
use serde::Serialize;

/// What image faults showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ImageFaultResults {
    /// Wrong predictions by target; empty where no truth is known.
    pub robustness: Vec<Robustness>,
    /// Targets side by side; `None` without image faults.
    pub side_by_side: Option<SideBySide>,
    /// Changed predictions for every k, by target, of targets that rank their predictions.
    pub k_curves: Vec<KCurve>,
    /// How far predictions moved, by target and measure.
    #[serde(rename = "moved")]
    pub measures: Vec<MeasureChange>,
    /// Whether predictions are as good for all groups of cases, by target and stratum.
    pub fairness: Vec<Fairness>,
    /// What defences achieve, by defended target.
    pub benefits: Vec<Benefit>,
    /// How well objects are detected, by target.
    pub detection: Vec<DetectionQuality>,
}
