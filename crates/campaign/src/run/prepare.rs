//! What must be in order before a run begins: the campaign can be judged, its pins can be read, and
//! the run directory is this campaign's.

use super::examples::Candidates;
use super::options::RunOptions;
use super::recorder::Recorder;
use super::rounds::Rounds;
use super::{manifest, services};
use crate::event::{Ending, Sink};
use crate::open::OpenCampaign;
use crate::pin::{self, Pin};
use crate::run_error::RunError;
use std::path::Path;

/// A run that can begin.
pub(super) struct Prepared<'a, 's> {
    pub(super) recorder: Recorder<'a, 's>,
    pub(super) pins: Vec<Pin>,
    /// How the run ended before, where nothing is left to do.
    pub(super) finished: Option<Ending>,
}

/// Checks the campaign and opens its run directory, or makes one.
pub(super) fn prepare<'a, 's>(
    open: &OpenCampaign,
    dir: &Path,
    options: &RunOptions,
    sinks: &'a mut [&'s mut dyn Sink],
) -> Result<Prepared<'a, 's>, RunError> {
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
    let (store, finished) = manifest::store(open, dir, options)?;
    services::attach(open, dir)?;
    let stop = open.campaign.stop.as_ref();
    let rounds = stop.map(|stop| Rounds::new(stop, &open.campaign, open.targets.len()));
    let rounds = rounds.transpose()?;
    let candidates = Candidates::new(open.campaign.examples);
    let mut recorder = Recorder::new(store, sinks, rounds, candidates)?;
    if finished.is_none() {
        recorder.look_back()?;
    }
    Ok(Prepared { recorder, pins, finished })
}
