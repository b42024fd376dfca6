//! Targets: the systems under test, and the defences in front of them.

use crate::{Image, Response, Stream};

/// A system under test: anything that answers an image.
///
/// # Contract
/// - The same image gets the same answer, whenever and from whichever thread it is asked. Trials
///   run in parallel and are replayed; a target that draws random numbers must seed them from the
///   image.
/// - A failure is an error of the right kind, never a made-up answer: the kind decides the outcome
///   of the trial, see [`TargetError`].
///
/// # Example
/// A target that measures brightness:
///
/// ```
/// use faultlens_core::{Image, Response, Target, TargetError};
///
/// struct Brightness;
///
/// impl Target for Brightness {
///     fn ask(&self, image: &Image) -> Result<Response, TargetError> {
///         let sum: f32 = image.rgb().iter().map(|&byte| f32::from(byte)).sum();
///         Ok(Response::Values(vec![sum / image.rgb().len() as f32]))
///     }
/// }
///
/// let target: Box<dyn Target> = Box::new(Brightness);
/// let grey = Image::from_rgb(2, 2, vec![100; 12]).unwrap();
/// assert_eq!(target.ask(&grey), Ok(Response::Values(vec![100.0])));
/// ```
pub trait Target: Send + Sync {
    /// The answer to an image.
    fn ask(&self, image: &Image) -> Result<Response, TargetError>;
}

/// Why a target gave no answer. The texts are for people; programs look at the variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The target failed: the trial counts as crashed.
    #[error("{0}")]
    Failed(String),
    /// The target refused the input as invalid: the trial counts as detected.
    #[error("{0}")]
    Rejected(String),
    /// The target did not answer in time: the trial counts as timed out.
    #[error("{0}")]
    TimedOut(String),
    /// It is unknown what the target would have answered: what came back is no answer. The trial is
    /// skipped.
    #[error("{0}")]
    Lost(String),
    /// The target gives no answer now and may give one later: it is overloaded, down or out of
    /// reach. Nothing is recorded, so that the next run asks again: an outage is no evidence.
    #[error("{0}")]
    Unavailable(String),
    /// The target may not be asked any more: a budget is spent, or the credentials are wrong.
    /// Nothing is recorded, so that the campaign can be resumed later.
    #[error("{0}")]
    Closed(String),
}

impl TargetError {
    /// Whether the trial stays open, so that a later run does it: nothing is known of what the
    /// target does under the fault.
    pub fn leaves_open(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Closed(_))
    }
}

/// A protection in front of a target: changes the images that the target sees, its answers, or both.
///
/// # Contract
/// Every method has a default that changes nothing, so a defence implements only what it does:
/// [`clean`](Self::clean) for input filters, [`answer`](Self::answer) for output filters.
pub trait Defence: Send + Sync {
    /// The image that the target sees instead, of the same size. The same image gives the same
    /// result.
    fn clean(&self, image: &Image) -> Image {
        image.clone()
    }

    /// Whether [`clean`](Self::clean) does anything.
    fn cleans(&self) -> bool {
        true
    }

    /// [`clean`](Self::clean) for an image of floats from 0 to 1, channel after channel; `None` for
    /// a defence that works on bytes only. Attacks that see the defence need it.
    fn clean_point(&self, _point: &[f32]) -> Option<Vec<f32>> {
        None
    }

    /// Whether it can protect a target with this kind of answers, named as in campaign files.
    fn suits(&self, _answers: &str) -> bool {
        true
    }

    /// The answer that is given instead of the target's.
    fn answer(&self, answer: Response, _stream: &mut Stream) -> Result<Response, TargetError> {
        Ok(answer)
    }
}
