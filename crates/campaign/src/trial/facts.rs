//! What planning, checking and replaying need to know of a fault. None of it matters while a trial
//! runs.

use faultlens_faults::{Injection, SceneFault};
use faultlens_record::store::FaultOn;

/// What is known of a fault before it runs.
pub struct Facts<'a> {
    /// What the fault disturbs, as manifests name it.
    pub disturbs: FaultOn,
    /// What the random numbers of a trial depend on.
    pub seed_scope: SeedScope,
    /// The most queries of a trial.
    pub max_queries: u64,
    /// Whether it puts objects into scenes.
    pub needs_objects: bool,
    /// Whether a service must answer the undisturbed case the same way twice.
    pub needs_stable_golden: bool,
    /// Whether a trial depends on its repeat, and not on its seed alone.
    pub depends_on_repeat: bool,
    /// Why no changed image of the case's size can be shown of its trials; `None` where one can.
    pub shows_no_image: Option<&'static str>,
    /// The fault inside a model, where it is one.
    pub injection: Option<&'a Injection>,
    /// The fault in the scene, where it is one.
    pub scene_fault: Option<&'a dyn SceneFault>,
}

impl Facts<'_> {
    /// The facts of a fault that asks the target once about a changed image.
    pub fn new(disturbs: FaultOn, seed_scope: SeedScope) -> Self {
        Self {
            disturbs,
            seed_scope,
            max_queries: 1,
            needs_objects: false,
            needs_stable_golden: false,
            depends_on_repeat: false,
            shows_no_image: None,
            injection: None,
            scene_fault: None,
        }
    }
}

/// What the random numbers of a trial depend on, beside the fault, its repeat and the campaign's
/// seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedScope {
    /// The case alone, so that all targets are shown the same images.
    Case,
    /// The target and the case.
    TargetAndCase,
    /// The target alone: a permanent fault is the same in every case.
    Target,
    /// Nothing is drawn: the repeat says which site of an exhaustive plan it is.
    Repeat,
}

/// Which trial of a target, case and fault it is.
#[derive(Debug, Clone, Copy)]
pub struct TrialSeed {
    /// What its random numbers start from.
    pub seed: u64,
    /// How many trials came before it.
    pub repeat: u32,
}

/// Why a fault cannot be tried on a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The target is of the wrong kind.
    #[error("{0}")]
    Target(String),
    /// The fault asks for an operator or a value that the model does not have.
    #[error("nothing of kind or name {wanted:?}; {hint}")]
    Selection {
        /// What was asked for.
        wanted: String,
        /// The names that exist, as a hint.
        hint: String,
    },
}
