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
    /// It did not answer in time.
    #[error("{0}")]
    TimedOut(String),
    /// Nobody knows what it would have answered: the way to it failed, or what came back is no
    /// answer.
    #[error("{0}")]
    Lost(String),
    /// It may not be asked any more: a budget is spent, or the credentials do not open it.
    /// Nothing is recorded, so that the campaign can go on later.
    #[error("{0}")]
    Closed(String),
}

/// Stands between a target and those who ask it: changes what it is shown, or what it says.
pub trait Defence: Send + Sync {
    /// The image that the target is shown instead, of the same size; the same image gets the
    /// same one.
    fn clean(&self, image: &Image) -> Image {
        image.clone()
    }

    /// Whether [`clean`](Self::clean) does anything.
    fn cleans(&self) -> bool {
        true
    }

    /// The same for floats from 0 to 1, channel after channel; `None` where it works on bytes
    /// only.
    fn clean_point(&self, _point: &[f32]) -> Option<Vec<f32>> {
        None
    }

    /// Whether it can do anything about a target that answers with such, as `faultlens` calls the
    /// kinds of answers.
    fn suits(&self, _answers: &str) -> bool {
        true
    }

    /// What is said instead of the target's answer.
    fn answer(&self, answer: Response, _stream: &mut Stream) -> Result<Response, TargetError> {
        Ok(answer)
    }
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
