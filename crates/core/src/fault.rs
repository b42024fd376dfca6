//! Faults that change what a target sees. Faults that change what a model computes need an engine,
//! so they are defined elsewhere.

use crate::{Image, Motion, Seed, Stream};
use std::fmt;

/// A deliberate, seeded change to an image.
///
/// # Contract
/// - [`change`](Self::change) depends on the image and on the random numbers that it draws, on
///   nothing else: trials are replayed from their seeds.
/// - A fault that moves things also implements [`motion`](Self::motion), so that ground truth moves
///   along; both draw the same numbers in the same order.
/// - The image keeps its size.
///
/// # Example
/// Only [`change`](Self::change) is required:
///
/// ```
/// use faultlens_core::{Image, ImageFault, Stream};
///
/// /// Turns every pixel into its negative.
/// struct Negative;
///
/// impl ImageFault for Negative {
///     fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
///         image.map_pixels(|pixel| pixel.map(|channel| 255 - channel))
///     }
/// }
///
/// let fault: Box<dyn ImageFault> = Box::new(Negative);
/// let black = Image::from_rgb(1, 1, vec![0; 3]).unwrap();
/// assert_eq!(fault.apply(&black, 1).rgb(), [255; 3]);
/// ```
pub trait ImageFault: Send + Sync {
    /// The image with the fault in it.
    fn change(&self, image: &Image, stream: &mut Stream) -> Image;

    /// How strong the fault is, for charts of failure rates by strength. By default a fault has a
    /// single strength.
    fn dose(&self) -> Dose {
        Dose { axis: "severity", amount: 1.0 }
    }

    /// Whether it draws random numbers. Where it does not, a single trial per image is enough.
    fn draws(&self) -> bool {
        true
    }

    /// How the fault moves what an image of this size shows; `None` where everything stays in
    /// place.
    fn motion(&self, _width: usize, _height: usize, _stream: &mut Stream) -> Option<Motion> {
        None
    }

    /// The image with the fault in it, with random numbers from a seed.
    fn apply(&self, image: &Image, seed: u64) -> Image {
        self.change(image, &mut Seed::new(seed).stream())
    }
}

/// How strong a fault is, on a named axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dose {
    /// What is measured, such as `severity` or `bit`.
    pub axis: &'static str,
    /// The strength on that axis.
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
