//! ONNX models, open at every value.

mod description;
mod load;
mod outlines;
mod points;
mod target;

pub use description::{Description, Written, labels_from, read_labels, read_small};
pub use faultlens_vision::{INPUT_KEY, LABELS_KEY, OUTPUT_KEY};
pub use load::{load_model, shipped};
pub use outlines::OutlineModel;
pub use points::Slope;
pub use target::OnnxTarget;

use faultlens_engine::EngineError;
use faultlens_vision::VisionError;
use std::path::PathBuf;

/// Why a target cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The model cannot be loaded.
    #[error("cannot load the model {}: {source}", path.display())]
    Load {
        /// The model's file.
        path: PathBuf,
        /// What is wrong.
        source: Box<EngineError>,
    },
    /// The embedded world has no such model.
    #[error("the embedded world has no model {name}; {hint}")]
    NotShipped {
        /// The name.
        name: String,
        /// What to say instead.
        hint: String,
    },
    /// A file cannot be read.
    #[error("{what}: {}", path.display())]
    File {
        /// What went wrong.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// The model's own metadata cannot be read.
    #[error("the model's metadata {key}: {why}")]
    Metadata {
        /// Which entry.
        key: &'static str,
        /// What is wrong.
        why: String,
    },
    /// What the model sees or answers does not fit it, or cannot be guessed.
    #[error(transparent)]
    Vision(Box<VisionError>),
    /// The engine refuses the model.
    #[error(transparent)]
    Engine(Box<EngineError>),
    /// The model's batch is fixed at a size that is too large to fill with one image.
    #[error("the model takes {0} images at once, too many to try")]
    Batch(usize),
}

impl From<VisionError> for OpenError {
    fn from(error: VisionError) -> Self {
        Self::Vision(Box::new(error))
    }
}

impl From<EngineError> for OpenError {
    fn from(error: EngineError) -> Self {
        Self::Engine(Box::new(error))
    }
}
