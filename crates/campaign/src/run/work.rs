//! A thread's work: pieces of the plan, one after the other.

use crate::inject::{GoldenCase, TrialSeed, case_key, case_record, unasked};
use crate::plan::{TrialKey, WorkUnit};
use crate::setup::OpenCampaign;
use faultlens_core::{Reason, TargetError};
use faultlens_record::store::{CaseRecord, Done};
use faultlens_record::{GoldenRecord, Record};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Portion;
use super::services::Closed;

/// Trials of one fault that run before anybody looks whether the user wants to stop.
const BURST: usize = 64;

/// The same for services, whose answers take long.
const SLOW_BURST: usize = 4;

/// What a thread knows of the run.
pub(super) struct Worker<'a> {
    pub(super) setup: &'a OpenCampaign,
    pub(super) done: &'a Done,
    pub(super) interrupted: &'a AtomicBool,
    pub(super) closed: &'a Closed,
}

impl<'a> Worker<'a> {
    /// Works on a piece, and hands over what is done in batches; `false` from `hand_over` ends it.
    pub(super) fn work(&self, piece: &WorkUnit, hand_over: &mut dyn FnMut(Portion) -> bool) {
        let setup = self.setup;
        let left: Vec<(u64, TrialKey)> = (piece.numbers.iter().cloned().flatten())
            .filter(|number| !self.done.contains(*number))
            .filter_map(|number| Some((number, setup.plan.spot(number)?)))
            .collect();
        if left.is_empty() || self.closed.is_closed(piece.target) {
            return;
        }
        let Some((first, stage)) = self.open(piece) else { return };
        if !hand_over(first) {
            return;
        }
        let burst = match setup.targets[piece.target as usize].service() {
            Some(_) => SLOW_BURST,
            None => BURST,
        };
        for trials in left.chunk_by(|(_, a), (_, b)| a.fault == b.fault) {
            for burst in trials.chunks(burst) {
                if self.interrupted.load(Ordering::Relaxed) || self.closed.is_closed(piece.target) {
                    return;
                }
                let records = match &stage {
                    Ok(GoldenCase { barred: Some(reason), key, .. }) => {
                        not_asked(setup, reason, key, burst)
                    }
                    Ok(stage) => self.asked(stage, burst),
                    Err((reason, case)) => not_asked(setup, reason, case, burst),
                };
                if !hand_over(Portion { records, ..Portion::default() }) {
                    return;
                }
            }
        }
    }

    /// Trials that were asked; those that a closed target left open are not among them.
    fn asked(&self, stage: &GoldenCase<'_>, burst: &[(u64, TrialKey)]) -> Vec<Record> {
        let Some((_, first)) = burst.first() else { return Vec::new() };
        let turn = |(_, spot): &(u64, TrialKey)| self.setup.turn(*spot, &stage.key);
        let turns: Vec<TrialSeed> = burst.iter().map(turn).collect();
        let mut records = Vec::with_capacity(burst.len());
        let mut trials = burst.iter();
        stage.inject(self.setup.fault(*first), &turns, &mut |observed| {
            let Some((number, spot)) = trials.next() else { return };
            match &observed.answer {
                Err(TargetError::Closed(why)) => self.closed.close(spot.target, why.clone()),
                _ => records.push(stage.record(*number, *spot, observed)),
            }
        });
        records
    }

    /// Reads the case, asks about it undisturbed, and records both; nothing where the target may
    /// not be asked.
    fn open(&self, piece: &WorkUnit) -> Option<(Portion, Opened<'a>)> {
        let setup = self.setup;
        let index = setup.cases.sample[piece.case as usize];
        let case = match setup.cases.set.case(index) {
            Ok(case) => case,
            Err(error) => return Some(unreadable(setup, piece, index, error.to_string())),
        };
        let key = case_key(&case);
        let cases = vec![case_record(setup, piece.case, &case)];
        let (golden, opened) = match GoldenCase::open(setup, piece.target, case) {
            Ok(stage) => (stage.golden_record(piece.target, piece.case), Ok(stage)),
            Err(TargetError::Closed(why)) => {
                self.closed.close(piece.target, why);
                return None;
            }
            Err(error) => {
                let error = error.to_string();
                let golden = no_golden(piece, &error);
                (golden, Err((Reason::GoldenFailed, key)))
            }
        };
        Some((Portion { cases, goldens: vec![golden], ..Portion::default() }, opened))
    }
}

fn not_asked(
    setup: &OpenCampaign,
    why: &Reason,
    case: &str,
    burst: &[(u64, TrialKey)],
) -> Vec<Record> {
    let record = |(number, spot): &(u64, TrialKey)| unasked(setup, *number, *spot, case, why);
    burst.iter().map(record).collect()
}

type Opened<'s> = Result<GoldenCase<'s>, (Reason, String)>;

fn unreadable<'s>(
    setup: &OpenCampaign,
    piece: &WorkUnit,
    index: usize,
    error: String,
) -> (Portion, Opened<'s>) {
    // Nobody knows the name of what cannot be read; its place in the set stands for it.
    let name = format!("case {index}");
    let label = setup.cases.set.label(index);
    let record = CaseRecord {
        case: piece.case,
        name: name.clone(),
        label: label.and_then(|label| setup.cases.set.classes.get(label).cloned()),
        strata: BTreeMap::new(),
        width: 0,
        height: 0,
        digest: None,
        error: Some(error.clone()),
    };
    let portion = Portion {
        cases: vec![record],
        goldens: vec![no_golden(piece, &error)],
        ..Portion::default()
    };
    (portion, Err((Reason::CaseUnreadable, name)))
}

fn no_golden(piece: &WorkUnit, error: &str) -> GoldenRecord {
    GoldenRecord {
        target: piece.target,
        case: piece.case,
        answer: None,
        score: None,
        correct: None,
        positive: None,
        truth: None,
        digest: None,
        scene: None,
        error: Some(error.to_owned()),
    }
}
