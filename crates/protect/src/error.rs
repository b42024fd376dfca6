//! Why protections cannot be evaluated.

use faultlens_analysis::protection::AdviceError;
use faultlens_campaign::run::RunError;
use faultlens_core::TargetError;
use faultlens_engine::EngineError;
use faultlens_record::store::StoreError;
use faultlens_stats::StatsError;
use faultlens_targets::OpenError;

/// Why protections cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum ProtectError {
    /// The run cannot be opened, or is not as it was.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run directory cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run has nothing that a protection could be tried on.
    #[error(
        "the run has no judged trial of a fault inside a model, with sites random or exhaustive"
    )]
    Nothing,
    /// No protection has that name.
    #[error("no protection is called {0:?}")]
    Unknown(String),
    /// Nobody can reach into a service.
    #[error("target {0}: it is a service, whose inside cannot be protected")]
    NoModel(String),
    /// The model cannot be read again.
    #[error("target {name}: {source}")]
    Target {
        /// The target's name in the campaign.
        name: String,
        /// What is wrong.
        source: OpenError,
    },
    /// The model with the protection in it does not load.
    #[error("target {name} with range restriction: {source}")]
    Protected {
        /// The target's name in the campaign.
        name: String,
        /// What is wrong.
        source: Box<EngineError>,
    },
    /// The model with the protection in it does not answer where the model itself does.
    #[error("target {name} with range restriction: {source}")]
    Answer {
        /// The target's name in the campaign.
        name: String,
        /// What is wrong.
        source: TargetError,
    },
    /// Counts that no sample has.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// The advice cannot be written.
    #[error(transparent)]
    Advice(#[from] AdviceError),
}
