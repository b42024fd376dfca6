//! A thread's work: one unit of the plan after the other.

use super::batch::Batch;
use super::services::ClosedTargets;
use crate::cases::case_key;
use crate::golden_case::GoldenCase;
use crate::open::OpenCampaign;
use crate::plan::{TrialKey, WorkUnit};
use crate::record::{failed_golden_record, golden_record, skipped_record, trial_record};
use crate::trial::{TrialSeed, disturb};
use faultlens_core::{Reason, TargetError};
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
    pub(super) closed: &'a ClosedTargets,
}

/// A case that was opened: its golden answer, or why its trials are skipped, and its key.
enum OpenedCase<'s> {
    Golden(Box<GoldenCase<'s>>),
    Skipped(Reason, String),
}

impl<'a> Worker<'a> {
    /// Works on a unit, and hands over what is done in batches; `false` from `hand_over` ends it.
    pub(super) fn work(&self, unit: &WorkUnit, hand_over: &mut dyn FnMut(Batch) -> bool) {
        let mut left: Vec<(u64, TrialKey)> = Vec::new();
        for number in unit.numbers.iter().cloned().flatten() {
            if !self.done.contains(number) {
                left.extend(self.open.plan.key(number).map(|key| (number, key)));
            }
        }
        if left.is_empty() || self.closed.is_closed(unit.target) {
            return;
        }
        let Some((first, opened)) = self.open_case(unit) else { return };
        if !hand_over(first) {
            return;
        }
        let target = &self.open.targets[unit.target as usize];
        let burst = if target.service().is_some() { SERVICE_BURST } else { BURST };
        for trials in left.chunk_by(|(_, a), (_, b)| a.fault == b.fault) {
            for burst in trials.chunks(burst) {
                if self.interrupted.load(Ordering::Relaxed) || self.closed.is_closed(unit.target) {
                    return;
                }
                let records = match &opened {
                    OpenedCase::Golden(golden) => self.run_burst(golden, burst),
                    OpenedCase::Skipped(reason, case) => self.skip_burst(*reason, case, burst),
                };
                if !hand_over(Batch::of_records(records)) {
                    return;
                }
            }
        }
    }

    /// Runs trials of one fault. Those that a closed target left open are not among the records.
    fn run_burst(&self, golden: &GoldenCase<'_>, burst: &[(u64, TrialKey)]) -> Vec<Record> {
        let Some((_, first)) = burst.first() else { return Vec::new() };
        let fault = self.open.fault(*first);
        let seeds: Vec<TrialSeed> =
            burst.iter().map(|(_, key)| self.open.trial_seed(*key, &golden.key)).collect();
        let mut records = Vec::with_capacity(burst.len());
        let mut trials = burst.iter();
        disturb(fault).run_batch(golden, fault.name, &seeds, &mut |observation| {
            let Some(&(number, key)) = trials.next() else { return };
            if let Err(TargetError::Closed(why)) = &observation.answer {
                self.closed.close(key.target, why.clone());
                return;
            }
            let trial = self.open.identity(key, &golden.key);
            records.push(trial_record(golden, number, key, trial, observation));
        });
        records
    }

    fn skip_burst(&self, reason: Reason, case: &str, burst: &[(u64, TrialKey)]) -> Vec<Record> {
        let mut records = Vec::with_capacity(burst.len());
        for &(number, key) in burst {
            records.push(skipped_record(number, key, self.open.identity(key, case), reason));
        }
        records
    }

    /// Reads the case, asks about it undisturbed, and records both; `None` where the target may not
    /// be asked any more.
    fn open_case(&self, unit: &WorkUnit) -> Option<(Batch, OpenedCase<'a>)> {
        let cases = &self.open.cases;
        let index = cases.sample[unit.case as usize];
        let mut batch = Batch::default();
        let case = match cases.set.case(index) {
            Ok(case) => case,
            Err(error) => {
                let error = error.to_string();
                let record = cases.unreadable(unit.case, index, &error);
                let name = record.name.clone();
                batch.cases.push(record);
                batch.goldens.push(failed_golden_record(unit.target, unit.case, &error));
                return Some((batch, OpenedCase::Skipped(Reason::CaseUnreadable, name)));
            }
        };
        let key = case_key(&case);
        batch.cases.push(cases.record(unit.case, &case));
        let opened = match self.open.golden_case(unit.target, case) {
            Ok(golden) => {
                batch.goldens.push(golden_record(&golden, unit.target, unit.case));
                match golden.skipped {
                    Some(reason) => OpenedCase::Skipped(reason, key),
                    None => OpenedCase::Golden(Box::new(golden)),
                }
            }
            Err(TargetError::Closed(why)) => {
                self.closed.close(unit.target, why);
                return None;
            }
            Err(error) => {
                let error = error.to_string();
                batch.goldens.push(failed_golden_record(unit.target, unit.case, &error));
                OpenedCase::Skipped(Reason::GoldenFailed, key)
            }
        };
        Some((batch, opened))
    }
}
