//! Why an experiment cannot go on, with what to do about it.

use faultlens_campaign::cases::CaseError;
use faultlens_campaign::run::RunError;
use faultlens_data::DataError;
use faultlens_engine::EngineError;
use faultlens_engine::onnx::OnnxError;
use faultlens_spec::ConfigError;
use faultlens_train::TrainError;
use std::io;
use std::path::{Path, PathBuf};

/// Why an experiment cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RetrainError {
    /// A number of the plan that cannot be used.
    #[error("{what} cannot be {given}: {why}")]
    Plan {
        /// Which one.
        what: &'static str,
        /// What was given.
        given: String,
        /// What is possible.
        why: &'static str,
    },
    /// A data set cannot be had.
    #[error("data: {0}")]
    Cases(#[from] CaseError),
    /// A case cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model cannot be trained or measured.
    #[error("{what}: {source}")]
    Train {
        /// Which one.
        what: String,
        /// What is wrong.
        source: Box<TrainError>,
    },
    /// A model file cannot be written or read.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// A model cannot be asked.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The campaign that was written cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The campaign cannot be run.
    #[error("the campaign of seed {seed}: {source}")]
    Run {
        /// The seed.
        seed: u64,
        /// What is wrong.
        source: Box<RunError>,
    },
    /// Some trials of the campaign could not be done now.
    #[error(
        "the campaign of seed {seed} has open trials: an image or an object cannot be read now; make \
         it readable and run the same command again: {}", run.display()
    )]
    Open {
        /// The seed.
        seed: u64,
        /// The run directory.
        run: PathBuf,
    },
    /// A model has no card beside it.
    #[error(
        "the card of the model cannot be read ({why}); retrain goes on with detectors that \
         faultlens train made, and needs the card that it wrote beside them: {}", path.display()
    )]
    NoCard {
        /// What is wrong.
        why: String,
        /// Where the card should be.
        path: PathBuf,
    },
    /// A model that answers something else.
    #[error("retrain is for detectors, and this model learned to {task}: {}", path.display())]
    NoDetector {
        /// What it learned.
        task: &'static str,
        /// The model.
        path: PathBuf,
    },
    /// The data are about other classes than the model.
    #[error(
        "the model knows the classes {known}, and {data} has {there}; name data with the same \
         classes in the same order"
    )]
    Classes {
        /// Those of the model.
        known: String,
        /// The data set.
        data: String,
        /// Those of the data.
        there: String,
    },
    /// No scene disturbs the first model.
    #[error(
        "no changed scene disturbs the first model of seed {seed}: of {judged} scenes every answer \
         stayed, so that there is nothing to add to the originals; use more --scenes, more \
         --per-object, or another --first-epochs"
    )]
    NoneFailing {
        /// The seed.
        seed: u64,
        /// How many scenes were judged.
        judged: u64,
    },
    /// No scene could be changed.
    #[error(
        "no scene could be changed for the first model of seed {seed}: objects are put beside those \
         that it finds, and it finds none, or none has room; use more --first-epochs"
    )]
    NoneChanged {
        /// The seed.
        seed: u64,
    },
    /// A folder with something else in it.
    #[error("the folder holds something else; name a new one, or an empty one: {}", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// Whoever follows the experiment has stopped it.
    #[error("the experiment was stopped; run the same command to resume")]
    Stopped,
    /// A file of the experiment cannot be written or read.
    #[error("cannot {what}: {source}: {}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// What went wrong.
        source: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// What was measured cannot be read back.
    #[error("cannot read the experiment: {why}: {}", path.display())]
    Unread {
        /// What is wrong.
        why: String,
        /// The file.
        path: PathBuf,
    },
}

impl RetrainError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source, path: path.to_path_buf() }
    }

    /// An error of training; a stop is one of the whole experiment.
    pub(crate) fn train(what: impl ToString) -> impl FnOnce(TrainError) -> Self {
        move |source| match source {
            TrainError::Stopped => Self::Stopped,
            source => Self::Train { what: what.to_string(), source: Box::new(source) },
        }
    }

    pub(crate) fn run(seed: u64) -> impl FnOnce(RunError) -> Self {
        move |source| Self::Run { seed, source: Box::new(source) }
    }
}
