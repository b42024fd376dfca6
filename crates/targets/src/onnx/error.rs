//! Errors of opening a model.

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
        /// The engine's error.
        source: Box<EngineError>,
    },
    /// The embedded world has no such model.
    #[error("the embedded world has no model {name}; {hint}")]
    NotEmbedded {
        /// The name.
        name: String,
        /// A name that exists.
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
    /// The model's own metadata cannot be parsed.
    #[error("the model's metadata {key}: {why}")]
    Metadata {
        /// Which entry.
        key: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The description of the input or output does not fit the model, or cannot be guessed.
    #[error(transparent)]
    Vision(Box<VisionError>),
    /// The engine refuses the model.
    #[error(transparent)]
    Engine(Box<EngineError>),
    /// The model's batch is fixed at a size that is too large to fill with one image.
    #[error("the model takes batches of {0} images, which is too many to fill with one")]
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
