//! Reads data sets: class folders, lists of labels, COCO, idx, CIFAR and npz files.
//!
//! 1. [`DataSet::open`] recognises the format and reads what describes the set, not its images.
//! 2. [`DataSet::sample`] and [`DataSet::split`] choose cases from a seed.
//! 3. [`DataSet::case`] decodes one image, from any thread.
//!
//! ```no_run
//! # use faultlens_data::{DataSet, Sampling};
//! # use faultlens_core::Seed;
//! let set = DataSet::open("signs/train")?;
//! for index in set.sample(100, Sampling::Balanced, Seed::new(7)) {
//!     let case = set.case(index)?;
//!     assert_eq!(case.label, set.label(index));
//! }
//! # Ok::<(), faultlens_data::DataError>(())
//! ```
//!
//! Files come from strangers: every size that a file claims is compared with a limit before
//! memory is asked for, and no path leads out of the set's folder.

mod blob;
mod error;
mod folder;
mod format;
mod limits;
mod npy;
mod open;
mod picture;
mod pixels;
mod pool;
mod sampling;
mod set;
mod write;
mod zip;

pub use error::DataError;
pub use folder::images_below;
pub use format::{CocoDetection, CocoObject, CocoTruth, FORMATS, Format, Options};
pub use picture::{decode_image, read_image};
pub use pool::{
    Entry, LEAST_OBJECTS, PRUNED, Pool, PoolObject, Stamp, largest_objects, write_pool,
};
pub use sampling::Sampling;
pub use set::{DataSet, Source};
pub use write::{
    CocoWriter, encode_jpeg, encode_png, write_class_folders, write_coco, write_image, write_png,
};
