//! Reads data sets: class folders, lists of labels, COCO, YOLO, idx, CIFAR and npz files.
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
//! Sets that a program makes itself come from any [`Source`], such as cases in memory:
//!
//! ```
//! use faultlens_core::{Case, Image, Seed};
//! use faultlens_data::{DataSet, Sampling};
//!
//! let mut cases = Vec::new();
//! for level in 0..10 {
//!     let image = Image::from_rgb(2, 2, vec![25 * level; 12]).unwrap();
//!     let mut case = Case::new(format!("grey-{level}"), image);
//!     case.label = Some(usize::from(level >= 5));
//!     cases.push(case);
//! }
//! let set = DataSet::new(vec!["dark".into(), "light".into()], cases);
//! let sample = set.sample(4, Sampling::Balanced, Seed::new(7));
//! let light = sample.iter().filter(|&&index| set.label(index) == Some(1)).count();
//! assert_eq!(light, 2);
//! ```
//!
//! To add a format, write a file with a [`Format`] in `format/` and name it in [`FORMATS`]; help
//! texts and the table in `docs/data.md` follow from it.
//!
//! Files are not trusted: every size that a file claims is compared with a limit before memory is
//! allocated, and no path leads out of the set's folder.

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
pub use pool::{Entry, MIN_OBJECTS, PRUNED, Pool, PoolObject, Stamp, largest_objects, write_pool};
pub use sampling::Sampling;
pub use set::{DataSet, Source};
pub use write::{
    CocoWriter, encode_jpeg, encode_png, write_class_folders, write_coco, write_image, write_png,
};
