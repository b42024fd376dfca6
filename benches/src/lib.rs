//! Model shapes with random weights, and the benchmarks of Faultlens.
//!
//! Benchmarks report ratios against a peer or against the plain work in the same run; see
//! `README.md` beside this crate for the commands.

pub mod clock;
pub mod subject;
pub mod zoo;
