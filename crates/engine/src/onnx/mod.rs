//! ONNX files: read them, write them, build them in code.
//!
//! 1. [`read`] a file (with its external data) or [`decode`] bytes into a [`ModelProto`], whose
//!    fields are named as in `onnx.proto`.
//! 2. Turn a [`TensorProto`] into numbers with [`tensor`], and back with [`tensor_proto`].
//! 3. [`encode`] or [`write()`] the model; fields that this code does not know are kept.
//!
//! [`ModelBuilder`] makes models from nothing. The codec is our own because it must keep unknown
//! fields, bound the memory that a hostile file can ask for, and leave weights in the file's
//! buffer instead of copying them.

mod build;
mod element;
mod error;
mod external;
mod field;
mod file;
mod message;
mod read;
#[cfg(test)]
mod scratch;
mod sniff;
mod tensor;
mod wire;
mod write;

pub use build::{Dim, ModelBuilder, NodeBuilder, value_info};
pub use element::{data_type, dtype};
pub use error::{ExternalProblem, Malformed, OnnxError, TensorProblem};
pub use file::MAX_FILE_BYTES;
pub use message::*;
pub use read::{decode, read};
pub use tensor::{tensor, tensor_proto};
pub use wire::Unknown;
pub use write::{encode, write};
