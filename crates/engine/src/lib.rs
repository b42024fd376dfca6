//! Runs ONNX vision models, opens them at every value, and re-runs only what a change can reach.
//!
//! 1. [`Model::load`] reads a file; [`Model::graph`] shows its operators, values and weights.
//! 2. [`Model::run`] asks it plainly; [`Model::golden`] asks it once and keeps every value.
//! 3. A [`Change`] edits one element of an input, an operator's output or a weight.
//! 4. [`Golden::replay`] answers as the whole model would with the changes made, bit for bit, but
//!    computes only what they reach; [`Golden::replay_stack`] does so for many trials at once.
//! 5. [`Golden::gradients`] walks back: how a scalar of the outputs depends on inputs and weights.
//! 6. A [`Learner`] changes the weights step by step.

mod buffers;
mod change;
pub mod cost;
mod delta;
mod error;
mod fallback;
mod feed;
mod golden;
mod gradient;
mod graph;
mod kernels;
mod learn;
mod model;
pub mod onnx;
mod ops;
mod plan;
mod replay;
mod step;
mod value;

pub use change::{Change, Edit};
pub use error::EngineError;
pub use golden::Golden;
pub use graph::{Dim, Graph, Operator, OperatorId, ValueId};
pub use kernels::simd::isa_name;
pub use learn::{Answers, Learner, Loss, WeightInfo};
pub use model::Model;
pub use replay::Replay;
