//! What the analysis of a sweep says about rows whose effects are known.

mod coverage;
mod generated;
mod masking;
mod refusals;
mod robustness;
mod verdicts;
