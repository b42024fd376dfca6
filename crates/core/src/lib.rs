//! The vocabulary of Faultlens: plain types that every other crate speaks, and nothing that
//! reads a file, opens a socket or prints.

mod image;
mod name;
mod response;
mod tensor;

pub use image::{Image, ImageError};
pub use name::did_you_mean;
pub use response::{Ranked, Ranking};
pub use tensor::{DType, Tensor, TensorData, TensorError};
