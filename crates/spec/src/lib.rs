//! The campaign file: YAML text becomes checked types once, and nothing checks again.
//!
//! 1. [`Campaign::load`] reads a file: YAML becomes a tree that knows its places (`tree.rs`), the
//!    tree becomes serde types whose fields are the keys (`section.rs`, `written.rs`), and these
//!    become the checked types (`read.rs`). Registries say what faults, oracles and guards take.
//! 2. A mistake is shown with its line, a mark under the place and the likely name.
//! 3. [`schema`] describes the same types to editors; [`example`] writes a file to start from.
//!
//! ```
//! use faultlens_spec::Campaign;
//! use std::path::Path;
//!
//! let text = "
//! targets: [{model: world:signs-deep}]
//! cases: {data: world:signs:50}
//! faults: [{fault: bit_flip, bit: 23..30, trials: 10}]
//! ";
//! let campaign = Campaign::parse(text, Path::new("signs.yaml"))?;
//! assert_eq!((campaign.name.as_str(), campaign.faults.len()), ("signs", 8));
//! let error = Campaign::parse("targts: []", Path::new("signs.yaml")).unwrap_err();
//! assert!(error.to_string().contains("did you mean \"targets\"?"));
//! # Ok::<(), faultlens_spec::ConfigError>(())
//! ```

mod attack;
mod attributes;
mod campaign;
mod cases;
mod defence;
mod error;
mod example;
mod fault;
pub mod file;
mod judge;
mod legacy;
mod location;
mod mlaas_fi;
mod plugin;
mod preserve;
mod preset;
mod rate;
mod read;
mod registry;
mod schema;
mod section;
mod tensorfi;
mod tree;
mod values;
mod varied;
mod words;
mod written;

pub use attack::{ATTACK_SETTINGS, AttackSpec, Towards};
pub use attributes::ATTRIBUTES;
pub use campaign::{Campaign, CaseSpec, Fairness, Sample, Source, TargetSpec};
pub use defence::DefenceSpec;
pub use error::{ConfigError, Mistake};
pub use example::{example, quoted};
pub use fault::{Disturbance, FaultPoint};
pub use judge::JudgeSpec;
pub use mlaas_fi::{Experiment, MlaasFiError, mlaas_fi};
pub use preserve::{Metric, Preservation, PreserveRule, Preserves, ToleranceFileError};
pub use preset::{PRESETS, Preset};
pub use rate::{
    DEFAULT_MAX_SKIPPED, FitLimit, Intervals, Method, Percent, Population, QualityMetric, Quantity,
    RateKind, Requirement, Stop,
};
pub use schema::schema;
pub use tensorfi::{Asked, Judged, TensorFi, Translation};
pub use varied::{Drawn, Varied, change_of, is_drawn};
