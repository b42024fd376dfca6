//! What a run says: the one object that every report is made from, and that `--json` prints.

use super::{ChangedScenes, Gallery, Placed, Preserved, SceneTotal};
use faultlens_record::Spending;
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
    /// Whether some trials count for more or less than one, since their places were drawn more or
    /// less often than they occur; rates are corrected for it, counts are not.
    #[serde(default)]
    pub weighted: bool,
    /// Rates along a dose, for faults that were swept.
    pub curves: Vec<Curve>,
    /// Rates by layer and bit, one per target whose bits were flipped in several layers.
    #[serde(default)]
    pub heat_maps: Vec<HeatMap>,
    /// What to protect first, by target: layers, then operators.
    #[serde(default)]
    pub rankings: Vec<Ranking>,
    /// What searches for critical bits found, by target.
    #[serde(default)]
    pub critical: Vec<CriticalBits>,
    /// The classes that hold out best and worst; `None` where there are too few to tell.
    #[serde(default)]
    pub classes: Option<Classes>,
    /// Rates and accuracy by what tells targets apart.
    #[serde(default)]
    pub traits: Vec<Trait>,
    /// How many trials lie beyond each threshold of a numeric oracle.
    #[serde(default)]
    pub thresholds: Vec<Beyond>,
    /// Wrong answers under faults in images, by target; empty where no truth is known.
    #[serde(default)]
    pub robustness: Vec<Robustness>,
    /// Targets side by side under faults in images; `None` without such faults.
    #[serde(default)]
    pub side_by_side: Option<SideBySide>,
    /// Misclassification for every k, by target, of targets that rank their answers.
    #[serde(default)]
    pub k_curves: Vec<KCurve>,
    /// How far answers moved under faults in images, by target and measure.
    #[serde(default)]
    pub moved: Vec<Moved>,
    /// Whether answers are as good for all groups of cases, by target and stratum.
    #[serde(default)]
    pub fairness: Vec<Fairness>,
    /// What defences are worth, by defended target.
    #[serde(default)]
    pub benefits: Vec<Benefit>,
    /// How attacks fared, by target and attack.
    #[serde(default)]
    pub attacks: Vec<Attacked>,
    /// How well objects are found undisturbed and under faults in images, by target.
    #[serde(default)]
    pub detection: Vec<DetectionQuality>,
    /// Where gradients mislead.
    #[serde(default)]
    pub masked: Vec<Masking>,
    /// How answers fared in changed scenes, by target and fault point.
    #[serde(default)]
    pub scenes: Vec<ChangedScenes>,
    /// The same by target, and over all targets where there are several.
    #[serde(default)]
    pub scene_totals: Vec<SceneTotal>,
    /// Whether it matters where objects are put, by target.
    #[serde(default)]
    pub placed: Vec<Placed>,
    /// What the run took.
    #[serde(default)]
    pub spending: Option<Spending>,
    /// Advice to who relies on the targets, derived from the numbers above.
    #[serde(default)]
    pub advice: Vec<String>,
    /// Trials worth looking at.
    pub examples: Vec<Example>,
    /// Answers that can be looked at, side by side, of the targets that have such.
    #[serde(default)]
    pub galleries: Vec<Gallery>,
    /// Requirements with their verdicts.
    pub requirements: Vec<Checked>,
    /// Whether answers stay as they should under changes that people tolerate.
    #[serde(default)]
    pub preserved: Vec<Preserved>,
    /// Pinned trials, replayed.
    pub pinned: Vec<Pinned>,
    /// The verdict over all requirements and pinned trials; `None` where there are none.
    pub verdict: Option<Verdict>,
    /// What the reader should know before trusting the numbers.
    pub warnings: Vec<String>,
    /// Where and with what the run was made, as name and value.
    pub provenance: Vec<(String, String)>,
}

/// How often a target's answers are wrong under faults in images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Robustness {
    /// The target.
    pub target: String,
    /// How often its undisturbed answers are wrong.
    pub clean: Rate,
    /// By fault, over the severities.
    pub faults: Vec<FaultErrors>,
    /// The share of right answers under faults, each fault and severity counting the same (mPC).
    pub mean_accuracy: Option<f64>,
    /// That over the share of right undisturbed answers (rPC).
    pub kept: Option<f64>,
    /// The target whose errors are the measure, where the campaign names one.
    pub reference: Option<String>,
    /// The mean over faults under which the reference errs of errors beside its own (mCE); `None`
    /// without such.
    pub mean_relative: Option<f64>,
}

/// Wrong answers under one fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultErrors {
    /// The fault with its settings but for the severity.
    pub fault: String,
    /// By severity, the share of wrong answers.
    pub errors: Vec<(f64, Rate)>,
    /// Its mean over the severities.
    pub mean: f64,
    /// All trials of the fault together.
    pub all: Rate,
    /// The mean over the reference's (CE).
    pub relative: Option<f64>,
}

/// Targets side by side under faults in images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideBySide {
    /// The targets.
    pub targets: Vec<String>,
    /// By fault, over all its points.
    pub rows: Vec<SideRow>,
    /// By target, the plain mean over faults.
    pub means: Vec<Option<f64>>,
    /// By target, the plain mean over faults at the least dose of each.
    pub initial_means: Vec<Option<f64>>,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideRow {
    /// The fault's name.
    pub fault: String,
    /// Whether it is there to show what happens without a fault; such are in no mean.
    #[serde(default)]
    pub control: bool,
    /// By target, the share of changed answers.
    pub cells: Vec<Option<Rate>>,
    /// The same at the least dose.
    pub initial: Vec<Option<Rate>>,
    /// The plain mean over targets.
    pub mean: Option<f64>,
}

/// The share of trials whose answer does not have a wanted one among the first k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KCurve {
    /// The target.
    pub target: String,
    /// What is wanted: `golden`, the best undisturbed answer, or `truth`, the right one.
    pub against: String,
    /// For k from 1 on.
    pub rates: Vec<Rate>,
}

/// How far a target's answers moved, on one measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The target.
    pub target: String,
    /// What is measured, in words.
    pub what: String,
    /// By fault.
    pub rows: Vec<MovedRow>,
    /// All trials together.
    pub all: Mean,
}

/// How far answers moved under one fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MovedRow {
    /// The fault's name.
    pub fault: String,
    /// The mean over its trials.
    pub mean: Mean,
}

/// Whether a target's answers are as good for all groups of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// The target.
    pub target: String,
    /// The stratum.
    pub by: String,
    /// The group that others are set against.
    pub privileged: String,
    /// The answer that counts; `None`: the right one.
    pub positive: Option<String>,
    /// Undisturbed.
    pub clean: FairPoint,
    /// Under each fault point.
    pub points: Vec<FairPoint>,
    /// The places in `points` of the largest gaps of opportunity, largest first.
    pub largest: Vec<usize>,
    /// How many gaps were tested; p-values are corrected for them (Holm).
    pub tests: u64,
}

/// Groups under one fault point, or undisturbed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FairPoint {
    /// The fault with its settings; `None` is undisturbed.
    pub fault: Option<String>,
    /// By group.
    pub groups: Vec<FairGroup>,
    /// By group other than the privileged one.
    pub gaps: Vec<Gap>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FairGroup {
    /// The group.
    pub name: String,
    /// Positive answers to cases that should have one: the true positive rate.
    pub found: Option<Rate>,
    /// Positive answers to cases that should have none; `None` without such cases.
    pub wrong: Option<Rate>,
    /// Positive answers to all cases.
    pub selected: Option<Rate>,
}

/// What tells the privileged group from another one: its rate less the other's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The other group.
    pub group: String,
    /// Of true positives: equal opportunity.
    pub opportunity: Mean,
    /// Of positive answers: demographic parity.
    pub parity: Mean,
    /// The larger of the differences of true and of false positives: equalised odds; `None`
    /// without cases that should have no positive answer.
    pub odds: Option<f64>,
    /// The corrected p-value of "both groups have the same true positive rate".
    pub p_value: f64,
}

/// What a target's defences are worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Benefit {
    /// The defended target.
    pub defended: String,
    /// The same without a defence.
    pub plain: String,
    /// The defences.
    pub defences: String,
    /// Wrong undisturbed answers without them less those with them: below 0, they cost something.
    pub clean: Mean,
    /// All faults together; `None` without pairs of trials.
    pub all: Option<BenefitRow>,
    /// By fault.
    pub rows: Vec<BenefitRow>,
}

/// Rates without defences less those with them, over the same trials: above 0, they help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenefitRow {
    /// The fault's name.
    pub fault: String,
    /// Answers that are not golden's, each target's own.
    pub changed: Mean,
    /// Wrong answers, where the right ones are known.
    pub wrong: Mean,
}

/// How well a target finds objects under faults in images, over all cases whose objects are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DetectionQuality {
    /// The target.
    pub target: String,
    /// How many cases.
    pub cases: u64,
    /// Undisturbed.
    pub clean: DetectionPoint,
    /// Average precision over severities, then over faults that have them (mPC).
    pub mean_ap: Option<Mean>,
    /// The share of the undisturbed average precision that this is (rPC).
    pub kept: Option<Mean>,
    /// Under each fault.
    pub points: Vec<DetectionPoint>,
}

/// How well objects are found under one fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DetectionPoint {
    /// The fault with its settings; `None` for the undisturbed answers.
    pub fault: Option<String>,
    /// COCO's average precision, over overlaps from 0.5 to 0.95; its interval is of cases drawn
    /// again.
    pub ap: Mean,
    /// Average precision at overlap 0.5.
    pub ap50: Option<f64>,
    /// How many errors of each of TIDE's kinds.
    pub errors: BTreeMap<String, u64>,
}

/// How an attack fared against a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attacked {
    /// The target.
    pub target: String,
    /// The attack with its settings.
    pub attack: String,
    /// What it learns from the target: `gradients`, `scores` or `answers`.
    pub needs: String,
    /// Cases whose answer it changed before its budget ended.
    pub changed: Rate,
    /// Cases whose last image the target refused to answer.
    pub rejected: u64,
    /// Questions until the answer changed, the median of those that did.
    pub queries: Option<f64>,
    /// How far the closest changed image lies from the original by the attack's own norm, the
    /// median of those.
    pub distance: Option<f64>,
    /// Processor seconds until the answer changed, the median of those.
    pub cpu_seconds: Option<f64>,
    /// The share of answers that stand after so many questions (Kaplan and Meier), where it falls;
    /// empty for a single shot, whose questions say nothing of how long an answer stands.
    pub standing: Vec<Standing>,
}

/// The share of answers that still stand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// After so many questions.
    pub queries: f64,
    /// The share.
    pub share: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// A target whose gradients mislead: attacks without them change more answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Masking {
    /// The target.
    pub target: String,
    /// How changes are measured.
    pub norm: String,
    /// The largest change that counts.
    pub epsilon: f64,
    /// Cases that both kinds of attack were tried on.
    pub cases: u64,
    /// Those of them whose answer attacks changed that only ask.
    pub asking: u64,
    /// Those of them whose answer attacks changed that follow gradients.
    pub following: u64,
    /// The corrected p-value of "both change as many".
    pub p_value: f64,
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

/// How many trials ended how, and the rate of those that changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Same answer.
    pub unchanged: u64,
    /// Another answer, and nothing shows that it is wrong.
    pub changed: u64,
    /// An answer that gives the fault away.
    pub detected: u64,
    /// No answer.
    pub crashed: u64,
    /// No answer in time.
    pub timed_out: u64,
    /// Trials that say nothing, by reason; not in any denominator.
    pub skipped: BTreeMap<String, u64>,
    /// Trials that were planned and not needed: a target finds too few objects for so many. They
    /// are no loss, and counted nowhere else.
    #[serde(default)]
    pub spare: u64,
    /// How often the answer changed, among the judged.
    pub rate: Rate,
}

/// A rate with its interval. Where trials are weighted, the value is no longer events over n.
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

impl Default for Rate {
    /// Nothing is known.
    fn default() -> Self {
        Self { events: 0, n: 0, value: None, low: 0.0, high: 1.0 }
    }
}

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean; `None` where n is 0.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// Of how many.
    pub n: u64,
}

impl Mean {
    pub(super) fn of(estimate: faultlens_stats::Estimate) -> Self {
        let faultlens_stats::Estimate { value, low, high, n } = estimate;
        Self { value, low, high, n }
    }
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    /// What its trials have in common. From outside; escape it.
    pub key: String,
    /// What people read instead, such as number and name of a layer. From outside; escape it.
    #[serde(default)]
    pub label: Option<String>,
    /// What the group is made of, such as a layer's kinds of operators. From outside; escape it.
    #[serde(default)]
    pub about: Option<String>,
    /// Groups within the group, such as a layer's operators.
    #[serde(default)]
    pub parts: Vec<GroupRow>,
    /// Its trials.
    pub tally: Tally,
    /// The corrected p-value of "deviates as often as all others"; `None` where it was not tested.
    pub p_value: Option<f64>,
}

impl GroupRow {
    /// What people read. From outside; escape it.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.key)
    }
}

/// How often flips of each bit change the answer, by layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// The target.
    pub target: String,
    /// The bits, rising.
    pub bits: Vec<u32>,
    /// The layers, in the order of execution.
    pub rows: Vec<HeatRow>,
}

/// A layer of a heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatRow {
    /// The layer's number.
    pub layer: u32,
    /// Its name. From outside; escape it.
    pub name: String,
    /// A rate for each bit; n is 0 where none was flipped.
    pub cells: Vec<Rate>,
}

/// What to protect first: parts of a model by the share of all changed answers that each accounts
/// for, the largest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The target.
    pub target: String,
    /// What is ranked: `layer` or `operator`.
    pub attribute: String,
    /// The parts with changed answers.
    pub rows: Vec<Ranked>,
    /// How many parts were hit, also without consequence.
    pub of: u64,
}

/// A part of a model that could be protected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// What it is. From outside; escape it.
    pub name: String,
    /// The share of all changed answers that it accounts for.
    pub share: Rate,
    /// The share that it and all before it account for.
    pub together: Rate,
}

/// What searches for the bits that break an answer found in one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriticalBits {
    /// The target.
    pub target: String,
    /// The fault with its settings.
    pub point: String,
    /// By layer, in the order of execution.
    pub layers: Vec<CriticalLayer>,
    /// All layers together.
    pub all: CriticalLayer,
    /// Questions that the searches asked.
    pub queries: u64,
    /// Questions that asking about every bit would have taken.
    pub exhaustive: u64,
    /// How often a bit beyond a boundary was not as the search takes it to be, among those asked
    /// about as a check.
    pub unexpected: Rate,
}

/// Critical bits of the elements of a layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriticalLayer {
    /// The layer's number; `None` for all together.
    pub layer: Option<u32>,
    /// Its name. From outside; escape it.
    pub name: String,
    /// Bits of an element that break the answer, on average.
    pub mean: Mean,
    /// The share of all flips that break the answer: critical among searched bits.
    pub share: Rate,
}

/// The classes that hold out best and worst.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// How many classes have trials.
    pub of: u64,
    /// The least resilient, the worst first.
    pub worst: Vec<Class>,
    /// The most resilient, the best first.
    pub best: Vec<Class>,
}

/// How a class holds out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Its label. From outside; escape it.
    pub label: String,
    /// How often the answer changed.
    pub rate: Rate,
    /// An undisturbed image of it, where one was kept: a path below the run directory, to a PNG.
    pub image: Option<String>,
}

/// Rates and accuracy by one trait of targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trait {
    /// The trait. From outside; escape it.
    pub name: String,
    /// Its values: numbers in their order.
    pub rows: Vec<TraitRow>,
    /// Along a trait that is a number: a line for each choice of the other traits.
    pub lines: Vec<TraitLine>,
}

/// Targets that have a trait in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraitRow {
    /// The trait's value. From outside; escape it.
    pub value: String,
    /// How many targets have it.
    pub targets: u64,
    /// How often the answer changed.
    pub rate: Rate,
    /// How many undisturbed answers are right, where that is known.
    pub accuracy: Option<Rate>,
}

/// Targets that differ in one trait alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraitLine {
    /// What they have in common. From outside; escape it.
    pub name: String,
    /// The trait, and how often the answer changed.
    pub points: Vec<(f64, Rate)>,
}

/// How many trials of a target and fault lie beyond each threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beyond {
    /// The target.
    pub target: String,
    /// The fault with its settings.
    pub point: String,
    /// Thresholds, rising, and how often the answer moved by more.
    pub rates: Vec<(f64, Rate)>,
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
    /// How much people notice of what was done to the image, where that was told.
    #[serde(default)]
    pub visual_change: Option<f64>,
    /// Which objects are missed, spurious, called otherwise or misplaced, of answers that are
    /// objects. Has names from the model; escape it.
    #[serde(default)]
    pub changes: Option<String>,
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
    /// The limit on the rate, also where failures in time are limited.
    pub limit: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict's reason in words, with what to do where it is inconclusive.
    pub why: String,
    /// What makes failures in time of rate and limit, where these are required.
    #[serde(default)]
    pub fit: Option<Fit>,
}

/// Failures in time, FIT: how many a thousand million hours have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// How many faults the hardware has in that time.
    pub raw: f64,
    /// The share of them that the trials stand for.
    pub share: f64,
    /// The limit on failures in that time.
    pub at_most: f64,
}

impl Fit {
    /// The failures in time if every trial failed.
    pub fn each(&self) -> f64 {
        self.raw * self.share
    }
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
