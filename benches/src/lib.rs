//! Model shapes with random weights, and the benchmarks of Faultlens.

pub mod zoo;
