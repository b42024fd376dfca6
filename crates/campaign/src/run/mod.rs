//! Runs a campaign: shares its plan out between threads and records what they hand over.

mod account;
mod batch;
mod examples;
mod finish;
mod gallery;
mod left_open;
mod manifest;
mod open_case;
mod options;
mod prepare;
mod recorder;
mod rounds;
mod services;
mod start;
mod stop_rule;
mod work;

use crate::open::OpenCampaign;
use crate::plan::WorkUnit;
use batch::Batch;
use faultlens_spec::Campaign;
use left_open::LeftOpen;
use options::threads;
use prepare::{Prepared, prepare};
use recorder::Recorder;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use work::Worker;

pub use crate::event::{Ending, Event, OpenCause, OpenTrials, Sink, SinkError};
pub use crate::run_error::RunError;
pub(crate) use examples::top_answers;
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

/// Runs what is not yet on record and reports every event to the sinks. Ends early, and cleanly,
/// once `interrupted` is set.
pub fn run_open(
    open: &OpenCampaign,
    options: &RunOptions,
    sinks: &mut [&mut dyn Sink],
    interrupted: &AtomicBool,
) -> Result<Ending, RunError> {
    let begun = Instant::now();
    let dir = options.output.as_deref().unwrap_or(&open.campaign.output);
    let Prepared { recorder, pins, finished } = prepare(open, dir, options, sinks)?;
    let threads = threads(open, options);
    let mut run = Run { open, recorder, interrupted, left_open: LeftOpen::new(open), threads };
    start::start(open, dir, options.shard, &pins, &mut run.recorder)?;
    let ending = run.run_plan(options.shard, finished)?;
    finish::account(open, dir, begun.elapsed(), threads, ending, &mut run.recorder)?;
    let left_open = run.left_open.causes(open)?;
    finish::finish(open, ending, finished.is_none(), &left_open, &mut run.recorder)?;
    Ok(ending)
}

/// A run under way.
struct Run<'a, 's> {
    open: &'a OpenCampaign,
    recorder: Recorder<'a, 's>,
    interrupted: &'a AtomicBool,
    left_open: LeftOpen,
    threads: usize,
}

impl Run<'_, '_> {
    /// Shares units out between threads, and records what they hand over. This thread alone writes;
    /// the channel's limit holds workers back while it commits.
    fn run_units(&mut self, units: impl Iterator<Item = WorkUnit> + Send) -> Result<(), RunError> {
        let Self { open, recorder, interrupted, left_open, threads } = self;
        let done = recorder.done();
        let worker = Worker { open, done: &done, interrupted, left_open };
        let queue = Mutex::new(units);
        let (send, receive) = sync_channel::<Batch>(WAITING);
        thread::scope(|scope| {
            for _ in 0..*threads {
                let send = send.clone();
                let worker = &worker;
                let queue = &queue;
                scope.spawn(move || {
                    // Where a record cannot be written, the receiver is gone.
                    let mut is_received = true;
                    while is_received && !worker.is_interrupted() {
                        let unit = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(unit) = unit else { break };
                        worker.work(&unit, &mut |batch| {
                            is_received = send.send(batch).is_ok();
                            is_received
                        });
                    }
                });
            }
            drop(send);
            recorder.take_all(receive)
        })
    }
}
