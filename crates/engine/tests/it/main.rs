//! Everything that the engine promises, in one program: every operator against ONNX Runtime, every
//! gradient against central differences and PyTorch, and replays against whole runs, bit for bit.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod batch;
mod common;
mod extremes;
mod gradients;
mod hostile;
mod operators;
mod quantised;
mod random_model;
mod replay;
