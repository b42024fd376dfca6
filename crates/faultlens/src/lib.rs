//! Faultlens finds where a machine-vision system breaks, how often, and whether that is good
//! enough: it asks once undisturbed, disturbs, asks again, and judges the difference.
//!
//! This crate is the library's front door; the `faultlens` command is built on it.
//!
//! 1. Load a model with [`engine::Model::load`], or build one in code with
//!    [`engine::onnx::ModelBuilder`].
//! 2. Say what it sees and answers: [`vision::InputDescription`] and
//!    [`vision::OutputDescription`], written down or guessed with reasons.
//! 3. Ask once undisturbed with [`engine::Model::golden`]; every value between input and output
//!    is kept.
//! 4. Inject a fault: an [`engine::Change`] sets the bits of one element of any value, whether an
//!    operator made it or it is a weight.
//! 5. Ask again with [`engine::Golden::replay`]: only what the change can reach is computed, and
//!    the result has the same bits as a full run.
//! 6. Compare the two [`Ranking`]s.
//!
//! ```
//! use faultlens::engine::{Change, Model, onnx::ModelBuilder};
//! use faultlens::{DType, Tensor};
//!
//! let mut builder = ModelBuilder::new("relu");
//! builder.input("x", DType::F32, &[1.into(), 2.into()]);
//! builder.node("Relu", &["x"], &["y"]);
//! builder.output("y", DType::F32, &[1.into(), 2.into()]);
//! let model = Model::from_proto(&builder.build())?;
//!
//! let x = Tensor::new(vec![1, 2], vec![1.0f32, -1.0])?;
//! let golden = model.golden(&[("x", x)])?;
//! let y = model.graph().find("y").ok_or("no value is called y")?;
//! let sign = Change::flip(&golden, y, 0, 31)?;
//! let replay = golden.replay(&[sign])?;
//! assert_eq!(replay.outputs()[0].as_f32(), Some(&[-1.0, 0.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use faultlens_analysis as analysis;
pub use faultlens_campaign as campaign;
pub use faultlens_core::{
    Bounds, Case, Comparison, Cutout, DType, Detection, Detections, Dose, Guard, Hazard, Image,
    ImageError, ImageFault, Mask, Measurement, Object, Oracle, Outcome, OutcomeKind, Parameter,
    ParameterKind, Picture, Place, Plugin, Ranked, Ranking, Reason, Response, Scores, Seed,
    Segments, Setting, Settings, Stream, Target, TargetError, Tensor, TensorData, TensorError,
    Text, Trial, Unset, argmax, did_you_mean,
};
pub use faultlens_data as data;
pub use faultlens_engine as engine;
pub use faultlens_faults as faults;
pub use faultlens_human_study as human_study;
pub use faultlens_judge as judge;
pub use faultlens_protect as protect;
pub use faultlens_record as record;
pub use faultlens_report as report;
pub use faultlens_retrain as retrain;
pub use faultlens_serve as serve;
pub use faultlens_spec as spec;
pub use faultlens_stats as stats;
pub use faultlens_sweep as sweep;
pub use faultlens_targets as targets;
pub use faultlens_train as train;
pub use faultlens_vision as vision;
pub use faultlens_world as world;
