//! Failure-aware retraining: whether a detector learns more from scenes in which it was found to
//! fail than from the originals again, or from changed scenes that nobody looked at (Wang and Su,
//! ASE'20, section 6.4).
//!
//! 1. A [`Plan`] sets how large the experiment is, its [`Origin`] where the first model comes from.
//! 2. [`retrain`] does what is not done yet: for every seed a first model, a campaign that puts
//!    objects into its training scenes, and three ways to go on ([`Configuration`]).
//! 3. [`Retraining`] is what was measured, as it stands in the experiment's folder.
//! 4. [`findings()`] computes means with intervals over the seeds, and differences paired by seed.
//!
//! ```no_run
//! use faultlens_retrain::{Origin, Plan, Workers, findings, retrain};
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//!
//! let interrupted = AtomicBool::new(false);
//! let workers = Workers { threads: 4, interrupted: &interrupted };
//! let plan = Plan::new(Origin::world());
//! let measured = retrain(&plan, Path::new("retraining"), &workers, &mut |_| {})?;
//! println!("{} rows", findings(&measured).rows.len());
//! # Ok::<(), faultlens_retrain::RetrainError>(())
//! ```

mod campaign;
mod error;
mod event;
mod experiment;
mod file;
mod learn;
mod origin;
mod plan;
mod precision;
mod scenes;
mod steps;
mod store;

pub use error::RetrainError;
pub use event::{Event, EventKind, Workers};
pub use experiment::retrain;
pub use faultlens_analysis::retraining::{
    Configuration, Course, Difference, Findings, Known, Metric, OfSeed, Origin, Plan, Point,
    Precision, Retraining, Row, ScenesUsed, Standing, findings,
};
pub use store::{is_experiment, load, object};
