//! Faults that change what a target sees. Those that change what a model computes stand beside
//! the engine, which they need.

use crate::{Image, Stream};

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
}

/// How much of a fault a target met, on a named axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dose {
    /// What is measured, such as `severity` or `bit`.
    pub axis: &'static str,
    /// How much of it.
    pub amount: f64,
}
