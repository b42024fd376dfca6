//! The events of an experiment, for whoever follows it, and the workers that do it.

use crate::{Course, Precision, ScenesUsed};
use faultlens_train::Progress;
use std::sync::atomic::AtomicBool;

/// Who works, and who may stop it; nothing here changes what is measured.
#[derive(Debug, Clone, Copy)]
pub struct Workers<'a> {
    /// How many threads compute.
    pub threads: usize,
    /// Set once the experiment should stop.
    pub interrupted: &'a AtomicBool,
}

/// What happens in an experiment.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The seed.
    pub seed: u64,
    /// Which of the seeds, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
    /// What happens.
    pub what: EventKind<'a>,
}

/// What happens in a seed.
#[derive(Debug, Clone, Copy)]
pub enum EventKind<'a> {
    /// A step was done before.
    Kept(&'a str),
    /// A model learns.
    Learns {
        /// Which one: `first`, or the name of a configuration.
        name: &'a str,
        /// How far it is.
        progress: Progress,
    },
    /// The first model is ready.
    First(&'a Precision),
    /// The campaign goes on.
    Tries {
        /// Trials that are on record.
        done: u64,
        /// Of how many.
        planned: u64,
    },
    /// Scenes were drawn.
    Drawn {
        /// Which ones.
        used: &'a ScenesUsed,
        /// How many were wanted of each kind.
        wanted: usize,
    },
    /// A configuration is done.
    Went(&'a Course),
    /// Something that the user should know.
    Warning(&'a str),
}
