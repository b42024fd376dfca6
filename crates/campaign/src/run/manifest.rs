//! What a run directory says about how it was made.

use super::options::{RunOptions, threads};
use crate::event::Ending;
use crate::open::OpenCampaign;
use crate::plan::Shard;
use crate::run_error::RunError;
use crate::target::OpenTarget;
use crate::trial::disturb;
use faultlens_core::Settings;
use faultlens_data::Sampling;
use faultlens_record::store::{
    MANIFEST_VERSION, Manifest, ManifestFault, ManifestTarget, Store, timestamp,
};
use faultlens_spec::{CaseSpec, FaultPoint, Population, Stop, TargetSpec};
use std::path::Path;
use std::time::SystemTime;

/// Opens the run of this campaign in `dir`, or begins one; says how it ended, where nothing is left
/// to do.
pub(super) fn store(
    open: &OpenCampaign,
    dir: &Path,
    options: &RunOptions,
) -> Result<(Store, Option<Ending>), RunError> {
    let manifest = manifest(open, options);
    if !Store::exists(dir) {
        return Ok((Store::create(dir, &manifest, &open.campaign.text)?, None));
    }
    let mut store = Store::open(dir)?;
    store.expect_campaign(&manifest.name, &manifest.fingerprint)?;
    check_unchanged(store.manifest(), open)?;
    if store.manifest().shard != manifest.shard {
        return Err(RunError::OtherShard(dir.to_path_buf()));
    }
    let finished = finished(&store, open, options)?;
    store.renew(&manifest, &open.campaign.text)?;
    Ok((store, finished))
}

/// How the run ended, where nothing is left to do: every trial is there, and no letter of the
/// campaign has changed since, such as how many examples are kept.
fn finished(
    store: &Store,
    open: &OpenCampaign,
    options: &RunOptions,
) -> Result<Option<Ending>, RunError> {
    let progress = store.progress()?;
    if !progress.complete || store.campaign_yaml()? != open.campaign.text {
        return Ok(None);
    }
    if progress.stopped_early {
        return Ok(Some(Ending::StoppedEarly));
    }
    let planned: u64 = open.plan.units(options.shard).map(|unit| unit.len()).sum();
    Ok((progress.recorded == planned).then_some(Ending::Complete))
}

/// Refuses models and data that are not those that the run began with: its numbers would mean
/// other trials.
pub(crate) fn check_unchanged(begun: &Manifest, open: &OpenCampaign) -> Result<(), RunError> {
    let targets = open.campaign.targets.iter().zip(&open.targets).map(target);
    for (then, now) in begun.targets.iter().zip(targets) {
        let same = then.sha256 == now.sha256
            && then.input == now.input
            && then.output == now.output
            && then.defences == now.defences;
        if !same {
            return Err(changed(format!("the model {}", now.model)));
        }
        if then.classes != now.classes {
            return Err(changed(format!("the list of labels of {}", now.name)));
        }
    }
    let cases = u64::from(open.plan.cases());
    let classes = &open.cases.set.classes;
    if begun.cases != cases || begun.planned != open.plan.total() || begun.classes != *classes {
        return Err(changed(format!(
            "the data set ({} cases then, {cases} now, of {} and {} classes)",
            begun.cases,
            begun.classes.len(),
            classes.len()
        )));
    }
    if begun.objects.as_deref() != open.context.object_pool.digest() {
        return Err(changed("the pool of objects".to_owned()));
    }
    Ok(())
}

fn changed(what: String) -> RunError {
    RunError::Changed { what, hint: "put it back, or start a new run with another output" }
}

fn manifest(open: &OpenCampaign, options: &RunOptions) -> Manifest {
    let campaign = &open.campaign;
    Manifest {
        version: MANIFEST_VERSION,
        faultlens: env!("CARGO_PKG_VERSION").to_owned(),
        fingerprint: campaign.fingerprint(),
        name: campaign.name.clone(),
        base: base(&campaign.base),
        seed: campaign.seed,
        created: timestamp(SystemTime::now()),
        machine: machine(),
        threads: threads(open, options),
        planned: open.plan.total(),
        shard: options.shard.map(|Shard { part, of }| (part, of)),
        oracle: judged(&campaign.judge.oracle),
        guards: campaign.judge.guards.iter().map(judged).collect(),
        confidence: campaign.intervals.level.confidence(),
        interval: campaign.intervals.method.name().to_owned(),
        requirements: campaign.requirements.iter().map(ToString::to_string).collect(),
        stop: campaign.stop.as_ref().map(stop),
        targets: campaign.targets.iter().zip(&open.targets).map(target).collect(),
        data: data(&campaign.cases),
        classes: open.cases.set.classes.clone(),
        cases: u64::from(open.plan.cases()),
        faults: campaign.faults.iter().map(fault).collect(),
        tolerances: open.tolerances.clone(),
        objects: open.context.object_pool.digest().map(str::to_owned),
    }
}

fn target((spec, target): (&TargetSpec, &OpenTarget)) -> ManifestTarget {
    let described = target.white_box().map(|white_box| white_box.target.description());
    let listed = target.service().and_then(|service| service.labels());
    let labels = described.map(|described| &described.labels).or(listed);
    let fingerprint = target.white_box().map(|white_box| white_box.target.fingerprint().to_owned());
    ManifestTarget {
        name: spec.name.clone(),
        model: spec.source.place(),
        sha256: fingerprint.unwrap_or_else(|| target.key.clone()),
        input: serde_json::json!(described.map(|described| &described.input)),
        output: serde_json::json!(match target.service() {
            Some(service) => service.spec().output.as_ref(),
            None => described.map(|described| &described.output),
        }),
        classes: labels
            .map_or_else(Vec::new, |labels| (0..labels.len()).map(|at| labels.name(at)).collect()),
        traits: spec.traits.clone(),
        defences: spec.defences.iter().map(ToString::to_string).collect(),
        origin: target.origin.clone(),
        service: target.service().map(|service| service.task().name().to_owned()),
    }
}

fn fault(fault: &FaultPoint) -> ManifestFault {
    let dose = fault.dose;
    ManifestFault {
        name: fault.name.to_owned(),
        label: fault.label.clone(),
        spec: fault.spec(),
        settings: fault.settings_json().into_iter().collect(),
        axis: dose.map(|dose| dose.axis.to_owned()),
        amount: dose.map(|dose| dose.amount),
        trials: fault.trials,
        on: disturb(fault).facts().disturbs,
    }
}

/// Where relative paths start, wherever the run is looked at from.
fn base(base: &Path) -> String {
    let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    std::path::absolute(base).unwrap_or_else(|_| base.to_path_buf()).display().to_string()
}

/// An oracle or guard with its settings.
fn judged((name, settings): &(&str, Settings)) -> String {
    match settings.to_string() {
        settings if settings.is_empty() => (*name).to_owned(),
        settings => format!("{name} ({settings})"),
    }
}

fn stop(stop: &Stop) -> String {
    let half = faultlens_spec::Percent(stop.half_width);
    let whose = match stop.population {
        Population::NewImages => " for new images, or could not have with so few images; at most",
        Population::TheseImages => " for these images; at most",
    };
    format!(
        "until every rate has a margin of error of ±{half}{whose} {} trials of each case",
        stop.at_most
    )
}

fn data(cases: &CaseSpec) -> String {
    let sample = cases.sample.as_ref().map(|sample| match sample.how {
        Sampling::Random => ", drawn at random",
        Sampling::Balanced => ", drawn evenly from all classes",
    });
    format!("{}{}", cases.data, sample.unwrap_or_default())
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{os} {arch}, {cores} cores, {} kernels", faultlens_engine::isa_name())
}
