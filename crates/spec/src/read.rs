//! From the campaign file as it is written to a campaign.

use super::campaign::{Campaign, DEFAULT_EXAMPLES, DEFAULT_SEED, Fairness, Source, TargetSpec};
use super::cases::{cases, path_or_world};
use super::error::{ConfigError, Diagnostic};
use super::fault::{self, FaultPoint};
use super::file;
use super::legacy::replace_old_names;
use super::location::{At, Location};
use super::section::read;
use super::tree::{self, Node, Value};
use super::values::{NonEmpty, Scalars, Share, Text, Whole};
use super::words::known;
use super::written::{
    CampaignFile, FairnessSection, FitSection, IntervalsSection, MAX_FIT, PreserveSection,
    RequirementSection, StopSection, TargetSection, VisualChange,
};
use super::{
    DEFAULT_MAX_SKIPPED, DefenceSpec, FitLimit, Intervals, JudgeSpec, Population, Preservation,
    PreserveRule, QualityMetric, Quantity, RateKind, Requirement, Stop,
};
use faultlens_judge::Tolerance;
use faultlens_stats::Level;
use faultlens_targets::onnx::labels_from;
use faultlens_targets::{PartialDescription, embedded_model};
use faultlens_world::PREFIX;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const DEFAULT_AT_MOST: u32 = 1000;
const DEFAULT_BATCHES: usize = 200;
const DEFAULT_BATCH_SIZE: usize = 50;

/// The most images that a requirement draws in all: they are all in memory.
const MAX_DRAWN: usize = 10_000_000;

impl Campaign {
    /// Checks the text of a campaign file; `path` is where it comes from, and what the paths in it
    /// start from.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        campaign(text, path).map_err(|error| error.within(text, path))
    }

    /// Reads and checks a campaign file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::parse(&file::text(path)?, path)
    }
}

fn campaign(text: &str, path: &Path) -> Result<Campaign, Diagnostic> {
    let mut tree = tree::parse(text)?;
    let warnings = replace_old_names(&mut tree);
    if matches!(tree.value, Value::Nothing) {
        let what = "this file is empty; faultlens init writes one to start from";
        return Err(Diagnostic::new(tree.at, what));
    }
    let file: CampaignFile = read("a campaign", &tree, text)?;
    let base = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let stem = path.file_stem().map_or("campaign".into(), |stem| stem.to_string_lossy());
    let cluster = file.intervals.cluster.clone().map(|Text(stratum)| stratum);
    let intervals = intervals(file.intervals)?;
    let stop = file.stop.map(|section| stop(&section.value, intervals.population));
    let targets = targets(file.targets, &base)?;
    let faults = fault::points(&file.faults.entries, stop.map(|stop| stop.at_most))?;
    if file.objects.is_none() {
        refuse_objects(&file.faults.entries, &faults)?;
    }
    let requirements = requirements(file.requirements, &targets, &faults, intervals.population)?;
    let preserve = preserve(file.preserve, &faults)?;
    let reference = file.reference.map(|name| reference(name, &targets)).transpose()?;
    let guards = file.guards.map(|guards| guards.entries).unwrap_or_default();
    let output = match file.output {
        Some(Text(output)) => PathBuf::from(output),
        None => Path::new("runs").join(&*stem),
    };
    Ok(Campaign {
        answers: file.answers.map(|Text(folder)| PathBuf::from(folder)),
        fairness: file.fairness.map(fairness),
        output,
        name: file.name.map_or_else(|| stem.to_string(), |Text(name)| name),
        seed: file.seed.and_then(Whole::get).unwrap_or(DEFAULT_SEED),
        threads: file.threads.and_then(Whole::get),
        targets,
        cases: cases(file.cases, &base)?,
        faults,
        objects: file.objects.map(|objects| path_or_world(&objects, &base)).transpose()?,
        judge: JudgeSpec::read(file.oracle.as_ref().map(|oracle| &oracle.0), &guards)?,
        intervals,
        cluster,
        stop,
        requirements,
        preserve,
        tells_every_change: file.visual_change == VisualChange::Every,
        reference,
        pinned: file.pinned.0.iter().map(|path| base.join(&path.value)).collect(),
        examples: file.examples.and_then(Whole::get).unwrap_or(DEFAULT_EXAMPLES),
        base,
        text: text.to_owned(),
        warnings,
    })
}

/// Refuses faults that put objects into scenes, of a campaign that has none.
fn refuse_objects(entries: &[Node], faults: &[FaultPoint]) -> Result<(), Diagnostic> {
    let Some(fault) = faults.iter().find(|fault| fault.disturbance.needs_objects()) else {
        return Ok(());
    };
    // Where no entry names the fault, a preset brings it along.
    let entry = entries
        .iter()
        .find(|entry| entry.get("fault").and_then(Node::text) == Some(fault.name))
        .or_else(|| entries.iter().find(|entry| entry.get("preset").is_some()));
    let what = format!(
        "{} puts objects into scenes, and the campaign has none; write objects: FOLDER beside \
         faults, a pool that `faultlens objects DATA --out FOLDER` makes, or a data set whose \
         objects have outlines",
        fault.name
    );
    Err(Diagnostic::new(entry.map_or(Location::UNKNOWN, |entry| entry.at), what))
}

fn reference(name: At<Text>, targets: &[TargetSpec]) -> Result<String, Diagnostic> {
    let Text(text) = name.value;
    let names = targets.iter().map(|target| target.name.as_str()).collect();
    known("target", &text, names).map_err(|what| Diagnostic::new(name.at, what))?;
    Ok(text)
}

fn targets(
    sections: NonEmpty<At<TargetSection>>,
    base: &Path,
) -> Result<Vec<TargetSpec>, Diagnostic> {
    let mut names = BTreeSet::new();
    let mut targets = Vec::new();
    for At { at, value: mut section } in sections.0 {
        let named_at = section.name.as_ref().or(section.model.as_ref()).map_or(at, |text| text.at);
        let name = section.name.take();
        let traits = std::mem::take(&mut section.traits);
        let mut defences = Vec::new();
        for entry in section.defences.iter().flat_map(|list| &list.entries) {
            defences.push(DefenceSpec::read(entry)?);
        }
        let (source, default_name) = source(section, at, base)?;
        let name = name.map_or(default_name, |name| name.value.0);
        if !names.insert(name.clone()) {
            let what = format!("two targets are called {name:?}; give one of them another name");
            return Err(Diagnostic::new(named_at, what));
        }
        targets.push(TargetSpec { name, source, defences, traits: traits.into_strings() });
    }
    Ok(targets)
}

/// Who answers, and what the target is called where the file does not say it.
fn source(
    section: TargetSection,
    at: Location,
    base: &Path,
) -> Result<(Source, String), Diagnostic> {
    let Some(At { at: service_at, value: service }) = section.service else {
        let (path, default_name) = model(section.model, at, base)?;
        let written = PartialDescription {
            input: section.input.map(|input| input.value),
            output: section.output.map(|output| output.value),
            labels: section.labels.map(|labels| labels_from(base, labels.value.0.as_ref())),
        };
        return Ok((Source::Model { path, written: Box::new(written) }, default_name));
    };
    let model_keys = [
        section.model.map(|model| model.at),
        section.input.map(|input| input.at),
        section.output.map(|output| output.at),
        section.labels.map(|labels| labels.at),
    ];
    if let Some(at) = model_keys.into_iter().flatten().next() {
        let what = "a target is a model or a service, not both; what a service needs stands in \
                    its own section";
        return Err(Diagnostic::new(at, what));
    }
    service.check().map_err(|error| Diagnostic::new(service_at, error.to_string()))?;
    let default_name = match service.task {
        Some(task) => format!("{} {}", service.provider, task.name()),
        None => service.provider.clone(),
    };
    Ok((Source::Service(Box::new(service)), default_name))
}

/// A target's model and what the target is called where the file does not say it.
fn model(
    model: Option<At<Text>>,
    target_at: Location,
    base: &Path,
) -> Result<(PathBuf, String), Diagnostic> {
    let Some(At { at, value: Text(text) }) = model else {
        let what = "targets needs model or service: an ONNX file, world:NAME, or a service";
        return Err(Diagnostic::new(target_at, what));
    };
    if let Some(name) = text.strip_prefix(PREFIX) {
        embedded_model(name).map_err(|error| Diagnostic::new(at, error.to_string()))?;
        return Ok((PathBuf::from(&text), name.to_owned()));
    }
    let path = base.join(&text);
    let Some(stem) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else {
        let what = format!("model takes an ONNX file or world:NAME, not {text:?}");
        return Err(Diagnostic::new(at, what));
    };
    Ok((path, stem))
}

fn fairness(section: FairnessSection) -> Fairness {
    Fairness {
        by: section.by.into_strings(),
        privileged: section.privileged.into_strings(),
        positive: section.positive.map(|Text(positive)| positive),
    }
}

fn intervals(section: IntervalsSection) -> Result<Intervals, Diagnostic> {
    let level = match section.confidence {
        Some(At { at, value: Share(confidence) }) => {
            Level::new(confidence).map_err(|error| Diagnostic::new(at, error.to_string()))?
        }
        None => Level::default(),
    };
    Ok(Intervals { method: section.method, level, population: section.population })
}

fn stop(section: &StopSection, population: Population) -> Stop {
    let Share(half_width) = section.half_width;
    let at_most = section.at_most.and_then(Whole::get).unwrap_or(DEFAULT_AT_MOST);
    Stop { half_width, at_most, population: section.population.unwrap_or(population) }
}

fn requirements(
    sections: Option<NonEmpty<At<RequirementSection>>>,
    targets: &[TargetSpec],
    faults: &[FaultPoint],
    population: Population,
) -> Result<Vec<Requirement>, Diagnostic> {
    let mut requirements = Vec::new();
    for At { at, value: section } in sections.into_iter().flat_map(|sections| sections.0) {
        let quantity = quantity(at, &section)?;
        let limit = limit(at, quantity, &section)?;
        for (attribute, value) in &section.filter.0 {
            check_value(attribute, value, targets, faults)?;
        }
        let population = section.population.unwrap_or(population);
        check_counted(quantity, &section, population)?;
        requirements.push(Requirement {
            name: section.name.map(|Text(name)| name),
            quantity,
            limit,
            by: section.by.map(|At { value: Text(by), .. }| by),
            filter: with_labels(section.filter, faults),
            population,
            max_skipped: section.max_skipped.map_or(DEFAULT_MAX_SKIPPED, |share| share.0),
        });
    }
    Ok(requirements)
}

/// What a requirement limits: exactly one thing.
fn quantity(at: Location, section: &RequirementSection) -> Result<Quantity, Diagnostic> {
    let rate = section.rate.as_ref().and_then(|rate| RateKind::named(&rate.name));
    let metric = section.metric.as_ref();
    let given = [rate.is_some(), section.fit.is_some(), metric.is_some()];
    if given.into_iter().filter(|given| *given).count() > 1 {
        let at = section.fit.as_ref().map(|fit| fit.at).or(metric.map(|metric| metric.at));
        let what = "a requirement limits a rate, fit or a metric, only one of them";
        return Err(Diagnostic::new(at.unwrap_or(Location::UNKNOWN), what));
    }
    if let Some(rate) = rate {
        return Ok(Quantity::Rate(rate));
    }
    if let Some(fit) = &section.fit {
        return Ok(Quantity::Fit(fit_limit(&fit.value)));
    }
    let metric = metric.and_then(|metric| QualityMetric::named(&metric.value.name));
    metric.map(Quantity::Metric).ok_or_else(|| {
        let what = "requirements needs rate, fit or metric: which outcome is limited, failures in \
                    time, or how good answers are";
        Diagnostic::new(at, what)
    })
}

/// The limit, on the side that suits what is limited.
fn limit(
    at: Location,
    quantity: Quantity,
    section: &RequirementSection,
) -> Result<f64, Diagnostic> {
    let (wanted, other) = if quantity.is_better_high() {
        (("at_least", &section.at_least), ("at_most", &section.at_most))
    } else {
        (("at_most", &section.at_most), ("at_least", &section.at_least))
    };
    if let Some(wrong) = other.1 {
        let what = format!("this is limited by {}, not by {}", wanted.0, other.0);
        return Err(Diagnostic::new(wrong.at, what));
    }
    let Some(limit) = wanted.1 else {
        return Err(Diagnostic::new(at, format!("a requirement needs {}: the limit", wanted.0)));
    };
    check_limit(wanted.0, limit, quantity)?;
    Ok(limit.value)
}

/// Metrics over all faults and severities cannot choose trials, and are bootstrapped over images.
fn check_counted(
    quantity: Quantity,
    section: &RequirementSection,
    population: Population,
) -> Result<(), Diagnostic> {
    let Quantity::Metric(metric) = quantity else { return Ok(()) };
    if metric.is_counted() {
        return Ok(());
    }
    let name = metric.name();
    let allowed: &[&str] = match metric {
        QualityMetric::Ap => &["target", "fault", "point"],
        _ => &["target"],
    };
    for (attribute, value) in &section.filter.0 {
        if !allowed.contains(&attribute.as_str()) {
            let what =
                format!("{name} can be limited where {}, not by {attribute}", allowed.join(" or "));
            return Err(Diagnostic::new(value.at, what));
        }
    }
    if let Some(by) = &section.by {
        return Err(Diagnostic::new(
            by.at,
            format!("{name} is not counted by group; use accuracy"),
        ));
    }
    if population == Population::TheseImages {
        let at = section.metric.as_ref().map_or(Location::UNKNOWN, |metric| metric.at);
        return Err(Diagnostic::new(at, format!("{name} is known for new_images only")));
    }
    Ok(())
}

fn fit_limit(section: &FitSection) -> FitLimit {
    let Share(raw) = section.raw;
    FitLimit { raw, share: section.share.map_or(1.0, |Share(share)| share) }
}

/// Checks a limit: failures in time, which share their key with rates, may be larger, and relative
/// errors may be several times the reference's.
fn check_limit(key: &str, limit: &At<f64>, quantity: Quantity) -> Result<(), Diagnostic> {
    type Fit = Share<{ 100 * MAX_FIT }, true>;
    type Relative = Share<10_000, true>;
    type Rate = Share<100, true>;
    let wanted = match quantity {
        Quantity::Fit(_) => Fit::new(limit.value).is_none().then(Fit::words),
        Quantity::Metric(QualityMetric::Mce) => {
            Relative::new(limit.value).is_none().then(Relative::words)
        }
        _ => Rate::new(limit.value).is_none().then(Rate::words),
    };
    match wanted {
        Some(wanted) => {
            let what = format!("{key} takes {wanted}, not {}", limit.value);
            Err(Diagnostic::new(limit.at, what))
        }
        None => Ok(()),
    }
}

/// A filter whose fault point, where it names one, is called as reports call it.
fn with_labels(filter: Scalars, faults: &[FaultPoint]) -> BTreeMap<String, String> {
    let mut filter = filter.into_strings();
    let named = filter.iter_mut().filter(|(key, _)| ["fault", "point"].contains(&key.as_str()));
    for (key, text) in named {
        let whole_fault = key == "fault" && faults.iter().any(|point| point.name == text);
        let point = faults.iter().find(|point| point.is_called(text));
        if let Some(point) = point.filter(|_| !whole_fault) {
            text.clone_from(&point.label);
        }
    }
    filter
}

/// Targets and faults are known here; what else a trial has is known when it is done.
fn check_value(
    attribute: &str,
    value: &At<String>,
    targets: &[TargetSpec],
    faults: &[FaultPoint],
) -> Result<(), Diagnostic> {
    let text = value.value.as_str();
    let names: BTreeSet<&str> = match attribute {
        "target" => targets.iter().map(|target| target.name.as_str()).collect(),
        // A label stands for one point, a name for all points of the fault.
        "fault" if faults.iter().any(|point| point.is_called(text)) => return Ok(()),
        "fault" => faults.iter().map(|point| point.name).collect(),
        _ => return Ok(()),
    };
    known(&format!("{attribute} of this campaign"), text, names.into_iter().collect())
        .map_err(|message| Diagnostic::new(value.at, message))
}

fn preserve(
    sections: Option<NonEmpty<At<PreserveSection>>>,
    faults: &[FaultPoint],
) -> Result<Vec<Preservation>, Diagnostic> {
    let faults: BTreeSet<&str> = faults.iter().map(|point| point.name).collect();
    let mut all = Vec::new();
    for section in sections.into_iter().flat_map(|sections| sections.0) {
        for At { at, value: name } in &section.value.faults.0 {
            known("fault of this campaign", name, faults.iter().copied().collect())
                .map_err(|what| Diagnostic::new(*at, what))?;
        }
        let At { at, value: Text(name) } = &section.value.tolerance;
        // What has neither an ending nor a folder is meant as a name.
        if !name.contains(['.', '/', '\\']) {
            known("tolerance", name, Tolerance::names().collect())
                .map_err(|what| Diagnostic::new(*at, what))?;
        }
        all.push(preservation(section)?);
    }
    Ok(all)
}

fn preservation(section: At<PreserveSection>) -> Result<Preservation, Diagnostic> {
    let At { at, value: section } = section;
    let batches = section.batches.and_then(Whole::get).unwrap_or(DEFAULT_BATCHES);
    let batch_size = section.batch_size.and_then(Whole::get).unwrap_or(DEFAULT_BATCH_SIZE);
    if batches.saturating_mul(batch_size) > MAX_DRAWN {
        let what = format!("batches times batch_size is at most {MAX_DRAWN}; draw less");
        return Err(Diagnostic::new(at, what));
    }
    let rule = section.rule.unwrap_or(PreserveRule::Images);
    let published = Tolerance::named(&section.tolerance.value.0).is_some();
    Ok(Preservation {
        name: section.name.map(|Text(name)| name),
        what: section.what,
        tolerance: section.tolerance.value.0,
        faults: section.faults.into_strings(),
        classes: section.classes.into_strings(),
        metric: section.metric,
        rule,
        alpha: section.alpha.map_or(rule.default_alpha(), |Share(alpha)| alpha),
        margin: section.margin.map_or(rule.default_margin(), |margin| margin.0),
        both_ends: section.both_ends.unwrap_or(!published),
        batches,
        batch_size,
        max_skipped: section.max_skipped.map_or(DEFAULT_MAX_SKIPPED, |share| share.0),
    })
}
