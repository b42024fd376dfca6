//! `faultlens test`: from a model and a data set alone to a verdict.

mod campaign_file;
mod preprocessing;
mod timing;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{bail, ensure};
use faultlens::campaign::cases::Cases;
use faultlens::campaign::run::RunOptions;
use faultlens::data::encode_png;
use faultlens::spec::{Campaign, Source};
use faultlens::targets::PartialDescription;
use faultlens::targets::service::SERVICES;

use crate::args::TestArgs;
use crate::command::check;
use crate::command::report::{self, ReportOptions, Shown};
use crate::command::run::perform;
use crate::command::{write, write_new};
use crate::console::Console;
use crate::describe::written;
use crate::exit;
use campaign_file::{Facts, Scope, TargetText};

/// Images with a shorter side below this have the strengths that were made for small ones.
const SMALL_SIDE: usize = 72;

/// Tests a target and ends with a verdict.
pub(crate) fn run(args: &TestArgs, console: &mut Console) -> anyhow::Result<u8> {
    let started = Instant::now();
    let name = name_of(&args.target);
    let file = args.output.clone().unwrap_or_else(|| format!("test-{name}.yaml").into());
    if file.exists() {
        console.note(format_args!(
            "resuming {}; delete it and its run to plan anew",
            file.display()
        ))?;
    } else {
        let Some(text) = prepare(args, started, console)? else { return interrupted(console) };
        write_new(&file, &text, "choose another with -o")?;
    }
    let campaign = Campaign::load(&file)?;
    ensure!(
        campaign.cases.data == args.data && is_tested(&campaign, &args.target),
        "this campaign tests another target or other data; choose another file with -o: {}",
        file.display()
    );
    let dir = campaign.output.clone();
    let fed = fed_image(&campaign);
    if !perform(campaign, &RunOptions::default(), None, console)?.is_finished() {
        return interrupted(console);
    }
    if let Some(png) = fed {
        let path = dir.join("fed.png");
        write(&path, png)?;
        console.note(format_args!("what the model is fed: {}", path.display()))?;
    }
    let shown = if args.json { Shown::Json } else { Shown::Text };
    report::report_run(&dir, &ReportOptions { junit: None, shown }, console)?;
    console
        .note(format_args!("campaign: {} (edit it, then: faultlens run {0})", file.display()))?;
    check::verdict(&dir, console)
}

fn interrupted(console: &mut Console) -> anyhow::Result<u8> {
    console.aside("interrupted; recorded trials are kept, run the same command to resume");
    Ok(exit::INTERRUPTED)
}

/// What files of a target's test are called after.
fn name_of(target: &str) -> String {
    let stem = Path::new(target).file_stem().unwrap_or_default().to_string_lossy();
    let kept = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    stem.chars().map(kept).collect()
}

/// Whether the campaign's only target is this one.
fn is_tested(campaign: &Campaign, target: &str) -> bool {
    match &campaign.targets[..] {
        [one] => match &one.source {
            Source::Model { path, .. } => path == Path::new(target),
            Source::Service(spec) => {
                service_of(target).is_some_and(|(name, _)| name == spec.provider)
            }
            _ => false,
        },
        _ => false,
    }
}

/// The provider and the task that a target names, where it is a service.
fn service_of(target: &str) -> Option<(&str, Option<&str>)> {
    let (provider, task) = match target.split_once(':') {
        Some((provider, task)) => (provider, Some(task)),
        None => (target, None),
    };
    let known = SERVICES.iter().any(|service| service.name == provider);
    (known && !Path::new(target).exists()).then_some((provider, task))
}

/// Plans the campaign; `None` where the user interrupted it.
fn prepare(
    args: &TestArgs,
    started: Instant,
    console: &mut Console,
) -> anyhow::Result<Option<String>> {
    let name = name_of(&args.target);
    let draft = campaign_file::cases_only(&args.data);
    let cases = Cases::open(&Campaign::parse(&draft, Path::new("test.yaml"))?.cases, 1)?;
    if cases.set.is_empty() {
        bail!("there are no images in {}", args.data);
    }
    let case = cases.set.case(0)?;
    let facts = Facts {
        name: &name,
        data: &args.data,
        images: cases.set.len(),
        labelled: cases.set.label(0).is_some(),
        objects: cases.set.has_objects(),
        small: case.image.width().min(case.image.height()) < SMALL_SIDE,
    };
    console.note(format_args!("{}: {}", args.data, facts.about()))?;
    if let Some((provider, task)) = service_of(&args.target) {
        let target = TargetText::service(provider, task, args.endpoint.as_deref(), args.calls);
        let scope = Scope::for_calls(args.calls, facts.images);
        return Ok(Some(campaign_file::text(&facts, &target, &scope)));
    }
    let given: PartialDescription = written(args.input.as_deref(), args.labels.as_deref())?;
    let Some(target) = preprocessing::choose(&args.target, given, &facts, console)? else {
        return Ok(None);
    };
    let Some(costs) = timing::measure(&facts, &target, console)? else { return Ok(None) };
    let left = args.minutes * 60.0 - started.elapsed().as_secs_f64();
    let scope = costs.scope(left, facts.images);
    for line in scope.notes(args.minutes) {
        console.note(line)?;
    }
    Ok(Some(campaign_file::text(&facts, &target, &scope)))
}

/// A campaign beside the test's own run, whose records are not kept.
struct Rehearsal {
    dir: PathBuf,
}

impl Rehearsal {
    /// Runs the campaign; `None` where the user interrupted it.
    fn run(text: &str, console: &mut Console) -> anyhow::Result<Option<Self>> {
        let campaign = Campaign::parse(text, Path::new("test.yaml"))?;
        let rehearsal = Self { dir: campaign.output.clone() };
        // What an interrupted rehearsal has left.
        rehearsal.clear();
        let ending = perform(campaign, &RunOptions::default(), None, console)?;
        Ok(ending.is_finished().then_some(rehearsal))
    }

    fn clear(&self) {
        // A folder that stays is cleared by the next rehearsal.
        std::fs::remove_dir_all(&self.dir).ok();
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The first image as the model gets it, as PNG; `None` for services and where it cannot be drawn.
fn fed_image(campaign: &Campaign) -> Option<Vec<u8>> {
    let Source::Model { written, .. } = &campaign.targets.first()?.source else { return None };
    let input = written.input.as_ref()?;
    let case = Cases::open(&campaign.cases, campaign.seed).ok()?;
    let image = case.set.case(*case.sample.first()?).ok()?.image;
    encode_png(&input.picture(&input.point(&image).ok()?).ok()?)
}
