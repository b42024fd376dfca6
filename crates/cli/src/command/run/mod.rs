//! `faultlens run`: a campaign, from its file to its report; or a sweep, which is several.

mod dry;
mod events;
mod progress;
mod sweep;
mod tensorfi;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit;
use anyhow::{Context, bail};
use faultlens::campaign::run::{Ending, RunOptions, Sink};
use faultlens::campaign::run_campaign;
use faultlens::spec::Campaign;
use faultlens::spec::file;
use faultlens::sweep::Sweep;

use crate::args::RunArgs;
use crate::command::report::{self, Shown, Told};
use crate::console::Console;
pub(crate) use events::{EventLines, record};
use progress::Progress;
pub(crate) use tensorfi::{Source, translate};

/// Runs a campaign file.
pub(crate) fn run(args: &RunArgs, console: &mut Console) -> anyhow::Result<u8> {
    if args.shard.is_some() && args.junit.is_some() {
        bail!("a shard has no verdict of its own; merge the shards, then: faultlens check --junit");
    }
    let campaign = match wanted(args, console)? {
        Wanted::Campaign(campaign) => *campaign,
        Wanted::Sweep(sweep) => return sweep::run(*sweep, args, console),
    };
    let options =
        RunOptions { output: args.output.clone(), shard: args.shard, threads: args.threads };
    if args.dry_run {
        let dir = options.output.clone().unwrap_or_else(|| campaign.output.clone());
        return dry::tell(campaign, &dir, args.json, console);
    }
    let mut events = args.events.as_deref().map(EventLines::open).transpose()?;
    let dir = options.output.clone().unwrap_or_else(|| campaign.output.clone());
    if !perform(campaign, &options, events.as_mut(), console)? {
        console.note("interrupted; what was recorded is safe, the same command goes on")?;
        return Ok(exit::INTERRUPTED);
    }
    if args.shard.is_some() {
        console.note(format_args!("the shard is complete: {}", dir.display()))?;
    }
    let shown = match args.json {
        true => Shown::Json,
        false if args.shard.is_some() => Shown::Nothing,
        // Who reads events there takes every line for one.
        false if args.events.as_deref() == Some(Path::new("-")) => Shown::Nothing,
        false => Shown::Text,
    };
    report::tell(&dir, &Told { junit: args.junit.as_deref(), shown }, console)?;
    Ok(exit::OK)
}

/// What a file asks for.
enum Wanted {
    Campaign(Box<Campaign>),
    Sweep(Box<Sweep>),
}

/// The campaign or sweep of a file, or the campaign that a TensorFI file becomes.
fn wanted(args: &RunArgs, console: &mut Console) -> anyhow::Result<Wanted> {
    let (Some(conf), Some(model), Some(data)) = (&args.tensorfi, &args.model, &args.cases) else {
        let path = args.campaign.as_deref().context("no campaign file is named")?;
        let text = file::text(path)?;
        if Sweep::is_sweep(&text) {
            return Ok(Wanted::Sweep(Box::new(Sweep::parse(&text, path)?)));
        }
        return Ok(Wanted::Campaign(Box::new(Campaign::parse(&text, path)?)));
    };
    // Paths are the user's, so the campaign stands where the user does.
    let name = conf.file_name().context("--tensorfi takes a file")?;
    let source = Source { conf, model, data, besides: &args.besides, path: Path::new(name) };
    let text = translate(&source, console)?;
    Ok(Wanted::Campaign(Box::new(Campaign::parse(&text, source.path)?)))
}

/// Set once the user wants to stop. The first signal lets work in hand be recorded; the second
/// does not wait for that.
pub(crate) fn interruptible() -> anyhow::Result<&'static AtomicBool> {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    static LISTENS: AtomicBool = AtomicBool::new(false);
    // A process has one listener, and a sweep runs several campaigns.
    if !LISTENS.swap(true, Ordering::Relaxed) {
        ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(exit::INTERRUPTED));
            }
        })
        .context("cannot listen to signals")?;
    }
    Ok(&INTERRUPTED)
}

/// Runs what is left of a campaign; `false` where the user interrupted it.
pub(crate) fn perform(
    campaign: Campaign,
    options: &RunOptions,
    events: Option<&mut EventLines>,
    console: &mut Console,
) -> anyhow::Result<bool> {
    let interrupted = interruptible()?;
    let mut progress = Progress::new(console, &campaign);
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut progress];
    if let Some(events) = events {
        sinks.push(events);
    }
    Ok(run_campaign(campaign, options, &mut sinks, interrupted)? != Ending::Interrupted)
}
