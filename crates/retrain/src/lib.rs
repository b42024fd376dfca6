//! Failure-aware retraining: whether a detector learns more from scenes in which it was found to
//! fail than from the originals again, or from changed scenes that nobody looked at (Wang and Su,
//! ASE'20, section 6.4).
//!
//! 1. A [`Plan`] says how large the experiment is; [`Origin`] where its first model comes from.
//! 2. [`retrain`] does what is not done yet: for every seed a first model, a campaign that puts
//!    objects into its training scenes, and three ways to go on ([`Configuration`]).
//! 3. [`Retraining`] is what was measured, as it stands in the experiment's folder.
//! 4. [`findings()`] says what it means: means with intervals over the seeds, and differences paired
//!    by seed; [`words`] tells it.

mod campaign;
mod error;
mod event;
mod experiment;
mod file;
mod findings;
mod learn;
mod ledger;
mod origin;
mod plan;
mod precision;
mod results;
mod scenes;
mod store;
pub mod words;

pub use error::RetrainError;
pub use event::{Event, EventKind, Workers};
pub use experiment::retrain;
pub use findings::{Difference, Findings, Known, Row, Standing, findings};
pub use plan::{Origin, Plan};
pub use precision::{Metric, Precision};
pub use results::{Configuration, Course, OfSeed, Point, Retraining, ScenesUsed};
