//! The vocabulary of Faultlens, a tool that finds where machine-vision systems break. Every other
//! crate speaks these types; nothing here reads a file, opens a socket or prints.
//!
//! A trial in the terms of this crate:
//!
//! 1. A [`Case`] is an [`Image`] with what is known about it.
//! 2. A [`Target`] is the system under test. Its answer to the undisturbed image is *golden*, a
//!    [`Response`].
//! 3. A fault changes the image ([`ImageFault`]) with random numbers from a [`Seed`], and the target
//!    is asked again.
//! 4. An [`Oracle`] looks at the [`Comparison`] of both answers; a [`Guard`] says whether the trial
//!    counts at all.
//! 5. The [`Outcome`] is unchanged, changed (silent data corruption, SDC), detected (DUE), crashed,
//!    timed out, or skipped for a [`Reason`].
//!
//! ```
//! use faultlens_core::{
//!     Case, Comparison, Image, ImageFault, Oracle, Outcome, Response, Seed, Stream, Target,
//!     TargetError, Truth,
//! };
//!
//! /// The target: how bright is the image?
//! struct Brightness;
//! impl Target for Brightness {
//!     fn ask(&self, image: &Image) -> Result<Response, TargetError> {
//!         let sum: f32 = image.rgb().iter().map(|&byte| f32::from(byte)).sum();
//!         Ok(Response::Values(vec![sum / image.rgb().len() as f32]))
//!     }
//! }
//!
//! /// The fault: a random pixel turns white.
//! struct HotPixel;
//! impl ImageFault for HotPixel {
//!     fn change(&self, image: &Image, stream: &mut Stream) -> Image {
//!         let mut image = image.clone();
//!         let at = 3 * stream.below(image.width() * image.height());
//!         image.rgb_mut()[at..at + 3].fill(255);
//!         image
//!     }
//! }
//!
//! /// The oracle: the brightness may move by 10.
//! struct Within10;
//! impl Oracle for Within10 {
//!     fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
//!         let golden = comparison.golden.numbers().unwrap_or_default();
//!         let observed = comparison.observed.numbers().unwrap_or_default();
//!         let moved = golden.iter().zip(observed).any(|(a, b)| (a - b).abs() > 10.0);
//!         if moved { Outcome::Changed } else { Outcome::Unchanged }
//!     }
//! }
//!
//! let case = Case::new("grey", Image::from_rgb(4, 4, vec![100; 48]).unwrap());
//! let golden = Brightness.ask(&case.image)?;
//! let disturbed = HotPixel.change(&case.image, &mut Seed::new(7).stream());
//! let observed = Brightness.ask(&disturbed)?;
//! let outcome = Within10.judge(&Comparison {
//!     case: &case,
//!     truth: Truth::default(),
//!     golden: &golden,
//!     observed: &observed,
//!     fault: None,
//! });
//! assert_eq!(outcome, Outcome::Unchanged); // one of sixteen pixels moves the mean by 9.7
//! # Ok::<(), TargetError>(())
//! ```
//!
//! What users can name in a campaign file is a [`Plugin`]: a name, its texts, its [`Parameter`]s and
//! a function that builds it.

mod case;
mod cutout;
mod element;
mod fault;
mod image;
mod motion;
mod name;
mod oracle;
mod outcome;
mod panic;
mod plugin;
mod random;
mod reason;
mod response;
mod target;
mod tensor;

pub use case::{Bounds, Case, Mask, Object};
pub use cutout::Cutout;
pub use fault::{Dose, GUIDE_WORDS, Hazard, HazardLocation, ImageFault};
pub use image::{Image, ImageError};
pub use motion::{Motion, UNEXPECTED};
pub use name::did_you_mean;
pub use oracle::{AppliedFault, Comparison, Guard, Measurement, Oracle, Truth};
pub use outcome::{Outcome, OutcomeKind};
pub use panic::catch_panic;
pub use plugin::{Parameter, ParameterKind, Plugin, Setting, SettingError, Settings, Unset};
pub use random::{Seed, Stream};
pub use reason::Reason;
pub use response::{
    Detection, Detections, Names, Picture, Ranked, Ranking, Response, Scores, Segments, Text,
    argmax, class_called, framed, non_maximum_suppression,
};
pub use target::{Defence, Target, TargetError};
pub use tensor::{DType, Tensor, TensorData, TensorError};
