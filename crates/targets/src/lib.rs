//! What is asked: connectors to whatever answers an image.
//!
//! 1. [`OnnxTarget::open`] loads a model, from a file or from the embedded world.
//! 2. A [`Description`] says what it sees and answers: written down, in the model's own metadata,
//!    or guessed with reasons.
//! 3. [`Target::ask`](faultlens_core::Target::ask) answers an image; [`OnnxTarget::golden`] also
//!    keeps every value inside, for faults to land in.

pub mod onnx;
pub mod service;

pub use onnx::{Description, OnnxTarget, OpenError, Written, load_model, shipped};
pub use service::{ServiceError, ServiceTarget};
