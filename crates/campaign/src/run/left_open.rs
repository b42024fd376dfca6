//! Trials that a run leaves open, and why: an outage is no evidence, so that nothing is recorded of
//! them, and the next run does them.

use crate::event::{OpenCause, OpenTrials};
use crate::observation::Observation;
use crate::open::OpenCampaign;
use crate::run_error::RunError;
use faultlens_core::TargetError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What all threads have left open.
pub(super) struct LeftOpen {
    /// Trials whose image cannot be read now.
    images: Cause,
    /// By target.
    targets: Vec<TargetState>,
}

/// Trials with one cause.
#[derive(Default)]
struct Cause {
    trials: AtomicU64,
    /// The first error, which is quoted.
    error: Mutex<Option<String>>,
}

#[derive(Default)]
struct TargetState {
    left: Cause,
    /// Why it may not be asked any more, whoever asks: a budget is spent, credentials are wrong.
    refused: OnceLock<String>,
    /// Set once it is not asked any more in this run, since it does not answer.
    is_down: OnceLock<()>,
}

impl Cause {
    fn add(&self, trials: usize, error: &str) {
        self.trials.fetch_add(trials as u64, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| error.to_owned());
    }

    fn of(&self, cause: OpenCause) -> Option<OpenTrials> {
        let trials = self.trials.load(Ordering::Relaxed);
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (trials > 0).then(|| OpenTrials { cause, trials, error: error.unwrap_or_default() })
    }
}

impl LeftOpen {
    pub(super) fn new(open: &OpenCampaign) -> Self {
        let targets = open.targets.iter().map(|_| TargetState::default()).collect();
        Self { images: Cause::default(), targets }
    }

    /// Trials whose image cannot be read now.
    pub(super) fn no_image(&self, trials: usize, error: &str) {
        self.images.add(trials, error);
    }

    /// Trials that a target gave no answer to. The target is not asked any more where that is of
    /// no use.
    pub(super) fn no_answer(
        &self,
        open: &OpenCampaign,
        target: u32,
        trials: usize,
        error: &TargetError,
    ) {
        let state = &self.targets[target as usize];
        let service = open.targets[target as usize].service();
        match error {
            TargetError::Closed(why) => {
                // The first reason is the one that led to the others.
                let _ = state.refused.set(why.clone());
            }
            _ if service.is_some_and(|service| service.is_down()) => {
                let _ = state.is_down.set(());
            }
            _ => {}
        }
        state.left.add(trials, &error.to_string());
    }

    /// Whether a trial stays open, since the target gave no answer.
    pub(super) fn takes(&self, open: &OpenCampaign, target: u32, seen: &Observation) -> bool {
        match &seen.answer {
            Err(error) if error.leaves_open() => {
                self.no_answer(open, target, 1, error);
                true
            }
            _ => false,
        }
    }

    /// Whether a target is not asked any more; these trials of it then stay open.
    pub(super) fn is_given_up(&self, target: u32, trials: usize) -> bool {
        let state = &self.targets[target as usize];
        let is_given_up = state.refused.get().is_some() || state.is_down.get().is_some();
        if is_given_up {
            state.left.trials.fetch_add(trials as u64, Ordering::Relaxed);
        }
        is_given_up
    }

    /// What was left open, by cause; an error where a target may not be asked any more.
    pub(super) fn causes(&self, open: &OpenCampaign) -> Result<Vec<OpenTrials>, RunError> {
        let mut refused = Vec::new();
        let mut causes: Vec<OpenTrials> = self.images.of(OpenCause::Images).into_iter().collect();
        for (spec, state) in open.campaign.targets.iter().zip(&self.targets) {
            let name = spec.name.clone();
            if let Some(why) = state.refused.get() {
                refused.push(format!("target {name}: {why}"));
            }
            let stopped = state.is_down.get().is_some();
            causes.extend(state.left.of(OpenCause::Target { name, stopped }));
        }
        if refused.is_empty() { Ok(causes) } else { Err(RunError::Closed(refused.join("; "))) }
    }

    /// Whether anything was left open.
    pub(super) fn any(&self) -> bool {
        let targets = self.targets.iter().map(|state| &state.left);
        targets.chain([&self.images]).any(|cause| cause.trials.load(Ordering::Relaxed) > 0)
    }
}
