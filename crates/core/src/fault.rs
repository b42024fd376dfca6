//! Faults that change what a target sees. Those that change what a model computes stand beside
//! the engine, which they need.

use crate::{Image, Motion, Seed, Stream};
use std::fmt;

/// A deliberate, seeded change to an image.
///
/// Implement it for a fault of your own; it can then be applied as every other one:
///
/// ```
/// use faultlens_core::{Dose, Image, ImageFault, Stream};
///
/// /// # What it does
/// /// Inverts every value.
/// /// # When it happens
/// /// A negative film, a wrong sign in preprocessing.
/// struct Negative;
///
/// impl ImageFault for Negative {
///     fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
///         image.map_pixels(|pixel| pixel.map(|value| 255 - value))
///     }
///
///     fn dose(&self) -> Dose {
///         Dose { axis: "severity", amount: 1.0 }
///     }
///
///     fn draws(&self) -> bool {
///         false
///     }
/// }
///
/// let image = Image::from_rgb(1, 1, vec![0, 100, 255]).unwrap();
/// assert_eq!(Negative.apply(&image, 1).rgb(), [255, 155, 0]);
/// ```
///
/// # Contract
/// - The image keeps its width and height.
/// - All randomness comes from the stream: the same numbers drawn give the same image, on every CPU
///   and any number of threads. Trials are replayed bit for bit by that.
/// - [`draws`](Self::draws) and [`motion`](Self::motion) agree with [`change`](Self::change).
pub trait ImageFault: Send + Sync {
    /// The image with the fault in it.
    fn change(&self, image: &Image, stream: &mut Stream) -> Image;

    /// How much of the fault the target meets.
    fn dose(&self) -> Dose;

    /// Whether it draws random numbers; where it does not, one trial per image is enough.
    fn draws(&self) -> bool {
        true
    }

    /// How the fault moves what an image of this size shows, so that boxes and masks can move
    /// along; `None` where everything stays in place. Draws what [`change`](Self::change) draws,
    /// so that both agree when each has the stream from its start.
    fn motion(&self, _width: usize, _height: usize, _stream: &mut Stream) -> Option<Motion> {
        None
    }

    /// The image with the fault in it, with random numbers from a seed.
    fn apply(&self, image: &Image, seed: u64) -> Image {
        self.change(image, &mut Seed::new(seed).stream())
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

/// A hazard of the vision process, in the terms of CV-HAZOP (Zendel et al. 2015): something in it
/// deviates from what was intended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hazard {
    /// Where on the way from the light to the image.
    pub place: HazardLocation,
    /// What deviates there, such as `focus` or `intensity`.
    pub parameter: &'static str,
    /// How it deviates; one of [`GUIDE_WORDS`].
    pub guide_word: &'static str,
}

impl Hazard {
    /// A hazard in one line, as each fault states its own.
    pub const fn new(
        place: HazardLocation,
        parameter: &'static str,
        guide_word: &'static str,
    ) -> Self {
        Self { place, parameter, guide_word }
    }
}

/// `observer, focus: less`.
impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.place, self.parameter, self.guide_word)
    }
}

/// Where on the way from the light to the image something deviates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HazardLocation {
    /// Lamps and the sun.
    LightSource,
    /// What lies between the scene and the camera.
    Medium,
    /// What is looked at.
    Object,
    /// The camera: its optics, its electronics, and what they send.
    Observer,
}

impl fmt::Display for HazardLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LightSource => "light source",
            Self::Medium => "medium",
            Self::Object => "object",
            Self::Observer => "observer",
        })
    }
}

/// The words by which CV-HAZOP asks how something can deviate.
pub const GUIDE_WORDS: &[&str] = &[
    "no",
    "more",
    "less",
    "as well as",
    "part of",
    "reverse",
    "other than",
    "where else",
    "spatial periodic",
    "spatial aperiodic",
    "temporal periodic",
    "temporal aperiodic",
    "close",
    "remote",
    "in front of",
    "behind",
    "faster",
    "slower",
    "early",
    "late",
];
