//! What all trials of a campaign share, whatever their target, case and fault.

use crate::clock::Clock;
use crate::object_pool::ObjectPool;
use faultlens_judge::Judge;
use faultlens_spec::Fairness;
use std::sync::Arc;

/// What all trials of a campaign share.
pub struct TrialContext {
    /// The oracle and the guards.
    pub judge: Arc<Judge>,
    /// The classes of the data set.
    pub classes: Vec<String>,
    /// What counts as a positive answer, where the campaign measures fairness.
    pub fairness: Option<Fairness>,
    /// Whether the visual change of every changed image is recorded.
    pub measures_visual_change: bool,
    /// Whether a service must give the same answer to the undisturbed case twice before trials of
    /// that case mean anything.
    pub needs_stable_golden: bool,
    /// The objects that are put into scenes.
    pub(crate) object_pool: ObjectPool,
    /// Where time goes.
    pub(crate) clock: Clock,
}
