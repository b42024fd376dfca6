//! Whatever answers an image, and the only way to it during a trial.

use crate::{Image, Response, Stream};

/// Anything that answers an image.
pub trait Target: Send + Sync {
    /// What it answers; the same image gets the same answer.
    fn ask(&self, image: &Image) -> Result<Response, TargetError>;
}

/// Why a target gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It failed.
    #[error("{0}")]
    Failed(String),
    /// It does not take such an input.
    #[error("{0}")]
    Rejected(String),
}

/// One trial's way to its target: draws the random numbers, counts the queries.
pub struct Trial<'a> {
    target: &'a dyn Target,
    stream: Stream,
    queries: u32,
}

impl<'a> Trial<'a> {
    /// A trial that has asked nothing yet.
    pub fn new(target: &'a dyn Target, stream: Stream) -> Self {
        Self { target, stream, queries: 0 }
    }

    /// The trial's own random numbers.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Asks the target.
    pub fn ask(&mut self, image: &Image) -> Result<Response, TargetError> {
        self.queries += 1;
        self.target.ask(image)
    }

    /// How often the target was asked.
    pub fn queries(&self) -> u32 {
        self.queries
    }
}
