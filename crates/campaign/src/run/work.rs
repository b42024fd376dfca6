//! A thread's work: one unit of the plan after the other.

use super::batch::Batch;
use super::left_open::LeftOpen;
use super::open_case::{OpenedCase, open_case};
use crate::golden_case::GoldenCase;
use crate::open::OpenCampaign;
use crate::plan::{TrialKey, WorkUnit};
use crate::record::{skipped_record, trial_record};
use crate::trial::{TrialSeed, disturb};
use faultlens_record::Record;
use faultlens_record::store::Done;
use std::sync::atomic::{AtomicBool, Ordering};

/// Trials of one fault that run before the worker looks whether the user wants to stop.
const BURST: usize = 64;

/// The same for services, whose answers take long.
const SERVICE_BURST: usize = 4;

/// What a thread knows of the run.
pub(super) struct Worker<'a> {
    pub(super) open: &'a OpenCampaign,
    pub(super) done: &'a Done,
    pub(super) interrupted: &'a AtomicBool,
    pub(super) left_open: &'a LeftOpen,
}

impl Worker<'_> {
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Works on a unit, and hands over what is done in batches; `false` from `hand_over` ends it.
    pub(super) fn work(&self, unit: &WorkUnit, hand_over: &mut dyn FnMut(Batch) -> bool) {
        let mut left: Vec<(u64, TrialKey)> = Vec::new();
        for number in unit.numbers.iter().cloned().flatten() {
            if !self.done.contains(number) {
                left.extend(self.open.plan.key(number).map(|key| (number, key)));
            }
        }
        if left.is_empty() || self.left_open.is_given_up(unit.target, left.len()) {
            return;
        }
        let opened = open_case(self.open, self.left_open, unit, left.len());
        let Some((first, opened)) = opened else { return };
        if !hand_over(first) {
            return;
        }
        let target = &self.open.targets[unit.target as usize];
        let burst = if target.service().is_some() { SERVICE_BURST } else { BURST };
        for trials in left.chunk_by(|(_, a), (_, b)| a.fault == b.fault) {
            for burst in trials.chunks(burst) {
                if self.is_interrupted() {
                    return;
                }
                if self.left_open.is_given_up(unit.target, burst.len()) {
                    continue;
                }
                let mut records = Vec::with_capacity(burst.len());
                match &opened {
                    OpenedCase::Golden(golden) => self.run_burst(golden, burst, &mut records),
                    OpenedCase::Skipped(reason, case) => {
                        for &(number, key) in burst {
                            let trial = self.open.identity(key, case);
                            records.push(skipped_record(number, key, trial, *reason));
                        }
                    }
                }
                if !hand_over(Batch::of_records(records)) {
                    return;
                }
            }
        }
    }

    /// Runs trials of one fault. Those that the target did not answer stay open.
    fn run_burst(
        &self,
        golden: &GoldenCase<'_>,
        burst: &[(u64, TrialKey)],
        records: &mut Vec<Record>,
    ) {
        let Some((_, first)) = burst.first() else { return };
        let fault = self.open.fault(*first);
        let seeds: Vec<TrialSeed> =
            burst.iter().map(|(_, key)| self.open.trial_seed(*key, &golden.key)).collect();
        let mut trials = burst.iter();
        disturb(fault).run_batch(golden, fault.name, &seeds, &mut |observation| {
            let Some(&(number, key)) = trials.next() else { return };
            if self.left_open.takes(self.open, key.target, &observation) {
                return;
            }
            let trial = self.open.identity(key, &golden.key);
            records.push(trial_record(golden, number, key, trial, observation));
        });
    }
}
