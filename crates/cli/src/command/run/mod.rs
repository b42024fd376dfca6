//! `faultlens run`: a campaign, from its file to its report; or a sweep, which is several.

mod dry;
mod events;
mod interrupt;
mod progress;
mod source;
mod sweep;
mod tensorfi;

use std::path::Path;

use crate::exit;
use anyhow::bail;
use faultlens::campaign::run::{Ending, RunOptions, Sink};
use faultlens::campaign::run_campaign;
use faultlens::spec::Campaign;

use crate::args::RunArgs;
use crate::command::report::{self, ReportOptions, Shown};
use crate::console::Console;
pub(crate) use events::{EventLines, record, site};
pub(crate) use interrupt::interruptible;
use progress::Progress;
use source::{Wanted, wanted};
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
    let dir = options.output.clone().unwrap_or_else(|| campaign.output.clone());
    if args.dry_run {
        return dry::show(campaign, &dir, args.json, console);
    }
    let mut events = args.events.as_deref().map(EventLines::open).transpose()?;
    let ending = perform(campaign, &options, events.as_mut(), console)?;
    if ending == Ending::Interrupted {
        console.aside("interrupted; recorded trials are kept, run the same command to resume");
        return Ok(exit::INTERRUPTED);
    }
    if args.shard.is_some() && ending.is_finished() {
        console.note(format_args!("the shard is complete: {}", dir.display()))?;
    }
    let events_on_stdout = args.events.as_deref() == Some(Path::new("-"));
    let shown = if args.json {
        Shown::Json
    } else if args.shard.is_some() || events_on_stdout {
        // A shard is no result of its own, and a reader of events takes every line for one.
        Shown::Nothing
    } else {
        Shown::Text
    };
    let status = if ending.is_finished() { exit::OK } else { exit::INCONCLUSIVE };
    console.decide(status);
    report::report_run(&dir, &ReportOptions { junit: args.junit.as_deref(), shown }, console)?;
    Ok(status)
}

/// Runs what is left of a campaign.
pub(crate) fn perform(
    campaign: Campaign,
    options: &RunOptions,
    events: Option<&mut EventLines>,
    console: &mut Console,
) -> anyhow::Result<Ending> {
    let interrupted = interruptible()?;
    let mut progress = Progress::new(console);
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut progress];
    if let Some(events) = events {
        sinks.push(events);
    }
    Ok(run_campaign(campaign, options, &mut sinks, interrupted)?)
}
