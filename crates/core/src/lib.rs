//! The vocabulary of Faultlens: plain types that every other crate speaks, and nothing that
//! reads a file, opens a socket or prints.

mod case;
mod image;
mod name;
mod random;
mod response;
mod tensor;

pub use case::{Bounds, Case, Mask, Object};
pub use image::{Image, ImageError};
pub use name::did_you_mean;
pub use random::{Seed, Stream};
pub use response::{Detection, Ranked, Ranking, argmax};
pub use tensor::{DType, Tensor, TensorData, TensorError};
