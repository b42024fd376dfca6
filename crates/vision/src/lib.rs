//! Image in, answer out: how pictures become a model's input tensor, and how its output tensors
//! become an answer.
//!
//! 1. An [`InputDescription`] says what the model wants to see; write it down, or let
//!    [`guess_input`] propose one together with its reasons.
//! 2. [`InputDescription::tensor`] turns images into the tensor to feed.
//! 3. An [`OutputDescription`] says what the model's output means ([`guess_output`] proposes
//!    one); an [`OutputReader`] reads the answer for one image of the batch, with names from
//!    [`Labels`]. How a detector's numbers become boxes, one of the [`DECODERS`] says.
//! 4. An [`InstanceReader`] reads things with their outlines from models that segment.
//!
//! [`InputDescription::placement`] maps points of the model's input back to the image, so that
//! whatever a model finds can be shown where it was found.

mod coco;
mod decode;
mod error;
mod geometry;
mod guess;
mod guess_detector;
mod guess_output;
mod input;
mod instances;
mod labels;
mod latent;
mod metadata;
mod output;
mod pixels;
mod point;
mod preprocessing;
mod read;
mod resize;
mod shape;
mod ultralytics;

#[cfg(test)]
mod reference;

pub use decode::{DECODERS, Decoder, Part, Units, find_peaks};
pub use error::VisionError;
pub use geometry::Placement;
pub use guess::{Guess, guess_input};
pub use guess_output::guess_output;
pub use input::{Channels, ElementType, Filter, InputDescription, Layout};
pub use instances::{INSTANCE_LAYOUTS, Instance, InstanceLayout, InstanceReader};
pub use labels::{BUILT_IN, LabelFormat, Labels, guess_instance_labels, guess_labels};
pub use metadata::{INPUT_KEY, LABELS_KEY, OUTPUT_KEY};
pub use output::{OutputDescription, OutputKind};
pub use read::{Names, OutputReader, ShownImage};
pub use resize::{Align, Resize};
pub use shape::{ImageInput, shape_text};
