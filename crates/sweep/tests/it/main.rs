//! Sweeps from end to end, and what an analysis says about rows whose effects are known.

#![expect(clippy::unwrap_used, reason = "tests")]

mod generated;
mod masking;
mod refusals;
mod robustness;
mod study;
