//! Faults that change what a target sees. Those that change what a model computes stand beside
//! the engine, which they need.

use crate::{Image, Motion, Stream};

/// A deliberate, seeded change to an image.
pub trait ImageFault: Send + Sync {
    /// The image with the fault in it; the same numbers drawn give the same image.
    fn change(&self, image: &Image, stream: &mut Stream) -> Image;

    /// How much of the fault the target meets.
    fn dose(&self) -> Dose;

    /// Whether it draws random numbers; where it does not, one trial of an image says all.
    fn draws(&self) -> bool {
        true
    }

    /// How the fault moves what an image of this size shows, so that boxes and masks can move
    /// along; `None` where everything stays in place. Draws what [`change`](Self::change) draws,
    /// so that both agree when each has the stream from its start.
    fn motion(&self, _width: usize, _height: usize, _stream: &mut Stream) -> Option<Motion> {
        None
    }
}

/// How much of a fault a target met, on a named axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dose {
    /// What is measured, such as `severity` or `bit`.
    pub axis: &'static str,
    /// How much of it.
    pub amount: f64,
}
