//! From a plan to records.

mod account;
mod error;
mod event;
mod examples;
mod gallery;
mod manifest;
mod recorder;
mod rounds;
mod services;
mod work;

use crate::pin::{self, Pin};
use crate::plan::{Shard, WorkUnit};
use crate::setup::OpenCampaign;
use examples::Candidates;
use faultlens_record::store::CaseRecord;
use faultlens_record::{GoldenRecord, Record};
use faultlens_spec::Campaign;
use faultlens_targets::ServiceTarget;
use recorder::Recorder;
use rounds::Rounds;
use services::Closed;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use work::Worker;

pub use account::Clock;
pub use error::RunError;
pub use event::{Ending, Event, Sink, SinkError};
pub(crate) use examples::places;
pub use faultlens_record::{ServiceAccount, Spending};
pub(crate) use manifest::unchanged;
pub(crate) use services::attach;

/// How a campaign is run; nothing here changes what is recorded.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The run directory, instead of the campaign's.
    pub output: Option<PathBuf>,
    /// Only this part of the plan.
    pub shard: Option<Shard>,
    /// How many threads work, instead of the campaign's number.
    pub threads: Option<usize>,
}

/// Batches that may wait to be recorded: enough to keep threads busy during a commit.
const WAITING: usize = 256;

/// Runs what is not yet on record, and tells the sinks. Ends early, and cleanly, once
/// `interrupted` is set.
pub fn run_campaign(
    campaign: Campaign,
    options: &RunOptions,
    sinks: &mut [&mut dyn Sink],
    interrupted: &AtomicBool,
) -> Result<Ending, RunError> {
    if campaign.stop.is_some() && options.shard.is_some() {
        return Err(RunError::ShardedStop);
    }
    let setup = OpenCampaign::open(campaign)?;
    setup.check_judge()?;
    if setup.plan.total() == 0 {
        return Err(RunError::Nothing("there is no case"));
    }
    // What is wrong with them is said before anything is made.
    let paths = setup.campaign.pinned.iter();
    let pins: Vec<Vec<Pin>> = paths.map(|path| pin::read(path)).collect::<Result<_, _>>()?;
    let dir = options.output.clone().unwrap_or_else(|| setup.campaign.output.clone());
    let store = manifest::store(&setup, &dir, options)?;
    attach(&setup, &dir)?;
    let (faults, targets) = (&setup.campaign.faults, setup.targets.len());
    let rounds = setup.campaign.stop.as_ref().map(|stop| Rounds::new(stop, targets, faults));
    let candidates = Candidates::new(setup.campaign.examples);
    let recorder = Recorder::new(store, sinks, rounds, candidates)?;
    let threads = threads(&setup, options);
    let pins = pins.concat();
    let closed = Closed::new(&setup);
    let mut run = Run { setup: &setup, recorder, interrupted, closed, threads, pins };
    run.whole(&dir, options.shard)
}

fn threads(setup: &OpenCampaign, options: &RunOptions) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    // Who waits for services needs no core.
    let services = setup.targets.iter().filter_map(|subject| subject.service());
    let waiting: usize = services.map(ServiceTarget::concurrency).sum();
    options.threads.or(setup.campaign.threads).unwrap_or_else(|| cores().max(waiting))
}

/// What threads hand over to be recorded.
#[derive(Default)]
struct Portion {
    records: Vec<Record>,
    goldens: Vec<GoldenRecord>,
    cases: Vec<CaseRecord>,
}

impl Portion {
    fn join(&mut self, other: Self) {
        self.records.extend(other.records);
        self.goldens.extend(other.goldens);
        self.cases.extend(other.cases);
    }
}

/// A run under way.
struct Run<'a, 's> {
    setup: &'a OpenCampaign,
    recorder: Recorder<'a, 's>,
    interrupted: &'a AtomicBool,
    closed: Closed,
    threads: usize,
    pins: Vec<Pin>,
}

impl Run<'_, '_> {
    fn whole(&mut self, dir: &Path, shard: Option<Shard>) -> Result<Ending, RunError> {
        let begun = Instant::now();
        let planned = self.setup.plan.pieces(shard).map(|piece| piece.len()).sum();
        let recorded = self.recorder.recorded();
        self.recorder.tell(&Event::Started { run: dir, planned, recorded })?;
        for warning in &self.setup.campaign.warnings {
            self.recorder.tell(&Event::Warning(warning))?;
        }
        self.guesses()?;
        self.idle_objects()?;
        for cost_estimate in self.setup.cost_estimate(dir) {
            self.recorder.tell(&Event::Note(&cost_estimate.to_string()))?;
        }
        self.pins()?;
        let ending = match &self.setup.campaign.stop {
            None => {
                self.pieces(self.setup.plan.pieces(shard))?;
                Ending::Complete
            }
            Some(_) => self.rounds()?,
        };
        let ending = if self.is_interrupted() { Ending::Interrupted } else { ending };
        self.account(dir, begun, ending)?;
        self.closed.check(self.setup)?;
        services::end_calls(self.setup);
        if ending != Ending::Interrupted {
            let candidates = self.recorder.candidates();
            let examples = examples::keep(self.setup, self.recorder.store(), candidates)?;
            let pictures = gallery::keep(self.setup, self.recorder.store())?;
            self.recorder.finish(&examples, &pictures, ending == Ending::StoppedEarly)?;
        }
        self.recorder.tell(&Event::Finished(ending))?;
        Ok(ending)
    }

    /// Writes down what the run took since it was started, and tells where a service has changed meanwhile.
    fn account(&mut self, dir: &Path, begun: Instant, ending: Ending) -> Result<(), RunError> {
        let controls = match ending {
            Ending::Interrupted => vec![(0, 0); self.setup.targets.len()],
            _ => services::control(self.setup),
        };
        let before = Spending::read(dir).unwrap_or_default();
        let spent =
            account::close(before, self.setup, dir, begun.elapsed(), self.threads, controls)?;
        for service in spent.services.iter().filter(|service| service.drifted > 0) {
            let ServiceAccount { target, control, drifted, .. } = service;
            let text = format!(
                "target {target}: {drifted} of {control} cases that were asked again are answered \
                 otherwise now; the service has changed, and rates mix both"
            );
            self.recorder.tell(&Event::Warning(&text))?;
        }
        Ok(())
    }

    /// Tells how images are fed where nobody wrote it down: a wrong guess gives numbers of another
    /// system.
    fn guesses(&mut self) -> Result<(), RunError> {
        let targets = self.setup.campaign.targets.iter().zip(&self.setup.targets);
        for (spec, subject) in targets {
            let Some(inside) = subject.inside() else { continue };
            let guesses: Vec<&str> = inside.target.description().guesses().collect();
            if !guesses.is_empty() {
                let (name, guesses) = (&spec.name, guesses.join("; "));
                let text =
                    format!("target {name}: {guesses}; check it, and write it into the campaign");
                self.recorder.tell(&Event::Warning(&text))?;
            }
        }
        Ok(())
    }

    /// Tells that objects are there for nothing: a fault was likely forgotten.
    fn idle_objects(&mut self) -> Result<(), RunError> {
        let Campaign { objects, faults, pinned, .. } = &self.setup.campaign;
        let used = faults.iter().any(|fault| fault.disturbance.needs_objects());
        if objects.is_none() || used || !pinned.is_empty() {
            return Ok(());
        }
        let text = "objects: no fault of this campaign puts them into scenes (insert_object does)";
        self.recorder.tell(&Event::Warning(text))
    }

    /// Replays pinned trials before any other.
    fn pins(&mut self) -> Result<(), RunError> {
        let mut pinned = Vec::new();
        for pin in &self.pins {
            let record = pin.replay(self.setup);
            self.recorder.tell(&Event::Pinned(&record))?;
            pinned.push(record);
        }
        Ok(self.recorder.put_pins(&pinned)?)
    }

    /// Works until every rate is known well enough.
    fn rounds(&mut self) -> Result<Ending, RunError> {
        while let Some((repeats, pieces)) = self.next_round() {
            self.pieces(pieces.into_iter())?;
            if self.is_interrupted() {
                return Ok(Ending::Interrupted);
            }
            let Some(rounds) = self.recorder.rounds() else { break };
            rounds.look()?;
            let open = rounds.open();
            self.recorder.tell(&Event::Round { repeats, open })?;
        }
        let all = self.setup.plan.total();
        let early = self.recorder.store().progress()?.recorded < all;
        Ok(if early { Ending::StoppedEarly } else { Ending::Complete })
    }

    /// Where the next round ends, and what it consists of.
    fn next_round(&mut self) -> Option<(u32, Vec<WorkUnit>)> {
        let plan = &self.setup.plan;
        let rounds = self.recorder.rounds()?;
        let repeats = rounds.next()?;
        let pieces = plan.round(repeats.clone(), |target, fault| rounds.wants(target, fault));
        Some((repeats.end, pieces.collect()))
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Shares pieces out between threads, and records what they hand over.
    fn pieces(&mut self, pieces: impl Iterator<Item = WorkUnit> + Send) -> Result<(), RunError> {
        let (setup, interrupted, done) = (self.setup, self.interrupted, self.recorder.done());
        let closed = &self.closed;
        let queue = Mutex::new(pieces);
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let failed = AtomicBool::new(false);
        let (send, receive) = sync_channel::<Portion>(WAITING);
        thread::scope(|scope| {
            for _ in 0..self.threads {
                let (send, next, failed, done) = (send.clone(), &next, &failed, &done);
                scope.spawn(move || {
                    let mut hand_over =
                        |batch| send.send(batch).is_ok() && !failed.load(Ordering::Relaxed);
                    while !interrupted.load(Ordering::Relaxed)
                        && !failed.load(Ordering::Relaxed)
                        && let Some(piece) = next()
                    {
                        let worker = Worker { setup, done, interrupted, closed };
                        worker.work(&piece, &mut hand_over);
                    }
                });
            }
            drop(send);
            let recorded = self.recorder.take_all(receive);
            failed.store(recorded.is_err(), Ordering::Relaxed);
            recorded
        })
    }
}
