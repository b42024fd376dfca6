//! Studies over a grid of models, defences and attacks: how long answers survive, and what that
//! costs.
//!
//! 1. [`Sweep::load`] reads a sweep file into checked types.
//! 2. [`Sweep::parts`] opens the data: a [`Part`] is one split of one data set.
//! 3. [`Part::members`] trains the models, or finds those that were kept before.
//! 4. [`Part::campaign`] writes the part as an ordinary campaign, which is run as any other.
//! 5. [`Part::rows`] reads the run: [`Rows`] have one row for each attacked sample, with the time
//!    until its answer changed.
//! 6. [`analysis::analyse`] says what they mean.

pub mod analysis;
mod campaign;
pub mod config;
mod depth;
mod error;
mod file;
mod measure;
mod models;
mod part;
mod prediction;
mod rows;
mod save;

pub use config::Sweep;
pub use error::SweepError;
pub use models::{Event, EventKind, Member};
pub use part::Part;
pub use rows::{AND, Choice, Configuration, Row, Rows};
