//! `faultlens verify`: is a run directory what was written?

use std::path::Path;

use anyhow::Context;
use faultlens::OutcomeKind;
use faultlens::campaign::plan::TrialKey;
use faultlens::campaign::replay::Rerun;
use faultlens::record::Record;
use faultlens::record::store::{Repaired, Store, StoreError, Verified, repair, verify};
use faultlens::report::plain;
use serde_json::json;

use crate::args::VerifyArgs;
use crate::console::{Console, Tint};
use crate::exit;
use crate::text::grouped;

/// Trials that are replayed where the user does not say.
const REPLAYED: usize = 3;
/// Damage that is listed; the rest is counted.
const LISTED: usize = 20;

/// Checks everything in a run directory, and replays some of its trials.
pub(crate) fn run(args: &VerifyArgs, console: &mut Console) -> anyhow::Result<u8> {
    let repaired = if args.repair { Some(repair(&args.run)?) } else { None };
    let verified = verify(&args.run)?;
    let replays = if verified.is_sound() { Some(replays(args)?) } else { None };
    let differs = replays.as_ref().is_some_and(|replays| !replays.fit());
    let status = if verified.is_sound() && !differs { exit::OK } else { exit::NOT_MET };
    console.decide(status);
    if args.json {
        console.json(&object(&verified, replays.as_ref(), repaired))?;
    } else {
        if let Some(repaired) = repaired {
            show_repaired(repaired, console)?;
        }
        show(&verified, console)?;
        if let Some(replays) = &replays {
            show_replays(replays, console)?;
        }
    }
    if !verified.has_checksums && verified.is_sound() {
        console.note(
            "note: an older version of faultlens wrote this run, without checksums: damage that \
             leaves valid rows goes unnoticed",
        )?;
    }
    Ok(status)
}

/// Trials that were run again.
#[derive(Default)]
struct Replays {
    identical: u64,
    /// Numbers of trials that are not on record as they happen now.
    different: Vec<u64>,
    /// Numbers of trials that the campaign counts otherwise.
    off_plan: Vec<u64>,
    /// Why none could be replayed.
    left_out: Option<String>,
}

impl Replays {
    /// Whether everything is as recorded.
    fn fit(&self) -> bool {
        self.different.is_empty() && self.off_plan.is_empty()
    }
}

/// Replays trials from all over the run. Where the user does not ask for a number, a run whose
/// models or images are gone is no damaged run.
fn replays(args: &VerifyArgs) -> anyhow::Result<Replays> {
    let count = args.replay.unwrap_or(REPLAYED);
    if count == 0 {
        return Ok(Replays::default());
    }
    let store = Store::read(&args.run)?;
    if args.replay.is_none() && store.manifest().targets.iter().any(|one| one.service.is_some()) {
        let left_out = "its services would be asked; --replay N does it".to_owned();
        return Ok(Replays { left_out: Some(left_out), ..Replays::default() });
    }
    match replayed(&args.run, &sample(&store, count)?) {
        Err(error) if args.replay.is_none() => {
            Ok(Replays { left_out: Some(format!("{error:#}")), ..Replays::default() })
        }
        replays => replays.context("trials cannot be replayed"),
    }
}

/// The numbers of trials at even distances; those that were skipped have nothing to repeat.
fn sample(store: &Store, count: usize) -> Result<Vec<u64>, StoreError> {
    let mut numbers = Vec::new();
    store.for_each::<StoreError>(|record| {
        if record.outcome.kind() != OutcomeKind::Skipped {
            numbers.push(record.number);
        }
        Ok(())
    })?;
    let count = count.min(numbers.len());
    Ok((0..count).map(|at| numbers[(2 * at + 1) * numbers.len() / (2 * count)]).collect())
}

fn replayed(run: &Path, numbers: &[u64]) -> anyhow::Result<Replays> {
    let rerun = Rerun::open(run)?;
    let mut replays = Replays { off_plan: off_plan(&rerun)?, ..Replays::default() };
    for number in numbers {
        if rerun.replay(&number.to_string())?.is_identical() {
            replays.identical += 1;
        } else {
            replays.different.push(*number);
        }
    }
    Ok(replays)
}

/// Trials whose target, case, fault and repeat are not those of their number.
fn off_plan(rerun: &Rerun) -> Result<Vec<u64>, StoreError> {
    let mut off = Vec::new();
    rerun.store.for_each::<StoreError>(|record| {
        let Record { target, case, fault, repeat, .. } = record;
        let planned = rerun.open.plan.key(record.number);
        if planned != Some(TrialKey { target, case, fault, repeat }) {
            off.push(record.number);
        }
        Ok(())
    })?;
    Ok(off)
}

fn object(
    verified: &Verified,
    replays: Option<&Replays>,
    repaired: Option<Repaired>,
) -> serde_json::Value {
    json!({
        "sound": verified.is_sound(),
        "trials": verified.trials,
        "cases": verified.cases,
        "goldens": verified.goldens,
        "examples": verified.examples,
        "pins": verified.pins,
        "artifacts": verified.artifacts,
        "checksums": verified.has_checksums,
        "complete": verified.complete,
        "digest": verified.digest,
        "damage": verified.damage.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "replayed": replays.map(|replays| json!({
            "identical": replays.identical,
            "different": replays.different,
            "off_plan": replays.off_plan,
            "left_out": replays.left_out,
        })),
        "repaired": repaired.map(|repaired| json!({
            "trials": repaired.trials,
            "lost": repaired.lost,
            "cases": repaired.cases,
            "goldens": repaired.goldens,
            "examples": repaired.examples,
            "incomplete": repaired.incomplete,
        })),
    })
}

fn show(verified: &Verified, console: &mut Console) -> anyhow::Result<()> {
    let checked = format!(
        "{} trials, {} cases, {} golden answers, {} examples, {} pins, {} pictures",
        grouped(verified.trials),
        grouped(verified.cases),
        grouped(verified.goldens),
        grouped(verified.examples),
        grouped(verified.pins),
        grouped(verified.artifacts)
    );
    if verified.is_sound() {
        let sound = console.tinted(Tint::Good, "sound");
        console.line(format_args!("{sound}    {checked}; files, checksums and numbers fit"))?;
        if let Some(digest) = &verified.digest {
            console.line(format_args!("digest   {digest}"))?;
        }
        return Ok(());
    }
    let damaged = console.tinted(Tint::Bad, "damaged");
    console.line(format_args!("{damaged}  sound are {checked}"))?;
    for damage in verified.damage.iter().take(LISTED) {
        console.line(format_args!("  {}", plain(&damage.to_string())))?;
    }
    if verified.damage.len() > LISTED {
        console.line(format_args!("  … and {} more", verified.damage.len() - LISTED))?;
    }
    Ok(())
}

fn show_replays(replays: &Replays, console: &mut Console) -> anyhow::Result<()> {
    if let Some(reason) = &replays.left_out {
        console.note(format_args!("note: no trial was replayed: {}", plain(reason)))?;
    } else if let Some(first) = replays.off_plan.first() {
        console.line(format_args!(
            "{} trials have numbers that the campaign gives to others, such as {first}",
            replays.off_plan.len()
        ))?;
    } else if let Some(first) = replays.different.first() {
        let all = replays.identical + replays.different.len() as u64;
        let different = replays.different.len();
        console.line(format_args!(
            "{different} of {all} replayed trials are not as recorded, such as {first}: \
             `faultlens replay` shows how"
        ))?;
    } else if replays.identical > 0 {
        console
            .line(format_args!("replayed {} trials, identical bit for bit", replays.identical))?;
    }
    Ok(())
}

fn show_repaired(repaired: Repaired, console: &mut Console) -> anyhow::Result<()> {
    let Repaired { trials, lost, cases, goldens, .. } = repaired;
    if repaired.incomplete {
        console.line(format_args!(
            "dropped {trials} trials, {cases} cases and {goldens} golden answers; {lost} trials \
             were lost before: run the campaign again to do them"
        ))?;
    } else {
        console.line("nothing had to be done again")?;
    }
    Ok(())
}
