//! What a campaign costs beside its trials: reading cases, judging, recording. The same trials run
//! bare on the engine and as a campaign, in turns, on one thread; the processor's time counts, also
//! that of the thread that writes.

use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use faultlens_campaign::OpenCampaign;
use faultlens_campaign::case_key;
use faultlens_campaign::plan::TrialKey;
use faultlens_campaign::run::{Event, RunOptions, Sink, SinkError};
use faultlens_campaign::trial::disturb;
use faultlens_core::Seed;
use faultlens_engine::Change;
use faultlens_faults::Sites;
use faultlens_record::Record;
use faultlens_record::store::{Batch, Store, StoreError};
use faultlens_spec::Campaign;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// As many trials run together as in a campaign.
const STACK: usize = 32;
const ROUNDS: usize = 5;
/// Records of one transaction, as in a campaign.
const TRANSACTION: usize = 8192;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: overhead CAMPAIGN.yaml | overhead --rewrite RUN";
    match args.next().as_deref() {
        Some("--rewrite") => rewrite(Path::new(&args.next().context(usage)?)),
        Some(path) => compare(Path::new(path)),
        None => anyhow::bail!(usage),
    }
}

fn compare(path: &Path) -> Result<()> {
    let open = OpenCampaign::open(Campaign::load(path)?)?;
    let scratch = std::env::temp_dir().join(format!("faultlens-overhead-{}", std::process::id()));
    let (mut bare_best, mut campaign_best) = (f64::INFINITY, f64::INFINITY);
    for round in 0..ROUNDS {
        let start = ProcessTime::now();
        std::thread::scope(|scope| match scope.spawn(|| bare(&open)).join() {
            Ok(done) => done,
            Err(_) => anyhow::bail!("the bare trials panicked"),
        })?;
        bare_best = bare_best.min(start.elapsed().as_secs_f64());
        let seconds = whole(path, &scratch.join(round.to_string()))?;
        campaign_best = campaign_best.min(seconds);
    }
    std::fs::remove_dir_all(&scratch)?;
    let (trials, overhead) = (open.plan.total(), 100.0 * (campaign_best / bare_best - 1.0));
    writeln!(
        std::io::stdout(),
        "{trials} trials: bare {bare_best:.2} s, campaign {campaign_best:.2} s, {overhead:+.1}%"
    )?;
    Ok(())
}

/// Golden runs and replays of the campaign's own trials, and nothing else.
fn bare(open: &OpenCampaign) -> Result<()> {
    for unit in open.plan.units(None) {
        let Some(white_box) = open.targets[unit.target as usize].white_box() else { continue };
        let case = open.cases.set.case(open.cases.sample[unit.case as usize])?;
        let golden = white_box.target.golden(&case.image)?;
        let case_key = case_key(&case);
        let keys: Vec<TrialKey> =
            unit.numbers.into_iter().flatten().filter_map(|n| open.plan.key(n)).collect();
        for trials in keys.chunk_by(|a, b| a.fault == b.fault) {
            let Some(fault) = disturb(open.fault(trials[0])).facts().injection else { continue };
            let sites = Sites::new(&golden, &white_box.anatomy, fault, 1);
            for stack in trials.chunks(STACK) {
                let draw = |key: &TrialKey| {
                    let seed = Seed::new(open.stream_seed(*key, &case_key));
                    fault
                        .draw(&sites, &mut seed.stream())
                        .map_or(Vec::new(), |strike| strike.changes)
                };
                let changes: Vec<Vec<Change>> = stack.iter().map(draw).collect();
                golden.replay_stack(&changes).into_iter().collect::<Result<Vec<_>, _>>()?;
            }
        }
    }
    Ok(())
}

/// The processor's time from the run's start to its end, without the opening of models.
#[derive(Default)]
struct Watch {
    start: Option<ProcessTime>,
    seconds: f64,
}

impl Sink for Watch {
    fn take(&mut self, event: &Event<'_>) -> Result<(), SinkError> {
        match event {
            Event::Started { .. } => self.start = Some(ProcessTime::now()),
            Event::Finished(_) => {
                self.seconds = self.start.map_or(0.0, |start| start.elapsed().as_secs_f64());
            }
            _ => {}
        }
        Ok(())
    }
}

fn whole(path: &Path, dir: &Path) -> Result<f64> {
    let mut watch = Watch::default();
    let output: Option<PathBuf> = Some(dir.to_path_buf());
    let options = RunOptions { output, threads: Some(1), ..RunOptions::default() };
    let sinks: &mut [&mut dyn Sink] = &mut [&mut watch];
    faultlens_campaign::run_campaign(
        Campaign::load(path)?,
        &options,
        sinks,
        &AtomicBool::new(false),
    )?;
    Ok(watch.seconds)
}

/// Writes the records of a run once more, and reads them.
fn rewrite(run: &Path) -> Result<()> {
    let store = Store::read(run)?;
    let (cases, goldens) = (store.cases()?, store.goldens()?);
    let mut records: Vec<Record> = Vec::new();
    let start = Instant::now();
    store.for_each::<StoreError>(|record| {
        records.push(record);
        Ok(())
    })?;
    let (read, n) = (start.elapsed().as_secs_f64(), records.len() as f64);
    let start = Instant::now();
    let done = store.done()?.count();
    let resumed = start.elapsed().as_secs_f64();
    let copy = std::env::temp_dir().join(format!("faultlens-rewrite-{}", std::process::id()));
    let mut again = Store::create(&copy, store.manifest(), &store.campaign_yaml()?)?;
    let start = Instant::now();
    again.write(&Batch { cases: &cases, goldens: &goldens, ..Batch::default() })?;
    for records in records.chunks(TRANSACTION) {
        again.write(&Batch { records, ..Batch::default() })?;
    }
    drop(again);
    let written = start.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(copy.join("records.sqlite"))?.len() as f64;
    std::fs::remove_dir_all(&copy)?;
    writeln!(
        std::io::stdout(),
        "{n} records: written {:.0}/s, read {:.0}/s, {:.1} bytes each; {done} found done in {resumed:.2} s",
        n / written,
        n / read,
        bytes / n
    )?;
    Ok(())
}
