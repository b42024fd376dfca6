//! Events of a run, and the sinks that follow them.

use faultlens_record::Record;
use faultlens_record::store::{PinRecord, StoreError};
use std::io;
use std::path::Path;

/// Something that happened in a run. Trials of an event are on record already.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The run begins, or goes on.
    Started {
        /// The run directory.
        run: &'a Path,
        /// Trials to do at most, in this run or shard.
        planned: u64,
        /// Trials that were on record before.
        recorded: u64,
    },
    /// A pinned trial was replayed.
    Pinned(&'a PinRecord),
    /// Trials are on record.
    Recorded(&'a [Record]),
    /// A round of a campaign with a stop rule has ended.
    Round {
        /// Trials of each case so far.
        repeats: u32,
        /// How many rates, one for each target and fault, are not yet known well enough.
        open: usize,
        /// How many of the others only more images would make precise enough.
        need_images: usize,
    },
    /// Something that is good to know before the run goes on.
    Note(&'a str),
    /// Something the user should know.
    Warning(&'a str),
    /// Trials are left open: nothing is on record of them, and the next run does them.
    LeftOpen(&'a OpenTrials),
    /// The run ends.
    Finished(Ending),
}

/// Trials that a run leaves open for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTrials {
    /// What keeps them from being done now.
    pub cause: OpenCause,
    /// How many.
    pub trials: u64,
    /// The first error.
    pub error: String,
}

/// What keeps trials from being done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenCause {
    /// Their images cannot be read.
    Images,
    /// A target gives no answer.
    Target {
        /// Its name.
        name: String,
        /// Whether the run stopped asking it.
        stopped: bool,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every trial is on record.
    Complete,
    /// The stop rule found every rate known well enough.
    StoppedEarly,
    /// Some trials could not be done now and are left open; the same command does them.
    Incomplete,
    /// The user interrupted it; the same command resumes it.
    Interrupted,
}

impl Ending {
    /// Whether nothing is left to do.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Complete | Self::StoppedEarly)
    }
}

/// Follows a run.
pub trait Sink {
    /// Takes note of what happened.
    fn take(&mut self, event: &Event<'_>) -> Result<(), SinkError>;
}

/// Why a sink cannot follow.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// What it writes to fails.
    #[error("cannot write {what}: {source}")]
    Write {
        /// What is written.
        what: &'static str,
        /// What is wrong.
        source: io::Error,
    },
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
}
