//! Why a campaign cannot start.

use crate::cases::CaseError;
use crate::object_pool::ObjectPoolError;
use crate::preserve::PreserveError;
use faultlens_targets::{OpenError, ServiceError};

/// Why a campaign cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenCampaignError {
    /// A target cannot be opened.
    #[error("target {name}: {source}")]
    Target {
        /// Its name in the campaign.
        name: String,
        /// What is wrong.
        source: OpenError,
    },
    /// A service cannot be asked.
    #[error("target {name}: {source}")]
    Service {
        /// Its name in the campaign.
        name: String,
        /// What is wrong.
        source: ServiceError,
    },
    /// The cases cannot be opened.
    #[error("cases: {0}")]
    Cases(#[from] CaseError),
    /// The list of names is not the model's.
    #[error("target {target}: there are {names} labels, but the model has {classes} classes")]
    Labels {
        /// The target.
        target: String,
        /// How many names there are.
        names: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// A requirement speaks of something that no trial has.
    #[error("requirement: trials have no attribute {name:?}; {hint}")]
    Attribute {
        /// What was asked for.
        name: String,
        /// The names that exist, as a hint.
        hint: String,
    },
    /// Fairness is asked for by a column that the data set does not have.
    #[error("fairness: the cases have no column {name:?}; {hint}")]
    Column {
        /// What was asked for.
        name: String,
        /// The names that exist, as a hint.
        hint: String,
    },
    /// A fault asks for an operator or a value that a target does not have.
    #[error("fault {fault}: target {target} has nothing of kind or name {wanted:?}; {hint}")]
    Operator {
        /// The fault.
        fault: String,
        /// The target.
        target: String,
        /// What was asked for.
        wanted: String,
        /// The names that exist, as a hint.
        hint: String,
    },
    /// No oracle has this name.
    #[error("{0}")]
    Oracle(String),
    /// A target that only the program that built the campaign can bring along.
    #[error("target {0}: it is the program's own, and no file can open it")]
    OwnTarget(String),
    /// The oracle or a guard cannot judge what a target answers.
    #[error(
        "target {target} answers with {kind}, which the campaign's oracle (same_top where none is named) or a guard cannot judge; write oracle: {fitting} into the campaign"
    )]
    Judge {
        /// The target.
        target: String,
        /// The oracle for such answers.
        fitting: &'static str,
        /// What it answers with.
        kind: &'static str,
    },
    /// A defence can do nothing about a target's answers.
    #[error(
        "target {target}: {defence} can do nothing about {kind}, which it answers with; leave the defence out"
    )]
    Defence {
        /// The target.
        target: String,
        /// The defence.
        defence: &'static str,
        /// What it answers with.
        kind: &'static str,
    },
    /// There is nothing to put into scenes.
    #[error("objects: {0}")]
    Objects(#[from] ObjectPoolError),
    /// A requirement on what people cope with cannot be checked.
    #[error("preserve: {0}")]
    Preserve(#[from] PreserveError),
    /// A fault finds nothing to change in a target.
    #[error("fault {fault}: target {target}: {why}")]
    Sites {
        /// The fault.
        fault: String,
        /// The target.
        target: String,
        /// The reason.
        why: String,
    },
}
