//! Requirements within human tolerance, checked.

use crate::estimate::Mean;
use crate::missing::Missing;
use crate::verdict::Verdict;
use serde::Serialize;

/// Whether a target's predictions stay as they should under a fault, as far as people tolerate it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preserved {
    /// What the user calls the requirement. From outside; escape it.
    pub name: Option<String>,
    /// The requirement in words. Has names from outside; escape it.
    pub requirement: String,
    /// What must stay: `correctness` or `prediction`.
    pub what: String,
    /// The target.
    pub target: String,
    /// The fault's name.
    pub fault: String,
    /// How predictions are scored: `accuracy`, `ap` or `iou`.
    pub metric: String,
    /// Whose tolerance. From outside; escape it.
    pub tolerance: String,
    /// Where that comes from. From outside; escape it.
    pub source: String,
    /// The largest visual change that people tolerate.
    pub tolerated: f64,
    /// Its 95% interval, where one is known.
    pub tolerated_interval: Option<(f64, f64)>,
    /// What would follow where people tolerate as little, or as much, as the ends of that interval
    /// say: the lower end first.
    pub ends: Vec<AtEnd>,
    /// Whether the verdict must be the same at both ends.
    pub both_ends: bool,
    /// Which images the verdict speaks of: `new_images`, or `batches` of these.
    pub population: &'static str,
    /// Which rule decides: `images`, or `batches` for the batch rule of Hu et al.
    pub rule: &'static str,
    /// What is required (m₀ or s₀), a mean over images; `None` without a version that counts.
    pub required: Option<f64>,
    /// What is reached (mₜ or sₜ), a mean over images.
    pub reached: Option<f64>,
    /// What is reached less what is required, by image.
    pub difference: Option<ScoreDifference>,
    /// The non-inferiority margin: how far the reached score may stay below the required one.
    pub margin: f64,
    /// How often the verdict may be "met" where the truth is not.
    pub alpha: f64,
    /// The batch rule of Hu et al., whether or not it decides.
    pub batch_rule: Option<BatchRule>,
    /// The largest visual change of a version that counts.
    pub tried_up_to: f64,
    /// Images with a changed version that counts.
    pub images: u64,
    /// Images of which every version is changed more than people tolerate.
    pub images_outside: u64,
    /// Changed versions that count.
    pub versions: u64,
    /// Changed versions that people do not tolerate, so that they do not count.
    pub outside: u64,
    /// Trials for which no strength was found.
    pub out_of_reach: u64,
    /// Trials whose visual change is not known.
    #[serde(rename = "untold")]
    pub unknown_change: u64,
    /// The trials that the verdict lacks; none is reached where these are too many.
    pub missing: Missing,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is that.
    #[serde(skip)]
    pub reason: PreservedReason,
    /// Where the target stands among all targets by difference and by plain accuracy, the highest
    /// first: 1 is the best.
    pub ranks: Option<Ranks>,
    /// Where and for which classes scores are lost.
    pub diagnosis: Diagnosis,
}

/// Why a requirement within human tolerance has its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreservedReason {
    /// The requirement names another metric than the one that fits the target's predictions.
    OtherMetric,
    /// The requirement names classes, but the target's predictions are not single classes.
    ClassesWithoutAccuracy,
    /// There is no version of an image that counts.
    NothingToDraw(NothingToDraw),
    /// The run is a shard, or its stop rule still looks.
    RunIncomplete,
    /// Too many trials were skipped because something failed, or are open.
    TooManyMissing,
    /// There are too few images for a statement about new ones.
    TooFewImages,
    /// The verdict is another one at an end of the interval of what people tolerate.
    EndsDiffer,
    /// The margin is kept, but only a part of the tolerated range was tried.
    PartOfRangeTried,
    /// The whole interval of the difference lies above minus the margin.
    WithinMargin,
    /// The whole interval of the difference lies below minus the margin.
    BeyondMargin,
    /// The interval of the difference straddles minus the margin.
    StraddlesMargin,
}

/// Why there is no version of an image that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NothingToDraw {
    /// All versions are changed more than people tolerate.
    OutsideTolerance,
    /// The visual change of no version is known.
    VisualChangeUnknown,
    /// No version has a truth to score correctness against.
    NoTruth,
    /// No version has a score.
    NoScore,
}

/// The requirement at one end of the interval of what people tolerate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtEnd {
    /// The largest visual change that counts here.
    pub at_most: f64,
    /// The largest that was tried below it.
    pub tried_up_to: f64,
    /// What is reached less what is required.
    pub difference: Option<ScoreDifference>,
    /// What follows.
    pub verdict: Verdict,
    /// Whether nothing can be met here, since only a part of the range was tried.
    pub part_tried: bool,
}

/// What is reached less what is required, a mean over images; below 0 where changed images score
/// less.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScoreDifference {
    /// On these images.
    pub value: f64,
    /// The lower end of its interval among new images; `None` where images are too few for one.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// The batch rule of Hu et al. (2022, section 6): what is required less what is reached, against
/// how much batches of images differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BatchRule {
    /// What is required, over batches.
    pub required: BatchMean,
    /// What is reached, over batches.
    pub reached: BatchMean,
    /// The reliability distance with its one-sided bounds.
    pub distance: Distance,
    /// How often it may call a requirement met that is not, by its own account.
    pub alpha: f64,
    /// The largest distance that it allows.
    pub margin: f64,
    /// How batches were drawn.
    pub batches: BatchNumbers,
    /// What it says; the paper counts inconclusive as not satisfied.
    pub verdict: Verdict,
}

/// Mean and standard deviation over batches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BatchMean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation from batch to batch.
    pub deviation: f64,
}

/// What is required less what is reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distance {
    /// The distance; below 0 where more is reached than required.
    pub value: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// It is above this, with the requirement's confidence.
    pub low: f64,
    /// It is below this, with the requirement's confidence.
    pub high: f64,
    /// The distance with other random numbers.
    pub again: f64,
    /// Whether both agree, so that there were enough batches.
    pub settled: bool,
}

/// How batches were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BatchNumbers {
    /// How many.
    pub number: u64,
    /// Images in each.
    pub size: u64,
    /// How many would make two draws agree to a point.
    pub suggested: u64,
}

/// A target's ranks among all targets; 1 is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ranks {
    /// By the difference between what is reached and what is required.
    pub difference: u64,
    /// By plain accuracy on the originals; `None` where that is unknown.
    pub accuracy: Option<u64>,
    /// Among so many.
    pub of: u64,
}

/// Where and for which classes scores are lost.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Scores along visual change, also beyond what is tolerated.
    pub curve: Vec<ChangeBin>,
    /// The visual change from which the target is below people; `None` where it is not, or people
    /// are unknown.
    pub below_people_from: Option<f64>,
    /// The share of what people achieve that the target achieves too (HMRI).
    pub hmri: Option<f64>,
    /// The share of what the target achieves that is beyond people (MRSI).
    pub mrsi: Option<f64>,
    /// The classes that lose most. From outside; escape them.
    pub worst: Vec<WorstClass>,
}

/// A stretch of visual change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeBin {
    /// Where it starts.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How many versions are changed by so much.
    pub n: u64,
    /// What the target scores; the interval counts images, not versions.
    pub score: Mean,
    /// What people score, as far as that is known.
    pub people: Option<f64>,
}

/// A class that loses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstClass {
    /// The class.
    pub class: String,
    /// Tolerated versions of its images.
    pub n: u64,
    /// What the originals score; nothing for predictions, which are as on the original there.
    pub before: Option<f64>,
    /// What the versions score.
    pub after: f64,
}
