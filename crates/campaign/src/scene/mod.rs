//! Changed scenes and images of a run, made again: to learn from, and to show.

mod finding;
mod replayed;

pub use crate::object_pool::ObjectPoolError;
pub use finding::Finding;
pub use replayed::{Replayable, ReplayedImage};
