//! A thread's work: pieces of the plan, one after the other.

use crate::inject::{Stage, case_key, case_record, unasked};
use crate::plan::{Piece, Spot};
use crate::record::{GoldenRecord, Record};
use crate::setup::Setup;
use crate::store::{CaseRecord, Done};
use faultlens_core::{Case, Reason};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Portion;

/// Trials of one fault that run before anybody looks whether the user wants to stop.
const BURST: usize = 64;

/// A target that gave no undisturbed answer, or an image that nobody can read.
struct Unasked {
    reason: Reason,
    error: String,
}

/// Works on a piece, and hands over what is done in batches; `false` from `hand_over` ends it.
pub(super) fn work(
    setup: &Setup,
    piece: &Piece,
    done: &Done,
    interrupted: &AtomicBool,
    hand_over: &mut dyn FnMut(Portion) -> bool,
) {
    let left: Vec<(u64, Spot)> = (piece.numbers.iter().cloned().flatten())
        .filter(|number| !done.contains(*number))
        .filter_map(|number| Some((number, setup.plan.spot(number)?)))
        .collect();
    if left.is_empty() {
        return;
    }
    let (first, stage) = open(setup, piece);
    if !hand_over(first) {
        return;
    }
    for trials in left.chunk_by(|(_, a), (_, b)| a.fault == b.fault) {
        for burst in trials.chunks(BURST) {
            if interrupted.load(Ordering::Relaxed) {
                return;
            }
            let records = match &stage {
                Ok(Stage { barred: Some(reason), key, .. }) => not_asked(setup, reason, key, burst),
                Ok(stage) => asked(setup, stage, burst),
                Err((why, case)) => not_asked(setup, &why.reason, case, burst),
            };
            if !hand_over(Portion { records, ..Portion::default() }) {
                return;
            }
        }
    }
}

fn asked(setup: &Setup, stage: &Stage<'_>, burst: &[(u64, Spot)]) -> Vec<Record> {
    let Some((_, spot)) = burst.first() else { return Vec::new() };
    let seed = |(_, spot): &(u64, Spot)| setup.stream_seed(*spot, &stage.key);
    let seeds: Vec<u64> = burst.iter().map(seed).collect();
    let mut records = Vec::with_capacity(burst.len());
    setup.fault(*spot).inject(stage, &seeds, &mut |observed| {
        if let Some((number, spot)) = burst.get(records.len()) {
            records.push(stage.record(*number, *spot, observed));
        }
    });
    records
}

fn not_asked(setup: &Setup, why: &Reason, case: &str, burst: &[(u64, Spot)]) -> Vec<Record> {
    let record = |(number, spot): &(u64, Spot)| unasked(setup, *number, *spot, case, why);
    burst.iter().map(record).collect()
}

type Opened<'s> = Result<Stage<'s>, (Unasked, String)>;

/// Reads the case, asks about it undisturbed, and records both.
fn open<'s>(setup: &'s Setup, piece: &Piece) -> (Portion, Opened<'s>) {
    let index = setup.cases.sample[piece.case as usize];
    let case = match setup.cases.set.case(index) {
        Ok(case) => case,
        Err(error) => return unreadable(setup, piece, index, error.to_string()),
    };
    let key = case_key(&case);
    let cases = vec![case_record(setup, piece.case, &case)];
    match opened(setup, piece, case) {
        Ok(stage) => {
            let goldens = vec![stage.golden_record(piece.target, piece.case)];
            (Portion { cases, goldens, ..Portion::default() }, Ok(stage))
        }
        Err(why) => {
            let goldens = vec![no_golden(piece, &why.error)];
            (Portion { cases, goldens, ..Portion::default() }, Err((why, key)))
        }
    }
}

fn opened<'s>(setup: &'s Setup, piece: &Piece, case: Case) -> Result<Stage<'s>, Unasked> {
    Stage::open(setup, piece.target, case)
        .map_err(|error| Unasked { reason: Reason::GoldenFailed, error: error.to_string() })
}

fn unreadable<'s>(
    setup: &Setup,
    piece: &Piece,
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
    (portion, Err((Unasked { reason: Reason::CaseUnreadable, error }, name)))
}

fn no_golden(piece: &Piece, error: &str) -> GoldenRecord {
    GoldenRecord {
        target: piece.target,
        case: piece.case,
        answer: None,
        score: None,
        correct: None,
        truth: None,
        digest: None,
        error: Some(error.to_owned()),
    }
}
