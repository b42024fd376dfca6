//! The campaign file as it is written. Every key stands here once, or in the types of services,
//! inputs and outputs: the parser, its errors and the JSON schema are made from these types. A
//! comment on a field is what editors show, and what an error says about a key that is missing.

use super::fault::Trials;
use super::location::At;
use super::preserve::{Metric, PreserveRule, Preserves};
use super::rate::{Method, Population, QualityMetric, RateKind};
use super::registry::{Defences, Faults, Guards, ListOf, OracleEntry};
use super::values::{Between, NameOf, Names, NonEmpty, Scalars, Share, Text, Texts, Whole};
use faultlens_data::FORMATS;
use faultlens_targets::service::{SERVICES, ServiceSpec};
use faultlens_vision::{InputDescription, OutputDescription};
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::json;

/// No hardware has more failures in time, and no number beyond it is meant.
pub(super) const MAX_FIT: u64 = 1_000_000_000_000;

/// A number of faults or failures in 1,000,000,000 hours.
type Fit = Share<{ 100 * MAX_FIT }, true>;

/// Faultlens campaign
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CampaignFile {
    /// What reports call the campaign; by default the file's name.
    pub(super) name: Option<Text>,
    /// What all random numbers come from; 1 by default.
    pub(super) seed: Option<Whole<0, { i64::MAX }>>,
    /// How many threads work; by default one per core.
    pub(super) threads: Option<Whole<1, 1024>>,
    /// The run directory, from the current directory; by default runs/ and the file's name.
    pub(super) output: Option<Text>,
    /// The models and services that are asked.
    pub(super) targets: NonEmpty<At<TargetSection>>,
    /// The images that are shown.
    pub(super) cases: CasesSection,
    /// What is disturbed: faults, whose lists are swept, and presets.
    pub(super) faults: ListOf<Faults>,
    /// What insert_object puts into scenes: a pool that faultlens objects made, or a data set whose
    /// objects have outlines, from the campaign file's folder; or world:scenes with a number.
    pub(super) objects: Option<At<Text>>,
    /// Who judges the answers; same_top by default.
    pub(super) oracle: Option<OracleEntry>,
    /// Which trials the judgement counts for; by default all.
    pub(super) guards: Option<ListOf<Guards>>,
    /// How intervals of rates are made.
    #[serde(default)]
    pub(super) intervals: IntervalsSection,
    /// When enough trials are done; replaces trials.
    pub(super) stop: Option<At<StopSection>>,
    /// Limits on rates, each with a verdict.
    pub(super) requirements: Option<NonEmpty<At<RequirementSection>>>,
    /// What must stay under changes that people tolerate; see docs/requirements.md.
    pub(super) preserve: Option<NonEmpty<At<PreserveSection>>>,
    /// Of which trials it is recorded how much people notice of what was done to the image: every
    /// (the default), or needed, where a strength is drawn or a guard asks for it.
    #[serde(default)]
    pub(super) visual_change: VisualChange,
    /// The target whose errors under faults in images others' are divided by (mCE).
    pub(super) reference: Option<At<Text>>,
    /// Groups of cases that answers should be as good for.
    pub(super) fairness: Option<FairnessSection>,
    /// The folder in which raw answers of services are filed, from the current directory, so that
    /// no call is paid twice; by default answers beside the run directory.
    pub(super) answers: Option<Text>,
    /// Files with trials that must stay as good as golden.
    #[serde(default)]
    pub(super) pinned: Texts,
    /// How many examples are kept per fault point; 3 by default.
    pub(super) examples: Option<Whole<0, 50>>,
}

/// A model or a service.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["model"]}, {"required": ["service"]}]))]
pub(super) struct TargetSection {
    /// An ONNX file, from the campaign file's folder, or world:NAME; this or service.
    pub(super) model: Option<At<Text>>,
    /// A service behind HTTP; see docs/services.md.
    #[schemars(transform = complete_providers)]
    pub(super) service: Option<At<ServiceSpec>>,
    /// What reports call it; by default the file's or service's name.
    pub(super) name: Option<At<Text>>,
    /// What is done to images before the target sees them, such as median_filter.
    pub(super) defences: Option<ListOf<Defences>>,
    /// How images become the model's input; see docs/input.md.
    pub(super) input: Option<At<InputDescription>>,
    /// What the model's output means; see docs/input.md.
    pub(super) output: Option<At<OutputDescription>>,
    /// A file that names the classes, from the campaign file's folder, or coco or coco-91.
    pub(super) labels: Option<At<Text>>,
    /// What tells it from the other targets, such as depth: 3, to group rates by.
    #[serde(default)]
    pub(super) traits: Scalars,
}

/// Adds the names of the providers, which the type of a service does not know: the registry of
/// providers is built on it.
fn complete_providers(schema: &mut Schema) {
    let providers: Vec<_> = SERVICES
        .iter()
        .map(|service| json!({"const": service.name, "description": service.about}))
        .collect();
    if let Some(provider) =
        schema.pointer_mut("/properties/provider").and_then(|p| p.as_object_mut())
    {
        provider.remove("type");
        provider.insert("oneOf".to_owned(), providers.into());
    }
}

/// The images that are shown.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CasesSection {
    /// A data set, from the campaign file's folder, or world:signs or world:scenes with a number of
    /// pictures, such as world:signs:200.
    pub(super) data: At<Text>,
    /// The data set's format, where it is not recognised.
    pub(super) format: Option<At<NameOf<Formats>>>,
    /// Only this part of a set that has several, such as test.
    pub(super) part: Option<Text>,
    /// The column that holds the labels of a CSV file.
    pub(super) label_column: Option<At<Text>>,
    /// Only some cases, drawn from the seed.
    pub(super) sample: Option<SampleSection>,
}

/// The formats of data sets.
pub(super) struct Formats;

impl Names for Formats {
    const WHAT: &'static str = "format";

    fn all() -> Vec<(&'static str, &'static str)> {
        FORMATS.iter().map(|format| (format.name, format.about)).collect()
    }
}

/// Some cases of a set.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SampleSection {
    /// How many cases; all where there are fewer.
    pub(super) count: Whole<1, { 1 << 40 }>,
    /// Which cases; random by default.
    #[serde(default)]
    pub(super) how: How,
}

/// How cases are drawn.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum How {
    /// Every case as likely as every other.
    #[default]
    Random,
    /// Every class as often as every other.
    Balanced,
}

/// Of which trials the visual change is recorded.
#[derive(Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum VisualChange {
    /// Of every trial.
    #[default]
    Every,
    /// Where a strength is drawn or a guard asks for it.
    Needed,
}

/// How intervals of rates are made.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IntervalsSection {
    /// The formula; wilson by default.
    #[serde(default)]
    pub(super) method: Method,
    /// How often an interval covers the truth; 0.95 by default.
    pub(super) confidence: Option<At<Share<100, false>>>,
    /// Which images rates speak of: new_images (the default), of which those of the campaign are a
    /// sample, or these_images.
    #[serde(default)]
    pub(super) population: Population,
    /// The stratum that tells which images belong together, such as the video of frames: together
    /// they count as one; by default every image counts for itself.
    pub(super) cluster: Option<Text>,
}

/// When enough trials are done.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StopSection {
    /// Stop a target and fault point once its rate is known to plus or minus this.
    pub(super) half_width: Share<50, false>,
    /// The most trials per case; 1000 by default.
    pub(super) at_most: Option<Trials>,
    /// Which images the rate speaks of; by default as intervals say.
    pub(super) population: Option<Population>,
}

/// A limit on a rate, on failures in time, or on how good answers are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"required": ["rate", "at_most"]},
    {"required": ["fit", "at_most"]},
    {"required": ["metric"]},
]))]
pub(super) struct RequirementSection {
    /// Which outcome is limited; failed is changed, crashed and timed_out together; this or fit.
    pub(super) rate: Option<NameOf<Rates>>,
    /// Limits failures in time instead: raw times share times the rate of failed trials.
    pub(super) fit: Option<At<FitSection>>,
    /// Limits how good answers are instead: accuracy, accuracy_drop, ap, ap_drop, mpc, rpc or mce.
    pub(super) metric: Option<At<NameOf<QualityMetrics>>>,
    /// The most: above 0 and up to 1 for a rate or a drop, failures per 1,000,000,000 hours for fit.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = MAX_FIT))]
    pub(super) at_most: Option<At<f64>>,
    /// The least, for a metric of which more is better: above 0 and up to 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub(super) at_least: Option<At<f64>>,
    /// Only trials with these attributes, such as fault, target, label, case, layer, operator,
    /// kind, bit, severity, a stratum or a trait.
    #[serde(default, rename = "where")]
    pub(super) filter: Scalars,
    /// The limit is to hold for every group by this attribute, such as label or a stratum.
    pub(super) by: Option<At<Text>>,
    /// Which images the limit is to hold for; by default as intervals say.
    pub(super) population: Option<Population>,
    /// The largest share of trials that may be missing (skipped because something failed, or open)
    /// before the verdict is inconclusive; 0.05 by default.
    pub(super) max_skipped: Option<Between<0, 1>>,
    /// What reports call it.
    pub(super) name: Option<Text>,
}

/// The rates that can be limited.
pub(super) struct Rates;

impl Names for Rates {
    const WHAT: &'static str = "rate";

    fn all() -> Vec<(&'static str, &'static str)> {
        RateKind::all().map(|rate| (rate.name(), "")).collect()
    }
}

/// The measures of how good answers are.
pub(super) struct QualityMetrics;

impl Names for QualityMetrics {
    const WHAT: &'static str = "metric";

    fn all() -> Vec<(&'static str, &'static str)> {
        QualityMetric::ALL.iter().map(|(_, name)| (*name, "")).collect()
    }
}

/// What turns a rate into failures in time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FitSection {
    /// How many faults the hardware has in 1,000,000,000 hours, of the kind that is injected.
    pub(super) raw: Fit,
    /// The share of them that the trials concerned stand for; 1 by default.
    pub(super) share: Option<Share<100, true>>,
}

/// What must stay under changes that people tolerate.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PreserveSection {
    /// What must stay: correctness or prediction.
    pub(super) what: Preserves,
    /// How much visual change people tolerate of each fault: imagenet-car, cifar10-car, or a file
    /// of faultlens tolerance --json, from the campaign file's folder.
    pub(super) tolerance: At<Text>,
    /// Only these faults; by default all of the campaign that the tolerance speaks of.
    #[serde(default)]
    pub(super) faults: Texts,
    /// Answers count as one of these classes or as none of them, such as [automobile, truck]; by
    /// default every class counts for itself.
    #[serde(default)]
    pub(super) classes: Texts,
    /// How answers are scored; by default as suits the target.
    pub(super) metric: Option<Metric>,
    /// What decides: images (the mean difference by image, a statement about new images; the
    /// default), or batches (the batch rule of Hu et al.).
    pub(super) rule: Option<PreserveRule>,
    /// How often the verdict may be met where the truth is not; 0.025 by default (one end of a 95%
    /// interval), and 0.05 with rule: batches.
    pub(super) alpha: Option<Share<50, false>>,
    /// How far answers may stay behind (the non-inferiority margin), as a share; 0.02 by default,
    /// which is 2 points, and 0 with rule: batches.
    pub(super) margin: Option<Between<0, 1>>,
    /// Whether the verdict must hold at both ends of the interval of what people tolerate, or else is
    /// inconclusive; by default true for a tolerance from a file, which is an estimate, and false for
    /// a published one, which is checked as published.
    pub(super) both_ends: Option<bool>,
    /// How many batches are drawn for the batch rule of Hu et al.; 200 by default.
    pub(super) batches: Option<Whole<2, 100_000>>,
    /// How many images each has; 50 by default.
    pub(super) batch_size: Option<Whole<1, 100_000>>,
    /// The largest share of trials that may be missing (skipped because something failed, or open)
    /// before the verdict is inconclusive; 0.05 by default.
    pub(super) max_skipped: Option<Between<0, 1>>,
    /// What reports call it.
    pub(super) name: Option<Text>,
}

/// Groups of cases that answers should be as good for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FairnessSection {
    /// Strata of the data that say which group a case belongs to.
    pub(super) by: Texts,
    /// Groups that others are set against; by default the largest of each stratum.
    #[serde(default)]
    pub(super) privileged: Texts,
    /// The answer that counts, such as face: a best class, an object or a text; by default the
    /// right answer.
    pub(super) positive: Option<Text>,
}
