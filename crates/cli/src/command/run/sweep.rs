//! A sweep over a grid: models are trained, then campaigns are run one after the other.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::exit;
use anyhow::ensure;
use faultlens::campaign::run::{Ending, RunOptions};
use faultlens::report::plain;
use faultlens::sweep::{Event, EventKind, Member, Part, Rows, Sweep, SweepError, save_rows};
use serde_json::json;

use super::{EventLines, interruptible, perform};
use crate::args::RunArgs;
use crate::command::report::{self, Shown};
use crate::command::sweep::{FINDINGS, PAGE, SweepReport};
use crate::command::threads;
use crate::console::Console;
use crate::text::{grouped, time};

/// The line changes at most this often.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs what is left of a sweep, and writes its rows.
pub(super) fn run(mut sweep: Sweep, args: &RunArgs, console: &mut Console) -> anyhow::Result<u8> {
    ensure!(
        args.shard.is_none() && args.junit.is_none(),
        "a sweep has no shards and no verdicts; run the campaigns that it writes with --shard and \
         --junit: {}",
        sweep.output.display()
    );
    for warning in &sweep.warnings {
        console.note(format_args!("warning: {warning}"))?;
    }
    if let Some(output) = &args.output {
        sweep.output.clone_from(output);
    }
    if args.dry_run {
        return show_plan(&sweep, args.json, console);
    }
    let interrupted = interruptible()?;
    let mut events = args.events.as_deref().map(EventLines::open).transpose()?;
    let mut rows = Rows::default();
    let mut kept = 0;
    let mut trained = 0;
    for part in sweep.parts()? {
        let threads = threads(args.threads.or(sweep.threads));
        let mut bar = Bar { console, kept: 0, trained: 0, begun: Instant::now(), shown: None };
        let members = match bar.members(&part, threads, interrupted) {
            Err(SweepError::Stopped) => return stopped(console),
            members => members?,
        };
        kept += bar.kept;
        trained += bar.trained;
        let options = RunOptions { output: Some(part.run()), shard: None, threads: args.threads };
        let campaign = part.campaign(&members)?;
        match perform(campaign, &options, events.as_mut(), console)? {
            Ending::Interrupted => return stopped(console),
            // Rows of a part would compare configurations on different samples.
            Ending::Incomplete => return Ok(exit::INCONCLUSIVE),
            Ending::Complete | Ending::StoppedEarly => {}
        }
        report::report_run(
            &part.run(),
            &report::ReportOptions { junit: None, shown: Shown::Nothing },
            console,
        )?;
        rows.join(part.rows(&members)?);
    }
    save_rows(&rows, &sweep.output)?;
    let quiet = args.events.as_deref() == Some(Path::new("-"));
    let report = SweepReport::new(&sweep.name, &rows, false);
    let numbers = Numbers { rows: &rows, kept, trained, has_report: report.is_ok() };
    if let Ok(report) = &report {
        report.save(&sweep.output)?;
    }
    show_numbers(&sweep, &numbers, args.json, quiet, console)?;
    match &report {
        Err(error) => console.note(format_args!("no report on the rows: {error}"))?,
        Ok(report) if !(args.json || quiet) => {
            report.conclude(console)?;
            console.line(format_args!("report: {}", sweep.output.join(PAGE).display()))?;
        }
        Ok(_) => {}
    }
    Ok(exit::OK)
}

fn stopped(console: &mut Console) -> anyhow::Result<u8> {
    console.aside(
        "interrupted; trained models and recorded trials are kept, run the same command to resume",
    );
    Ok(exit::INTERRUPTED)
}

/// What a sweep has done.
struct Numbers<'a> {
    rows: &'a Rows,
    kept: usize,
    trained: usize,
    /// Whether the rows could be analysed, so that there is a page.
    has_report: bool,
}

fn show_numbers(
    sweep: &Sweep,
    numbers: &Numbers<'_>,
    as_json: bool,
    quiet: bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    let Numbers { rows, kept, trained, has_report } = *numbers;
    let changed = rows.rows.iter().filter(|row| row.changed).count();
    let file = |name: &str| sweep.output.join(name).display().to_string();
    if as_json {
        let page = [PAGE, FINDINGS].into_iter().filter(|_| has_report);
        let files: Vec<String> =
            ["rows.json", "rows.csv"].into_iter().chain(page).map(file).collect();
        return console.json(&json!({
            "name": sweep.name,
            "output": sweep.output.display().to_string(),
            "trained": trained,
            "kept": kept,
            "configurations": rows.configurations.len(),
            "rows": rows.rows.len(),
            "changed": changed,
            "files": files,
        }));
    }
    if quiet {
        return Ok(());
    }
    let [configurations, samples, changed] =
        [rows.configurations.len(), rows.rows.len(), changed].map(|n| grouped(n as u64));
    console.line(format_args!("{}", plain(&sweep.name)))?;
    console.line(format_args!(
        "{configurations} configurations of model, defence and attack; {trained} models trained, \
         {kept} kept from before"
    ))?;
    console.line(format_args!("{samples} attacked samples, {changed} with a changed answer"))?;
    Ok(console.line(format_args!("rows: {}", file("rows.csv")))?)
}

/// Shows how much there is to do; does nothing.
fn show_plan(sweep: &Sweep, as_json: bool, console: &mut Console) -> anyhow::Result<u8> {
    let parts = sweep.data.len() * sweep.permutations as usize;
    let configurations = parts * sweep.configurations();
    let trials = configurations * sweep.samples;
    if as_json {
        console.json(&json!({
            "campaigns": parts, "configurations": configurations, "trials": trials,
        }))?;
    } else {
        let [configurations, trials] = [configurations, trials].map(|n| grouped(n as u64));
        console.line(format_args!(
            "{parts} campaigns, {configurations} configurations of model, defence and attack, \
             {trials} trials"
        ))?;
    }
    Ok(exit::OK)
}

/// Shows how far the training is.
struct Bar<'c> {
    console: &'c mut Console,
    kept: usize,
    trained: usize,
    begun: Instant,
    shown: Option<Instant>,
}

impl Bar<'_> {
    fn members(
        &mut self,
        part: &Part<'_>,
        threads: usize,
        interrupted: &AtomicBool,
    ) -> Result<Vec<Member>, SweepError> {
        part.members(threads, &mut |event| {
            self.show(event);
            if interrupted.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    fn show(&mut self, event: &Event<'_>) {
        let Event { name, number, of, what } = *event;
        let name = plain(name);
        match what {
            EventKind::Kept => self.kept += 1,
            EventKind::Learns(progress) => {
                if self.shown.is_some_and(|shown| shown.elapsed() < PAUSE) {
                    return;
                }
                self.shown = Some(Instant::now());
                let epoch = progress.epoch;
                let epochs = progress.epochs;
                let loss = progress.loss;
                self.console.progress(format_args!(
                    "model {number}/{of}  {name}  epoch {epoch}/{epochs}  loss {loss:.4}"
                ));
            }
            EventKind::Trained => {
                self.trained += 1;
                let took = time(self.begun.elapsed().as_secs_f64());
                self.console.settle(format_args!("model {number}/{of}  {name}  trained in {took}"));
            }
        }
        if !matches!(what, EventKind::Learns(_)) {
            self.begun = Instant::now();
        }
    }
}
