//! The vocabulary of Faultlens: plain types that every other crate speaks, and nothing that
//! reads a file, opens a socket or prints.

mod case;
mod cutout;
mod element;
mod fault;
mod image;
mod motion;
mod name;
mod oracle;
mod outcome;
mod plugin;
mod random;
mod reason;
mod response;
mod target;
mod tensor;

pub use case::{Bounds, Case, Mask, Object};
pub use cutout::Cutout;
#[doc(hidden)]
pub use fault::HazardLocation as Place;
pub use fault::{Dose, GUIDE_WORDS, Hazard, HazardLocation, ImageFault};
pub use image::{Image, ImageError};
pub use motion::{Motion, UNEXPECTED};
pub use name::did_you_mean;
pub use oracle::{AppliedFault, Comparison, Guard, Measurement, Oracle, Truth};
pub use outcome::{Outcome, OutcomeKind};
pub use plugin::{Parameter, ParameterKind, Plugin, Setting, SettingError, Settings, Unset};
pub use random::{Seed, Stream};
pub use reason::Reason;
pub use response::{
    Detection, Detections, Names, Picture, Ranked, Ranking, Response, Scores, Segments, Text,
    argmax, class_called, framed, non_maximum_suppression,
};
pub use target::{Defence, Target, TargetError, Trial};
pub use tensor::{DType, Tensor, TensorData, TensorError};
