//! Why a sweep cannot go on, with what to do about it.

use faultlens_campaign::OpenCampaignError;
use faultlens_campaign::cases::CaseError;
use faultlens_core::ImageError;
use faultlens_data::DataError;
use faultlens_engine::onnx::OnnxError;
use faultlens_record::store::StoreError;
use faultlens_spec::ConfigError;
use faultlens_train::TrainError;
use faultlens_vision::VisionError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a sweep cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The sweep's file, or a campaign that it becomes, is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A data set cannot be had.
    #[error("data: {0}")]
    Cases(#[from] CaseError),
    /// A case cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An image cannot be scaled.
    #[error(transparent)]
    Vision(#[from] VisionError),
    /// A scaled image has no pixels.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A data set has no classes.
    #[error("{data} names no classes, and models are trained as classifiers; name other data")]
    Unlabelled {
        /// The data set.
        data: String,
    },
    /// A data set has too few cases to train on.
    #[error(
        "{data} has {there} cases to train on after a fifth is held out, and the sweep wants \
         {wanted}; lower train or name a larger set"
    )]
    FewToTrain {
        /// The data set.
        data: String,
        /// How many there are.
        there: usize,
        /// How many are wanted.
        wanted: usize,
    },
    /// A data set has too few held-out cases of a class.
    #[error(
        "{data} has {there} held-out cases of the class {class:?}, too few for {wanted} samples in \
         which every class is as frequent; lower samples or name a larger set"
    )]
    FewSamples {
        /// The data set.
        data: String,
        /// The rarest class.
        class: String,
        /// How many of it are held out.
        there: usize,
        /// How many samples are wanted.
        wanted: usize,
    },
    /// A model cannot be trained.
    #[error("{model}: {source}")]
    Train {
        /// The model.
        model: String,
        /// What is wrong.
        source: Box<TrainError>,
    },
    /// Whoever follows the sweep has stopped it.
    #[error("the sweep was stopped; run the same command to resume")]
    Stopped,
    /// A model file cannot be written or read.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// A model that was trained elsewhere answers about other classes.
    #[error(
        "{model} has no class called {class:?}, which {data} has; name its classes in its metadata \
         or choose other data"
    )]
    Classes {
        /// The model.
        model: String,
        /// The class that it does not know.
        class: String,
        /// The data set.
        data: String,
    },
    /// A campaign of the sweep cannot be opened.
    #[error("{campaign}: {source}")]
    OpenCampaign {
        /// The campaign.
        campaign: String,
        /// What is wrong.
        source: Box<OpenCampaignError>,
    },
    /// A run of the sweep cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run has records that do not fit the sweep.
    #[error("the run has records of another sweep; delete it, or name another output: {}", path.display())]
    OtherSweep {
        /// The run directory.
        path: PathBuf,
    },
    /// A file of the sweep cannot be written or read.
    #[error("cannot {what}: {source}: {}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// What went wrong.
        source: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// A path that no campaign file can hold.
    #[error("the path is not UTF-8, and campaign files are; rename it: {}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// What was measured cannot be read back.
    #[error("cannot read the rows: {why}: {}", path.display())]
    Unread {
        /// What is wrong.
        why: String,
        /// The file.
        path: PathBuf,
    },
    /// What was measured cannot be written down.
    #[error("cannot write the rows: {0}")]
    Rows(String),
}

impl SweepError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source, path: path.to_path_buf() }
    }
}
