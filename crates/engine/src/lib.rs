//! Runs ONNX vision models, opens them at every value, and re-runs only what a change can reach.
//!
//! 1. [`Model::load`] reads a file, and [`onnx::ModelBuilder`] makes a model in code;
//!    [`Model::graph`] shows its operators, values and weights.
//! 2. [`Model::run`] asks it plainly; [`Model::golden`] asks it once and keeps every value.
//! 3. A [`Change`] edits one element of an input, an operator's output or a weight: its bits with
//!    [`Change::flip`], or as an [`Edit`] says.
//! 4. [`Golden::replay`] answers as the whole model would with the changes made, bit for bit, but
//!    computes only what they reach; [`Golden::replay_stack`] does so for many trials at once.
//! 5. [`Golden::gradients`] walks back: how a scalar of the outputs depends on inputs and weights.
//! 6. A [`Learner`] changes the weights step by step.
//!
//! ```
//! use faultlens_core::{DType, Tensor};
//! use faultlens_engine::{Change, Model, onnx::ModelBuilder};
//!
//! // y = Relu(x), z = -y
//! let mut builder = ModelBuilder::new("small");
//! builder.input("x", DType::F32, &[1.into(), 2.into()]);
//! builder.node("Relu", &["x"], &["y"]);
//! builder.node("Neg", &["y"], &["z"]);
//! builder.output("z", DType::F32, &[1.into(), 2.into()]);
//! let model = Model::from_proto(&builder.build())?;
//!
//! // Ask once undisturbed; every value between input and output is kept.
//! let x = Tensor::new(vec![1, 2], vec![1.0f32, -1.0])?;
//! let golden = model.golden(&[("x", x)])?;
//! assert_eq!(golden.outputs()[0].as_f32(), Some(&[-1.0, 0.0][..]));
//!
//! // Flip the sign bit of the first element of y, and compute again what that reaches.
//! let y = model.graph().find("y").ok_or("no value is called y")?;
//! let replay = golden.replay(&[Change::flip(&golden, y, 0, 31)?])?;
//! assert!(replay.reached_output());
//! assert_eq!(replay.outputs()[0].as_f32(), Some(&[1.0, 0.0][..]));
//!
//! // How the first output depends on the input.
//! let [x, z] = ["x", "z"].map(|name| model.graph().find(name));
//! let scalar = (z.ok_or("no z")?, Tensor::new(vec![1, 2], vec![1.0f32, 0.0])?);
//! let gradients = golden.gradients(&[scalar], &[x.ok_or("no x")?])?;
//! assert_eq!(gradients[0].as_f32(), Some(&[-1.0, 0.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What it computes does not depend on the machine: every sum has one order, whatever the vector
//! width, the number of threads and the size of the batch. Operators without a kernel of their own
//! run on rten; one that nobody computes is an error when the model is loaded.

mod budget;
mod buffers;
mod change;
mod control;
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
mod op;
mod ops;
mod plan;
mod replay;
mod step;
mod value;

pub use budget::Budget;
pub use change::{Change, Edit, Met};
pub use error::EngineError;
pub use golden::Golden;
pub use graph::{Dim, Graph, Operator, OperatorId, ValueId};
pub use kernels::simd::{ISA_NAMES, isa_name};
pub use learn::{Answers, Learner, Loss, WeightInfo};
pub use model::Model;
pub use replay::Replay;
