//! Image in, answer out: how pictures become a model's input tensor, and how its output tensors
//! become an answer.
//!
//! 1. An [`InputDescription`] says what the model wants to see; write it down, or let
//!    [`guess_input`] propose one together with its reasons.
//! 2. [`InputDescription::tensor`] turns images into the tensor to feed.
//! 3. An [`OutputDescription`] says what the model's output means ([`guess_output`] proposes
//!    one); an [`OutputReader`] reads the answer for one image of the batch, with names from
//!    [`Labels`]. How a detector's numbers become boxes, one of the [`DECODERS`] says.
//! 4. An [`InstanceReader`] reads things with their outlines from models that segment, in one of
//!    the [`INSTANCE_LAYOUTS`] or as connected areas.
//!
//! [`InputDescription::placement`] maps points of the model's input back to the image, so that
//! whatever a model finds can be shown where it was found.
//!
//! ```
//! use faultlens_core::{DType, Image, Tensor};
//! use faultlens_engine::{Model, onnx::ModelBuilder};
//! use faultlens_vision::{LabelFormat, Labels, guess_input, guess_output};
//!
//! // A classifier of the mean colour: (1, 3, 224, 224) to (1, 3, 1, 1).
//! let mut builder = ModelBuilder::new("mean colour");
//! builder.input("image", DType::F32, &[1.into(), 3.into(), 224.into(), 224.into()]);
//! builder.node("GlobalAveragePool", &["image"], &["mean"]);
//! builder.node("Softmax", &["mean"], &["scores"]).attr_i("axis", 1);
//! builder.output("scores", DType::F32, &[1.into(), 3.into(), 1.into(), 1.into()]);
//! let model = Model::from_proto(&builder.build())?;
//!
//! // Nobody has described it, so both ends are guessed, each decision with a reason to show.
//! let input = guess_input(model.graph(), None)?;
//! let output = guess_output(model.graph())?;
//! assert!(input.reasons.iter().any(|reason| reason.starts_with("layout and channels")));
//!
//! // One red image in, a ranking out.
//! let red = Image::from_rgb(16, 16, [255, 0, 0].repeat(16 * 16))?;
//! let fed = input.description.tensor(&[red])?;
//! let answers = model.run(&[("image", fed)])?;
//! let labels = Labels::parse("red\ngreen\nblue", LabelFormat::Text)?;
//! let ranking = output.description.ranking(&answers[0], 0, &labels)?;
//! assert_eq!(ranking.top().map(|best| best.label.as_str()), Some("red"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod coco;
mod decode;
mod error;
mod geometry;
mod guess;
mod input;
mod instances;
mod labels;
mod latent;
mod metadata;
mod outlines;
mod output;
mod pixels;
mod point;
mod preprocessing;
mod read;
mod resize;
mod shape;
mod tensors;
mod ultralytics;

#[cfg(test)]
mod reference;

pub use decode::{DECODERS, Decoder, Part, Units, find_peaks};
pub use error::VisionError;
pub use geometry::Placement;
pub use guess::{Guess, guess_input, guess_instance_labels, guess_labels, guess_output};
pub use input::{Channels, ElementType, Filter, InputDescription, Layout};
pub use instances::{Instance, InstanceReader};
pub use labels::{BUILT_IN, LabelFormat, Labels};
pub use metadata::{INPUT_KEY, LABELS_KEY, OUTPUT_KEY};
pub use outlines::{INSTANCE_LAYOUTS, InstanceLayout};
pub use output::{OutputDescription, OutputKind};
pub use read::{Names, OutputReader, ShownImage};
pub use resize::{Align, Resize};
pub use shape::{ImageInput, shape_text};
