//! Errors of training, with messages that say what to do.

use crate::architecture::ArchitectureError;
use faultlens_core::ImageError;
use faultlens_data::DataError;
use faultlens_engine::EngineError;
use faultlens_vision::VisionError;
use thiserror::Error;

/// An error of the training.
#[derive(Debug, Error)]
pub enum TrainError {
    /// The network cannot be built.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// A case could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model could not run, or hand gradients back.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An image could not be fed.
    #[error(transparent)]
    Vision(#[from] VisionError),
    /// An augmentation made no image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// There is nothing to learn from, or to measure on.
    #[error("the data set has no case; add some, or name another set")]
    Empty,
    /// The data do not say what the network is to learn.
    #[error("{order} learns the task {task}, and {why}")]
    Unlearnable {
        /// The network as it was asked for.
        order: String,
        /// The task's name.
        task: &'static str,
        /// What is missing, and what to do.
        why: String,
    },
    /// The model cannot say how it is asked.
    #[error("cannot describe the model in its metadata: {0}")]
    Metadata(String),
    /// Whoever follows the training has stopped it.
    #[error("the training was stopped before its end")]
    Stopped,
    /// A detector would learn that there is never anything.
    #[error("no case has objects, and the task detect needs some; name a set with boxes")]
    NoObjects,
    /// The loss, or the length of its gradient, is no longer a number.
    #[error(
        "the {what} became {value} in epoch {epoch}, step {step} (mean loss before that: {before}); \
         lower the learning rate ({rate}) or check the data for wrong values"
    )]
    NotFinite {
        /// Which of the two.
        what: &'static str,
        /// What it became.
        value: f64,
        /// The epoch, from 1.
        epoch: usize,
        /// The step in that epoch, from 1.
        step: usize,
        /// The learning rate at that time.
        rate: f64,
        /// The mean loss of the epoch until then.
        before: f64,
    },
    /// The measure has no value, or none that can be compared.
    #[error("the {metric} is {value}: {why}")]
    Unmeasured {
        /// The measure.
        metric: &'static str,
        /// What it came to.
        value: String,
        /// What to look at.
        why: &'static str,
    },
    /// A case does not say what the task wants to learn.
    #[error("the case {case} has {missing}; the task {task} cannot use it")]
    Unlabelled {
        /// The case's name.
        case: String,
        /// What is missing or does not fit.
        missing: String,
        /// The task's name.
        task: &'static str,
    },
    /// The model's answer does not have the form that the task asks for.
    #[error("the task {task} cannot use the value {value} of shape {shape:?}: {why}")]
    Answer {
        /// The task's name.
        task: &'static str,
        /// The value's name.
        value: String,
        /// Its shape.
        shape: Vec<usize>,
        /// What is expected.
        why: String,
    },
    /// A number or name of the recipe that cannot be used.
    #[error("{what} cannot be {given}: {why}")]
    Recipe {
        /// Which one.
        what: &'static str,
        /// What was given.
        given: String,
        /// What is possible.
        why: String,
    },
}
