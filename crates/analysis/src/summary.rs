//! What a run found: the one object that every report is made from.
//!
//! It holds facts alone. Its parts that serialise are fields of the JSON report; what reads as
//! sentences there (findings, recommendations, warnings, the method) is written by the report from
//! the facts that are skipped here.

use crate::attacks::{AttackResult, Masking};
use crate::check::{Checked, Pinned};
use crate::classes::Classes;
use crate::critical::CriticalBits;
use crate::curve::Curve;
use crate::example::Example;
use crate::family_result::FamilyResult;
use crate::gallery::Gallery;
use crate::group::Grouping;
use crate::image_results::ImageFaultResults;
use crate::locations::{HeatMap, Ranking};
use crate::method::{Method, Provenance};
use crate::preserve::Preserved;
use crate::scenes::{ChangedScenes, PlacementEffect, SceneTotal};
use crate::tally::Tally;
use crate::target::TargetSummary;
use crate::thresholds::ThresholdRates;
use crate::traits::Trait;
use crate::verdict::Verdict;
use crate::warning::Warning;
use faultlens_record::Spending;
use faultlens_spec::Intervals;
use serde::Serialize;

/// The version of the JSON report; raised when a reader of an older one would go wrong.
pub const SUMMARY_VERSION: u32 = 2;

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// See [`SUMMARY_VERSION`].
    pub version: u32,
    /// The campaign's name.
    pub name: String,
    /// How far the run is.
    pub progress: Progress,
    /// How the run was made.
    #[serde(skip)]
    pub method: Method,
    /// Where and with what the run was made.
    #[serde(skip)]
    pub provenance: Provenance,
    /// How intervals of rates are made.
    #[serde(skip)]
    pub intervals: Intervals,
    /// Whether some trials count for more or less than one, since their locations were drawn more
    /// or less often than they occur; rates are corrected for it, counts are not.
    pub weighted: bool,
    /// All trials together; where a stop rule ended some sooner, those that count together. Their
    /// rate means something only where all faults are of one family.
    pub overall: Tally,
    /// By family of faults.
    pub families: Vec<FamilyResult>,
    /// By target.
    pub targets: Vec<TargetSummary>,
    /// Rates by attributes of the trials.
    pub groupings: Vec<Grouping>,
    /// Rates along a dose, for faults that were swept.
    pub curves: Vec<Curve>,
    /// The most and the least robust classes; `None` where there are too few to rank.
    pub classes: Option<Classes>,
    /// Rates and accuracy by traits of targets.
    pub traits: Vec<Trait>,
    /// How many trials lie beyond each threshold of a numeric oracle.
    pub thresholds: Vec<ThresholdRates>,
    /// What faults inside models showed.
    #[serde(flatten)]
    pub model: ModelFaultResults,
    /// What image faults showed.
    #[serde(flatten)]
    pub images: ImageFaultResults,
    /// What attacks showed.
    #[serde(flatten)]
    pub attacks: AttackResults,
    /// What changed scenes showed.
    #[serde(flatten)]
    pub scenes: SceneResults,
    /// Requirements and pinned trials with their verdicts.
    #[serde(flatten)]
    pub checks: Checks,
    /// Time and cost of the run.
    pub spending: Option<Spending>,
    /// Trials worth looking at.
    pub examples: Vec<Example>,
    /// Pictures of predictions, of the targets that have such.
    pub galleries: Vec<Gallery>,
    /// What a reader must know before trusting the numbers.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// What faults inside models showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ModelFaultResults {
    /// Rates by layer and bit, one per target whose bits were flipped in several layers.
    pub heat_maps: Vec<HeatMap>,
    /// What to protect first, by target: layers, then operators.
    pub rankings: Vec<Ranking>,
    /// What searches for critical bits found, by target.
    pub critical: Vec<CriticalBits>,
}

/// What attacks showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AttackResults {
    /// By target and attack.
    #[serde(rename = "attacks")]
    pub results: Vec<AttackResult>,
    /// Targets that mask their gradients.
    pub masked: Vec<Masking>,
}

/// What changed scenes showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SceneResults {
    /// By target and fault point.
    #[serde(rename = "scenes")]
    pub by_fault: Vec<ChangedScenes>,
    /// By target, and over all targets where there are several.
    #[serde(rename = "scene_totals")]
    pub totals: Vec<SceneTotal>,
    /// Whether it matters where objects are placed, by target.
    #[serde(rename = "placed")]
    pub placements: Vec<PlacementEffect>,
}

/// Requirements and pinned trials with their verdicts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Checks {
    /// Requirements on rates.
    pub requirements: Vec<Checked>,
    /// Requirements within human tolerance.
    pub preserved: Vec<Preserved>,
    /// Pinned trials, replayed.
    pub pinned: Vec<Pinned>,
    /// The worst of all verdicts; `None` where nothing is required.
    pub verdict: Option<Verdict>,
}

impl Checks {
    pub(crate) fn new(
        requirements: Vec<Checked>,
        preserved: Vec<Preserved>,
        pinned: Vec<Pinned>,
    ) -> Self {
        let required = requirements.iter().map(|checked| checked.verdict);
        let within_tolerance = preserved.iter().map(|preserved| preserved.verdict);
        let replayed = pinned.iter().map(|pin| pin.verdict);
        let verdict = required.chain(within_tolerance).chain(replayed).max();
        Self { requirements, preserved, pinned, verdict }
    }
}

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Trials that the campaign plans at most.
    pub planned: u64,
    /// Trials on record.
    pub recorded: u64,
    /// Whether nothing is left to do.
    pub complete: bool,
    /// Whether the stop rule ended the run before the last planned trial.
    pub stopped_early: bool,
    /// The time of all trials together, in seconds of one thread.
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_counts() {
        assert!(Verdict::NotMet > Verdict::Inconclusive && Verdict::Inconclusive > Verdict::Met);
        assert_eq!(Checks::new(Vec::new(), Vec::new(), Vec::new()).verdict, None);
        let pin = |verdict| Pinned {
            name: String::new(),
            what: String::new(),
            outcome: String::new(),
            verdict,
            reason: None,
        };
        let pins = vec![pin(Verdict::Met), pin(Verdict::NotMet), pin(Verdict::Inconclusive)];
        assert_eq!(Checks::new(Vec::new(), Vec::new(), pins).verdict, Some(Verdict::NotMet));
    }
}
