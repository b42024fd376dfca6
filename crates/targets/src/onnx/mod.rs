//! ONNX models, whose every inner value can be read and disturbed.

mod description;
mod error;
mod load;
mod outline_model;
mod points;
mod target;

pub use description::{Description, PartialDescription, labels_from, read_labels, read_small};
pub use error::OpenError;
pub use faultlens_vision::{INPUT_KEY, LABELS_KEY, OUTPUT_KEY};
pub use load::{embedded_model, load_model};
pub use outline_model::OutlineModel;
pub use points::PointGradient;
pub use target::OnnxTarget;
