//! The estimators as a caller sees them: beside SciPy, R and lifelines, in simulation, and on bad
//! input.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod clustered;
mod coverage;
mod non_inferiority;
mod reference;
mod survival;
mod tolerance;
