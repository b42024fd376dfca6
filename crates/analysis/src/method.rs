//! How a run was made: what its rates mean and where it comes from.

use crate::context::Context;
use faultlens_record::store::Session;
use faultlens_spec::Campaign;

/// What was done, as far as readers of rates must know it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Method {
    /// The number of cases.
    pub cases: u64,
    /// The number of images that rates rest on: the cases, or the groups of cases that count as
    /// one.
    pub images: u64,
    /// Where they come from.
    pub data: String,
    /// The oracle with its settings.
    pub oracle: String,
    /// When answers with objects count as changed, where the oracle compares object by object.
    pub detections: Option<DetectionRule>,
    /// The guards with their settings.
    pub guards: Vec<String>,
    /// The stop rule, where the run has one.
    pub stop: Option<String>,
    /// Whether a stop rule decided the number of trials of each target and fault: rates over
    /// several of them then count only the repeats that all have.
    pub sequential: bool,
    /// Whether trials measure more than outcomes, so that there are intervals of means.
    pub means: bool,
    /// Whether some faults are permanent, so that faults are the sample, not trials.
    pub permanent: bool,
    /// Whether some trials hit several locations at once, and are in no rate by location.
    pub several_locations: bool,
    /// Whether some trials search for critical bits, and are in no rate.
    pub searches: bool,
    /// The requirements as the campaign states them.
    pub requirements: Vec<String>,
}

/// When answers with objects count as changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectionRule {
    /// The smallest intersection over union of two boxes of one object.
    pub iou: f64,
    /// How far above the target's lowest score an object must score to count as lost or new.
    pub score_band: f64,
    /// How many objects may be lost.
    pub max_lost: f64,
    /// How many objects may be new.
    pub max_new: f64,
    /// How many of either, as a share of the undisturbed answer's objects.
    pub max_share: f64,
}

impl DetectionRule {
    /// The rule of the campaign's oracle; `None` for other oracles, and where the run was made with
    /// other settings than the file gives now, as runs of versions with other defaults.
    fn of(campaign: &Campaign, recorded: &str) -> Option<Self> {
        let (name, settings) = &campaign.judge.oracle;
        let by_objects = *name == "same_detections" && settings.word("by") == Ok("objects");
        if !by_objects || recorded != format!("{name} ({settings})") {
            return None;
        }
        let number = |key: &str| settings.number_if_set(key).unwrap_or_default();
        Some(Self {
            iou: number("iou"),
            score_band: number("score_band"),
            max_lost: number("lost"),
            max_new: number("new"),
            max_share: number("share"),
        })
    }
}

impl Method {
    pub(crate) fn of(context: &Context, campaign: &Campaign) -> Self {
        let manifest = &context.manifest;
        let mut requirements: Vec<String> =
            campaign.requirements.iter().map(ToString::to_string).collect();
        requirements.extend(campaign.preserve.iter().map(ToString::to_string));
        Self {
            cases: manifest.cases,
            images: context.images(),
            data: manifest.data.clone(),
            oracle: manifest.oracle.clone(),
            detections: DetectionRule::of(campaign, &manifest.oracle),
            guards: manifest.guards.clone(),
            stop: manifest.stop.clone(),
            sequential: campaign.stop.is_some(),
            means: context.has_means(),
            permanent: context.has_permanent(),
            several_locations: context.has_several_locations(),
            searches: context.has_searches(),
            requirements,
        }
    }
}

/// Where and with what a run was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// When the run began.
    pub begun: String,
    /// The campaign's seed.
    pub seed: u64,
    /// The campaign's fingerprint.
    pub campaign: String,
    /// The versions and machines that worked on the run, in order.
    pub made_by: Vec<MadeBy>,
    /// The targets.
    pub targets: Vec<TargetFile>,
}

/// A version of Faultlens on a machine that worked on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeBy {
    /// The version.
    pub version: String,
    /// System, processor, cores.
    pub machine: String,
    /// Since when.
    pub from: String,
}

/// A target's model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFile {
    /// The target's name.
    pub name: String,
    /// The model as the campaign names it.
    pub model: String,
    /// The SHA-256 of its file.
    pub sha256: String,
}

impl Provenance {
    pub(crate) fn of(context: &Context, made_by: &[Session]) -> Self {
        let manifest = &context.manifest;
        let mut targets = Vec::new();
        for target in &manifest.targets {
            targets.push(TargetFile {
                name: target.name.clone(),
                model: target.model.clone(),
                sha256: target.sha256.to_string(),
            });
        }
        let made_by = made_by.iter().map(|one| MadeBy {
            version: one.faultlens.clone(),
            machine: one.machine.clone(),
            from: one.from.clone(),
        });
        Self {
            begun: manifest.created.clone(),
            seed: manifest.seed,
            campaign: manifest.fingerprint.to_string(),
            made_by: made_by.collect(),
            targets,
        }
    }
}
