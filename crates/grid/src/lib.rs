//! Studies over a grid of models, defences and attacks: how long answers survive, and what that
//! costs.
//!
//! A study trains models, attacks each of them in every way that the grid names, and ends in
//! [`Rows`]: one for each attacked sample, with the time until its answer changed.

pub mod analysis;
mod rows;

pub use rows::{Choice, Configuration, Row, Rows};
