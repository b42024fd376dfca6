//! What a run says: the one object that every report is made from, and that `--json` prints.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of this object; raised when a reader of an older one would go wrong.
pub const SUMMARY_VERSION: u32 = 1;

/// All that a run says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// See [`SUMMARY_VERSION`].
    pub version: u32,
    /// The campaign's name.
    pub name: String,
    /// The findings in plain words, the most important first; each one or two sentences.
    pub findings: Vec<String>,
    /// How far the run is.
    pub progress: Progress,
    /// What was done: requirements, oracle, seed, sampling in words, one line each.
    pub method: Vec<String>,
    /// How often the intervals cover the truth, such as 0.95.
    pub confidence: f64,
    /// What the intervals are, in words: "Wilson 95% intervals".
    pub interval: String,
    /// All trials together; where a stop rule ended some sooner, those that count together.
    pub overall: Tally,
    /// By target.
    pub targets: Vec<TargetSummary>,
    /// Rates by some attribute: one table and chart each, the most telling first.
    pub groupings: Vec<Grouping>,
    /// Rates along a dose, for faults that were swept.
    pub curves: Vec<Curve>,
    /// Trials worth looking at.
    pub examples: Vec<Example>,
    /// Requirements with their verdicts.
    pub requirements: Vec<Checked>,
    /// Pinned trials, replayed.
    pub pinned: Vec<Pinned>,
    /// The verdict over all requirements and pinned trials; `None` where there are none.
    pub verdict: Option<Verdict>,
    /// What the reader should know before trusting the numbers.
    pub warnings: Vec<String>,
    /// Where and with what the run was made, as name and value.
    pub provenance: Vec<(String, String)>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// How many trials ended how, and the rate of those that deviated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Same answer.
    pub masked: u64,
    /// Another answer, and nothing shows that it is wrong.
    pub deviated: u64,
    /// An answer that gives the fault away.
    pub detected: u64,
    /// No answer.
    pub crashed: u64,
    /// No answer in time.
    pub timed_out: u64,
    /// Trials that say nothing, by reason; not in any denominator.
    pub unjudged: BTreeMap<String, u64>,
    /// How often the answer deviated, among the judged.
    pub rate: Rate,
}

/// A rate with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// How often it happened.
    pub events: u64,
    /// Among how many.
    pub n: u64,
    /// The rate; `None` where n is 0.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// One target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetSummary {
    /// Its name in the campaign.
    pub name: String,
    /// What it is: the model as the campaign names it.
    pub model: String,
    /// How many undisturbed answers are right, where cases have labels.
    pub accuracy: Option<Rate>,
    /// All its trials.
    pub tally: Tally,
}

/// Rates by one attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// The attribute, as `--by` takes it: `fault`, `operator`, `kind`, `bit`, `label`, or a stratum.
    pub attribute: String,
    /// A heading for people.
    pub title: String,
    /// Whether the groups have an order of their own (bits, layers, severities); else they come
    /// by falling rate.
    pub ordered: bool,
    /// The groups.
    pub rows: Vec<GroupRow>,
    /// How the groups compare with all others together, where that was tested: how many
    /// comparisons, and how the p-values are corrected.
    pub correction: Option<String>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    /// What its trials have in common. From outside; escape it.
    pub key: String,
    /// Its trials.
    pub tally: Tally,
    /// The corrected p-value of "deviates as often as all others"; `None` where it was not tested.
    pub p_value: Option<f64>,
}

/// Rates along a dose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The target.
    pub target: String,
    /// The fault.
    pub fault: String,
    /// What the dose is, such as `severity`.
    pub axis: String,
    /// Doses in rising order with their rates.
    pub points: Vec<(f64, Rate)>,
}

/// A trial worth looking at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Its place in the plan; what `replay` takes.
    pub number: u64,
    /// The target.
    pub target: String,
    /// The case's name. From outside; escape it.
    pub case: String,
    /// The case's true class, where it is known. From outside; escape it.
    pub truth: Option<String>,
    /// The fault with its settings.
    pub fault: String,
    /// Where a model fault landed, in words. Has names from the model; escape it.
    pub site: Option<String>,
    /// The outcome's name.
    pub outcome: String,
    /// The undisturbed answer, best first: label and score.
    pub golden: Vec<(String, f64)>,
    /// The answer under the fault, best first; a score that is no number is `null`.
    pub observed: Vec<(String, Option<f64>)>,
    /// The image as it was shown undisturbed: a path below the run directory, to a PNG.
    pub before: Option<String>,
    /// The image with the fault; `None` where the fault is inside the model.
    pub after: Option<String>,
}

/// A requirement, checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// The requirement in words.
    pub requirement: String,
    /// The measured rate.
    pub rate: Rate,
    /// The limit on the rate.
    pub limit: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict's reason in words, with what to do where it is inconclusive.
    pub why: String,
}

/// A pinned trial, replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pinned {
    /// The pin's name.
    pub name: String,
    /// Fault, case and target in words.
    pub what: String,
    /// The outcome's name.
    pub outcome: String,
    /// Met where the outcome is as good as golden.
    pub verdict: Verdict,
    /// The reason in words.
    pub why: String,
}

/// Whether a limit holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies within the limit.
    Met,
    /// The interval straddles the limit, or there is no evidence.
    Inconclusive,
    /// The whole interval lies beyond the limit.
    NotMet,
}

impl Verdict {
    /// The verdict in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Inconclusive => "inconclusive",
            Self::NotMet => "not met",
        }
    }
}
