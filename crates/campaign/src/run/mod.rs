//! Runs a campaign: from its plan to records.

mod account;
mod batch;
mod examples;
mod gallery;
mod manifest;
mod options;
mod recorder;
mod rounds;
mod services;
mod work;

use crate::open::OpenCampaign;
use crate::pin::{self, Pin};
use crate::plan::{Shard, WorkUnit};
use crate::trial::disturb;
use batch::Batch;
use examples::Candidates;
use faultlens_spec::Campaign;
use options::threads;
use recorder::Recorder;
use rounds::Rounds;
use services::ClosedTargets;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use work::Worker;

pub use crate::event::{Ending, Event, Sink, SinkError};
pub use crate::run_error::RunError;
pub(crate) use examples::top_answers;
pub use faultlens_record::{ServiceAccount, Spending};
pub(crate) use manifest::check_unchanged;
pub use options::RunOptions;
pub(crate) use services::attach;

/// Batches that may wait to be recorded: enough to keep threads busy during a commit.
const WAITING: usize = 256;

/// Opens a campaign and runs what is not yet on record, see [`run_open`].
pub fn run_campaign(
    campaign: Campaign,
    options: &RunOptions,
    sinks: &mut [&mut dyn Sink],
    interrupted: &AtomicBool,
) -> Result<Ending, RunError> {
    run_open(&OpenCampaign::open(campaign)?, options, sinks, interrupted)
}

/// Runs what is not yet on record, and tells the sinks. Ends early, and cleanly, once `interrupted`
/// is set.
pub fn run_open(
    open: &OpenCampaign,
    options: &RunOptions,
    sinks: &mut [&mut dyn Sink],
    interrupted: &AtomicBool,
) -> Result<Ending, RunError> {
    if open.campaign.stop.is_some() && options.shard.is_some() {
        return Err(RunError::ShardedStop);
    }
    open.check_judge()?;
    if open.plan.total() == 0 {
        return Err(RunError::Nothing("there is no case"));
    }
    // Pins are read before the run directory is made, so that a mistake in them leaves nothing
    // behind.
    let mut pins = Vec::new();
    for path in &open.campaign.pinned {
        pins.extend(pin::read(path)?);
    }
    let dir = options.output.as_deref().unwrap_or(&open.campaign.output);
    let store = manifest::store(open, dir, options)?;
    attach(open, dir)?;
    let faults = &open.campaign.faults;
    let stop = open.campaign.stop.as_ref();
    let rounds = stop.map(|stop| Rounds::new(stop, open.targets.len(), faults));
    let candidates = Candidates::new(open.campaign.examples);
    let recorder = Recorder::new(store, sinks, rounds, candidates)?;
    let closed = ClosedTargets::new(open);
    let threads = threads(open, options);
    let mut run = Run { open, recorder, interrupted, closed, threads };
    run.run(dir, options.shard, &pins)
}

/// A run under way.
struct Run<'a, 's> {
    open: &'a OpenCampaign,
    recorder: Recorder<'a, 's>,
    interrupted: &'a AtomicBool,
    closed: ClosedTargets,
    threads: usize,
}

impl Run<'_, '_> {
    fn run(&mut self, dir: &Path, shard: Option<Shard>, pins: &[Pin]) -> Result<Ending, RunError> {
        let begun = Instant::now();
        let planned = self.open.plan.units(shard).map(|unit| unit.len()).sum();
        let recorded = self.recorder.recorded();
        self.recorder.tell(&Event::Started { run: dir, planned, recorded })?;
        for warning in &self.open.campaign.warnings {
            self.recorder.tell(&Event::Warning(warning))?;
        }
        self.warn_of_guesses()?;
        self.warn_of_unused_objects()?;
        for cost_estimate in self.open.cost_estimate(dir) {
            self.recorder.tell(&Event::Note(&cost_estimate.to_string()))?;
        }
        self.replay_pins(pins)?;
        let mut ending = if self.open.campaign.stop.is_some() {
            self.run_rounds()?
        } else {
            self.run_units(self.open.plan.units(shard))?;
            Ending::Complete
        };
        if self.is_interrupted() {
            ending = Ending::Interrupted;
        }
        self.account(dir, begun, ending)?;
        self.closed.check(self.open)?;
        services::end_calls(self.open);
        if ending != Ending::Interrupted {
            let candidates = self.recorder.candidates();
            let examples = examples::keep(self.open, self.recorder.store(), candidates)?;
            let pictures = gallery::keep(self.open, self.recorder.store())?;
            self.recorder.finish(&examples, &pictures, ending == Ending::StoppedEarly)?;
        }
        self.recorder.tell(&Event::Finished(ending))?;
        Ok(ending)
    }

    /// Writes down what the run has cost, and warns where a service has changed meanwhile.
    fn account(&mut self, dir: &Path, begun: Instant, ending: Ending) -> Result<(), RunError> {
        let controls = if ending == Ending::Interrupted {
            vec![(0, 0); self.open.targets.len()]
        } else {
            services::control(self.open)
        };
        let before = Spending::read(dir).unwrap_or_default();
        let spent =
            account::close(before, self.open, dir, begun.elapsed(), self.threads, controls)?;
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

    /// Warns how images are fed where nobody wrote it down: a wrong guess gives numbers of another
    /// system.
    fn warn_of_guesses(&mut self) -> Result<(), RunError> {
        for (spec, target) in self.open.campaign.targets.iter().zip(&self.open.targets) {
            let Some(white_box) = target.white_box() else { continue };
            let guesses: Vec<&str> = white_box.target.description().guesses().collect();
            if !guesses.is_empty() {
                let text = format!(
                    "target {}: {}; check it, and write it into the campaign",
                    spec.name,
                    guesses.join("; ")
                );
                self.recorder.tell(&Event::Warning(&text))?;
            }
        }
        Ok(())
    }

    /// Warns that no fault uses the campaign's objects: one was likely forgotten. Pinned trials may
    /// need them, too.
    fn warn_of_unused_objects(&mut self) -> Result<(), RunError> {
        let Campaign { objects, faults, pinned, .. } = &self.open.campaign;
        let used = faults.iter().any(|fault| disturb(fault).needs_objects());
        if objects.is_none() || used || !pinned.is_empty() {
            return Ok(());
        }
        let text = "objects: no fault of this campaign puts them into scenes (insert_object does)";
        self.recorder.tell(&Event::Warning(text))
    }

    /// Replays pinned trials before any other.
    fn replay_pins(&mut self, pins: &[Pin]) -> Result<(), RunError> {
        let mut pinned = Vec::new();
        for pin in pins {
            let record = pin.replay(self.open);
            self.recorder.tell(&Event::Pinned(&record))?;
            pinned.push(record);
        }
        Ok(self.recorder.put_pins(&pinned)?)
    }

    /// Works in rounds until every rate is known well enough.
    fn run_rounds(&mut self) -> Result<Ending, RunError> {
        while let Some((repeats, units)) = self.next_round() {
            self.run_units(units.into_iter())?;
            if self.is_interrupted() {
                return Ok(Ending::Interrupted);
            }
            let Some(rounds) = self.recorder.rounds() else { break };
            rounds.look()?;
            let open = rounds.open();
            self.recorder.tell(&Event::Round { repeats, open })?;
        }
        let recorded = self.recorder.store().progress()?.recorded;
        let early = recorded < self.open.plan.total();
        Ok(if early { Ending::StoppedEarly } else { Ending::Complete })
    }

    /// The repeat at which the next round ends, and its units.
    fn next_round(&mut self) -> Option<(u32, Vec<WorkUnit>)> {
        let plan = &self.open.plan;
        let rounds = self.recorder.rounds()?;
        let repeats = rounds.next()?;
        let units = plan.round(repeats.clone(), |target, fault| rounds.wants(target, fault));
        Some((repeats.end, units.collect()))
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Shares units out between threads, and records what they hand over. This thread alone writes;
    /// the channel's limit holds workers back while it commits.
    fn run_units(&mut self, units: impl Iterator<Item = WorkUnit> + Send) -> Result<(), RunError> {
        let done = self.recorder.done();
        let worker = Worker {
            open: self.open,
            done: &done,
            interrupted: self.interrupted,
            closed: &self.closed,
        };
        let queue = Mutex::new(units);
        let failed = AtomicBool::new(false);
        let (send, receive) = sync_channel::<Batch>(WAITING);
        thread::scope(|scope| {
            for _ in 0..self.threads {
                let send = send.clone();
                let worker = &worker;
                let queue = &queue;
                let failed = &failed;
                scope.spawn(move || {
                    let stops = || {
                        worker.interrupted.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed)
                    };
                    while !stops() {
                        let unit = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(unit) = unit else { break };
                        worker.work(&unit, &mut |batch| {
                            send.send(batch).is_ok() && !failed.load(Ordering::Relaxed)
                        });
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
