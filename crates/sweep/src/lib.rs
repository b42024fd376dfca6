//! Sweeps over a grid of models, defences and attacks: how long predictions survive, and at what
//! cost.
//!
//! 1. [`Sweep::load`] reads a sweep file into checked types.
//! 2. [`Sweep::parts`] opens the data: a [`Part`] is one split of one data set.
//! 3. [`Part::members`] trains the models, or finds those that were kept before.
//! 4. [`Part::campaign`] writes the part as an ordinary campaign, which is run as any other.
//! 5. [`Part::rows`] reads the run: [`Rows`] have one row for each attacked sample, with the time
//!    until its answer changed.
//! 6. [`analysis::analyse`] computes what they mean.
//!
//! ```no_run
//! use faultlens_sweep::load_rows;
//! use faultlens_sweep::analysis::{Options, analyse};
//! use std::path::Path;
//!
//! // `faultlens run sweep.yaml` has trained the models and run the campaigns.
//! let rows = load_rows(Path::new("runs/sweep"))?;
//! for conclusion in analyse(&rows, &Options::default())?.conclusions {
//!     println!("{}", conclusion.text);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod campaign;
pub mod config;
mod depth;
mod error;
mod file;
mod measure;
mod models;
mod part;
mod prediction;
mod save;

pub use config::Sweep;
pub use error::SweepError;
pub use models::{Event, EventKind, Member};
pub use part::Part;
pub use save::{has_rows, load_rows, save_rows};

pub use faultlens_analysis::sweep as analysis;
pub use faultlens_analysis::sweep::{AND, Choice, Configuration, Row, Rows};
