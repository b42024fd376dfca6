//! Why a run cannot go on.

use crate::event::SinkError;
use crate::open_error::OpenCampaignError;
use faultlens_core::Reason;
use faultlens_record::store::StoreError;
use faultlens_spec::ConfigError;

/// Why a run cannot go on. What was recorded is safe.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The campaign file is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Something that the campaign names cannot be opened.
    #[error(transparent)]
    OpenCampaign(#[from] OpenCampaignError),
    /// The run directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A follower of the run failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A target may not be asked any more.
    #[error("{0}; what was recorded is safe, and run the same command to resume")]
    Closed(String),
    /// There is nothing to do.
    #[error("the campaign has no trial: {0}")]
    Nothing(&'static str),
    /// A case or an answer is not the one that the run began with.
    #[error("{what} is not as it was when the run began; {hint}")]
    Changed {
        /// What has changed.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// Shards cannot know when all of them together may stop.
    #[error(
        "a campaign with a stop rule cannot be run in shards: no shard sees the others' trials"
    )]
    ShardedStop,
    /// The directory holds another part of the campaign.
    #[error("the run is of another shard of this campaign; name a new directory: {}", .0.display())]
    OtherShard(std::path::PathBuf),
    /// The stop rule cannot look at what was counted.
    #[error("the stop rule: {0}")]
    Stop(#[from] faultlens_stats::StatsError),
    /// A pinned trial cannot be read.
    #[error("{0}")]
    Pin(String),
    /// A trial that says nothing cannot be pinned.
    #[error(
        "trial {number} was not judged ({reason}), so a pin of it could never be met or \
         missed; pin one that was judged, such as one whose answer changed"
    )]
    PinUnjudged {
        /// The trial.
        number: u64,
        /// Why it was not judged.
        reason: Reason,
    },
    /// A trial that was recorded without being run.
    #[error("the trial was not run, so there is nothing to repeat: {0}")]
    NotRun(String),
    /// No such trial.
    #[error("the run has no trial {0}")]
    NoTrial(String),
}
