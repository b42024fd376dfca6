//! Failure-aware retraining: what an experiment measured, and what that means.
//!
//! 1. [`Retraining`] is what was measured, seed by seed, of a [`Plan`];
//! 2. [`findings()`] has means with intervals over the seeds, and differences paired by seed.

mod findings;
mod plan;
mod precision;
mod results;

pub use findings::{Difference, Findings, Known, Row, Standing, findings};
pub use plan::{Origin, Plan};
pub use precision::{Metric, Precision};
pub use results::{Configuration, Course, OfSeed, Point, Retraining, ScenesUsed, VERSION};
