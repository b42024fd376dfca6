//! From the tree of a campaign file to a campaign.

use super::campaign::{Campaign, CaseSpec, Fairness, Sample, Source, TargetSpec};
use super::error::Diagnostic;
use super::fault::{self, FaultPoint};
use super::keys::CAMPAIGN;
use super::legacy::replace_old_names;
use super::takes::{Takes, check, known};
use super::tree::{self, Node, Value};
use super::{
    DefenceSpec, FitLimit, Intervals, JudgeSpec, Method, Preservation, RateKind, Requirement, Stop,
};
use faultlens_data::{Format, Sampling};
use faultlens_judge::Tolerance;
use faultlens_stats::{Level, StatsError, StopRule};
use faultlens_targets::onnx::labels_from;
use faultlens_targets::service::ServiceSpec;
use faultlens_targets::{PartialDescription, embedded_model};
use faultlens_vision::{InputDescription, OutputDescription};
use faultlens_world::MAX_PICTURES;
use faultlens_world::PREFIX;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The sets of pictures that the embedded world draws.
const WORLD_KINDS: [&str; 2] = ["signs", "scenes"];

const DEFAULT_SEED: u64 = 1;
const DEFAULT_AT_MOST: u32 = 1000;
const DEFAULT_EXAMPLES: usize = 3;

pub(super) fn campaign(text: &str, path: &Path) -> Result<Campaign, Diagnostic> {
    let mut tree = tree::parse(text)?;
    let warnings = replace_old_names(&mut tree);
    if matches!(tree.value, Value::Nothing) {
        return Err(Diagnostic::new(
            tree.at,
            "this file is empty; faultlens init writes one to start from",
        ));
    }
    check_limits(&tree)?;
    check("a campaign", &tree, &Takes::Section(CAMPAIGN))?;
    let base = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let stem = path.file_stem().map_or("campaign".into(), |stem| stem.to_string_lossy());
    let intervals = intervals(tree.get("intervals"))?;
    let stop = tree.get("stop").map(|node| stop(node, intervals.level)).transpose()?;
    let targets = targets(&tree, text, &base)?;
    let faults = match tree.get("faults") {
        Some(list) => fault::points(list, stop.map(|stop| stop.at_most))?,
        None => Vec::new(),
    };
    objects_are_there(&tree, &faults)?;
    let requirements = requirements(&tree, text, &targets, &faults)?;
    let preserve = preserve(&tree, &faults)?;
    let reference = reference(&tree, &targets)?;
    let output =
        text_of(&tree, "output").map_or_else(|| Path::new("runs").join(&*stem), PathBuf::from);
    Ok(Campaign {
        answers: text_of(&tree, "answers").map(PathBuf::from),
        fairness: fairness(&tree),
        output,
        name: text_of(&tree, "name").unwrap_or_else(|| stem.to_string()),
        seed: whole_of(&tree, "seed").unwrap_or(DEFAULT_SEED),
        threads: whole_of(&tree, "threads"),
        targets,
        cases: cases(tree.get("cases").unwrap_or(&tree), &base)?,
        faults,
        objects: tree.get("objects").map(|node| path_or_world(node, &base)).transpose()?,
        judge: JudgeSpec::read(tree.get("oracle"), tree.get("guards"))?,
        intervals,
        stop,
        requirements,
        preserve,
        tells_every_change: text_of(&tree, "visual_change").as_deref() != Some("needed"),
        reference,
        pinned: pinned(&tree, &base),
        examples: whole_of(&tree, "examples").unwrap_or(DEFAULT_EXAMPLES),
        base,
        text: text.to_owned(),
        warnings,
    })
}

/// Refuses faults that put objects into scenes where the campaign has none.
fn objects_are_there(tree: &Node, faults: &[FaultPoint]) -> Result<(), Diagnostic> {
    let mut faults = faults.iter();
    let needing = faults.find(|fault| fault.disturbance.needs_objects());
    let (Some(fault), None) = (needing, tree.get("objects")) else { return Ok(()) };
    let entries = tree.get("faults").map(Node::list).unwrap_or_default();
    let preset = || entries.iter().find(|entry| entry.get("preset").is_some());
    let at = entries
        .iter()
        .find(|entry: &&Node| entry.get("fault").and_then(Node::text) == Some(fault.name))
        .or_else(preset)
        .map_or(tree.at, |entry| entry.at);
    let what = format!(
        "{} puts objects into scenes, and the campaign has none; write objects: FOLDER beside \
         faults, a pool that `faultlens objects DATA --out FOLDER` makes, or a data set whose \
         objects have outlines",
        fault.name
    );
    Err(Diagnostic::new(at, what))
}

fn text_of(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::text).map(str::to_owned)
}

fn whole_of<T: TryFrom<i64>>(node: &Node, key: &str) -> Option<T> {
    node.get(key).and_then(Node::whole).and_then(|whole| T::try_from(whole).ok())
}

fn preserve(tree: &Node, faults: &[FaultPoint]) -> Result<Vec<Preservation>, Diagnostic> {
    let nodes = tree.get("preserve").map(Node::list).unwrap_or_default();
    for node in nodes.iter().filter_map(|node| node.get("faults")) {
        let there: BTreeSet<&str> = faults.iter().map(|point| point.name).collect();
        let names = node.text().into_iter().chain(node.list().iter().filter_map(Node::text));
        for name in names {
            known("fault of this campaign", name, there.iter().copied().collect())
                .map_err(|what| Diagnostic::new(node.at, what))?;
        }
    }
    for node in nodes.iter().filter_map(|node| node.get("tolerance")) {
        let name = node.text().unwrap_or_default();
        // What has neither an ending nor a folder is meant as a name.
        if !name.contains(['.', '/', '\\']) {
            known("tolerance", name, Tolerance::names().collect())
                .map_err(|what| Diagnostic::new(node.at, what))?;
        }
    }
    nodes.iter().map(Preservation::read).collect()
}

fn reference(tree: &Node, targets: &[TargetSpec]) -> Result<Option<String>, Diagnostic> {
    let Some(node) = tree.get("reference") else { return Ok(None) };
    let name = node.text().unwrap_or_default();
    let names = targets.iter().map(|target| target.name.as_str());
    known("target", name, names.collect()).map_err(|what| Diagnostic::new(node.at, what))?;
    Ok(Some(name.to_owned()))
}

fn pinned(tree: &Node, base: &Path) -> Vec<PathBuf> {
    texts(tree.get("pinned")).into_iter().map(|path| base.join(path)).collect()
}

/// The parts of targets that are read as other crates have them, with their own errors.
#[derive(Deserialize)]
struct Described {
    targets: Vec<DescribedTarget>,
}

#[derive(Deserialize)]
struct DescribedTarget {
    input: Option<InputDescription>,
    output: Option<OutputDescription>,
    service: Option<ServiceSpec>,
}

fn targets(tree: &Node, text: &str, base: &Path) -> Result<Vec<TargetSpec>, Diagnostic> {
    let nodes = tree.get("targets").map(Node::list).unwrap_or_default();
    let described: Described = tree::read(text)?;
    let mut names = BTreeSet::new();
    let mut targets = Vec::new();
    for (node, described) in nodes.iter().zip(described.targets) {
        let (source, usual) = source(node, described, base)?;
        let name = text_of(node, "name").unwrap_or(usual);
        if !names.insert(name.clone()) {
            let at = node.get("name").or(node.get("model")).unwrap_or(node).at;
            let what = format!("two targets are called {name:?}; give one of them another name");
            return Err(Diagnostic::new(at, what));
        }
        let defences = DefenceSpec::read(node.get("defences"))?;
        targets.push(TargetSpec { name, source, defences, traits: scalars(node, "traits", text) });
    }
    Ok(targets)
}

/// Who answers, and what the target is called where the file does not say it.
fn source(
    node: &Node,
    described: DescribedTarget,
    base: &Path,
) -> Result<(Source, String), Diagnostic> {
    let DescribedTarget { input, output, service } = described;
    let Some(service) = service else {
        let (path, usual) = model(node, base)?;
        let labels = text_of(node, "labels").map(|labels| labels_from(base, labels.as_ref()));
        let written = PartialDescription { input, output, labels };
        return Ok((Source::Model { path, written: Box::new(written) }, usual));
    };
    if let Some(odd) = ["model", "input", "output", "labels"].iter().find_map(|key| node.get(key)) {
        let what = "a target is a model or a service, not both; what a service needs stands in \
                    its own section";
        return Err(Diagnostic::new(odd.at, what));
    }
    let at = node.get("service").unwrap_or(node).at;
    service.check().map_err(|error| Diagnostic::new(at, error.to_string()))?;
    let usual = match service.task {
        Some(task) => format!("{} {}", service.provider, task.name()),
        None => service.provider.clone(),
    };
    Ok((Source::Service(Box::new(service)), usual))
}

fn fairness(tree: &Node) -> Option<Fairness> {
    let node = tree.get("fairness")?;
    Some(Fairness {
        by: texts(node.get("by")),
        privileged: texts(node.get("privileged")),
        positive: text_of(node, "positive"),
    })
}

/// One text or a list of them.
pub(super) fn texts(node: Option<&Node>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    let one = node.text().into_iter();
    one.chain(node.list().iter().filter_map(Node::text)).map(str::to_owned).collect()
}

/// Keys with a value each, as the file has them.
fn scalars(node: &Node, key: &str, text: &str) -> BTreeMap<String, String> {
    let entries = node.get(key).map(Node::entries).unwrap_or_default();
    entries
        .iter()
        .map(|entry| (entry.key.clone(), entry.node.scalar_text(text).unwrap_or_default()))
        .collect()
}

/// A target's model and what the target is called where the file does not say it.
fn model(node: &Node, base: &Path) -> Result<(PathBuf, String), Diagnostic> {
    let Some(model) = node.get("model") else {
        let what = "targets needs model or service: an ONNX file, world:NAME, or a service";
        return Err(Diagnostic::new(node.at, what));
    };
    let text = model.text().unwrap_or_default();
    if let Some(name) = text.strip_prefix(PREFIX) {
        embedded_model(name).map_err(|error| Diagnostic::new(model.at, error.to_string()))?;
        return Ok((PathBuf::from(text), name.to_owned()));
    }
    let path = base.join(text);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.ok_or_else(|| {
        Diagnostic::new(model.at, format!("model takes an ONNX file or world:NAME, not {text:?}"))
    })?;
    Ok((path, stem))
}

fn cases(node: &Node, base: &Path) -> Result<CaseSpec, Diagnostic> {
    let format = node.get("format").map(|format| {
        Format::named(format.text().unwrap_or_default())
            .map_err(|error| Diagnostic::new(format.at, error.to_string()))
    });
    let sample = node.get("sample").map(|sample| Sample {
        count: whole_of(sample, "count").unwrap_or(usize::MAX),
        how: match sample.get("how").and_then(Node::text) {
            Some("balanced") => Sampling::Balanced,
            _ => Sampling::Random,
        },
    });
    Ok(CaseSpec {
        data: data(node, base)?,
        format: format.transpose()?,
        part: text_of(node, "part"),
        label_column: text_of(node, "label_column"),
        sample,
    })
}

pub(super) fn data(cases: &Node, base: &Path) -> Result<String, Diagnostic> {
    let data = cases.get("data").unwrap_or(cases);
    let written = path_or_world(data, base)?;
    for key in ["format", "label_column"] {
        if let Some(node) = cases.get(key).filter(|_| written.starts_with(PREFIX)) {
            let what = format!("the embedded world is no file and has no {key}; leave it out");
            return Err(Diagnostic::new(node.at, what));
        }
    }
    Ok(written)
}

/// A path from the campaign file's folder, or pictures of the embedded world.
fn path_or_world(data: &Node, base: &Path) -> Result<String, Diagnostic> {
    let text = data.text().unwrap_or_default();
    let Some(world) = text.strip_prefix(PREFIX) else {
        return Ok(base.join(text).to_string_lossy().into_owned());
    };
    let (kind, count) = world.split_once(':').map_or((world, None), |(k, n)| (k, Some(n)));
    known("set of the embedded world", kind, WORLD_KINDS.to_vec())
        .map_err(|message| Diagnostic::new(data.at, message))?;
    if let Some(count) =
        count.filter(|count| !count.parse().is_ok_and(|n: usize| (1..=MAX_PICTURES).contains(&n)))
    {
        let what = format!(
            "world:{kind} takes a number of pictures from 1 to {MAX_PICTURES}, such as \
             world:{kind}:200, not {count:?}"
        );
        return Err(Diagnostic::new(data.at, what));
    }
    Ok(text.to_owned())
}

fn intervals(node: Option<&Node>) -> Result<Intervals, Diagnostic> {
    let named = |text: &str| Method::ALL.into_iter().find(|method| method.name() == text);
    let method = node.and_then(|node| node.get("method")).and_then(Node::text).and_then(named);
    let level = match node.and_then(|node| node.get("confidence")) {
        Some(confidence) => Level::new(confidence.number().unwrap_or_default())
            .map_err(|error| Diagnostic::new(confidence.at, error.to_string()))?,
        None => Level::default(),
    };
    Ok(Intervals { method: method.unwrap_or_default(), level })
}

fn stop(node: &Node, level: Level) -> Result<Stop, Diagnostic> {
    let half_width = node.get("half_width").and_then(Node::number).unwrap_or_default();
    Ok(Stop {
        half_width,
        at_most: whole_of(node, "at_most").unwrap_or(DEFAULT_AT_MOST),
        rule: StopRule::new(half_width, level)
            .map_err(|error: StatsError| Diagnostic::new(node.at, error.to_string()))?,
    })
}

fn requirements(
    tree: &Node,
    text: &str,
    targets: &[TargetSpec],
    faults: &[FaultPoint],
) -> Result<Vec<Requirement>, Diagnostic> {
    let nodes = tree.get("requirements").map(Node::list).unwrap_or_default();
    nodes
        .iter()
        .map(|node: &Node| {
            let rate = node.get("rate").and_then(Node::text).and_then(RateKind::named);
            let filter = node.get("where").map(Node::entries).unwrap_or_default();
            for entry in filter {
                check_value(&entry.key, &entry.node, targets, faults)?;
            }
            Ok(Requirement {
                name: text_of(node, "name"),
                fit: limited(node)?,
                rate: rate.unwrap_or(RateKind::Failed),
                at_most: node.get("at_most").and_then(Node::number).unwrap_or_default(),
                filter: called(scalars(node, "where", text), faults),
            })
        })
        .collect()
}

/// A filter whose fault point, where it names one, is called as reports call it.
fn called(mut filter: BTreeMap<String, String>, faults: &[FaultPoint]) -> BTreeMap<String, String> {
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

/// Checks limits on rates first: those on failures in time, which share their key, may be larger.
fn check_limits(tree: &Node) -> Result<(), Diagnostic> {
    let requirements = tree.get("requirements").map(Node::list).unwrap_or_default();
    let rates = requirements.iter().filter(|node| node.get("fit").is_none());
    let share = Takes::Share { most: 1.0, reached: true };
    let mut limits = rates.filter_map(|node| node.get("at_most"));
    limits.try_for_each(|limit| check("at_most", limit, &share))
}

/// What a requirement limits: a rate, where it is nothing else.
fn limited(node: &Node) -> Result<Option<FitLimit>, Diagnostic> {
    match (node.get("rate"), node.get("fit")) {
        (None, None) => Err(Diagnostic::new(
            node.at,
            "requirements needs rate or fit: which outcome is limited, or failures in time",
        )),
        (Some(_), Some(fit)) => {
            Err(Diagnostic::new(fit.at, "a requirement limits a rate or fit, not both"))
        }
        (_, None) => Ok(None),
        (None, Some(fit)) => {
            let number = |key| fit.get(key).and_then(Node::number);
            let raw = number("raw");
            let share = number("share");
            Ok(Some(FitLimit { raw: raw.unwrap_or(1.0), share: share.unwrap_or(1.0) }))
        }
    }
}

/// Targets and faults are known here; what else a trial has is known when it is done.
fn check_value(
    attribute: &str,
    node: &Node,
    targets: &[TargetSpec],
    faults: &[FaultPoint],
) -> Result<(), Diagnostic> {
    let text = node.text().unwrap_or_default();
    let names: BTreeSet<&str> = match attribute {
        "target" => targets.iter().map(|target| target.name.as_str()).collect(),
        // A label stands for one point, a name for all points of the fault.
        "fault" if faults.iter().any(|point| point.is_called(text)) => return Ok(()),
        "fault" => faults.iter().map(|point| point.name).collect(),
        _ => return Ok(()),
    };
    known(&format!("{attribute} of this campaign"), text, names.into_iter().collect())
        .map_err(|message| Diagnostic::new(node.at, message))
}
