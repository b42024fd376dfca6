//! Opens the case of a work unit: reads it, asks about it undisturbed, and records both.

use super::batch::Batch;
use super::left_open::LeftOpen;
use crate::cases::case_key;
use crate::golden_case::GoldenCase;
use crate::golden_record::{failed_golden_record, golden_record};
use crate::open::OpenCampaign;
use crate::plan::WorkUnit;
use faultlens_core::Reason;

/// A case that was opened: its golden answer, or why its trials are skipped, and its key.
pub(super) enum OpenedCase<'s> {
    Golden(Box<GoldenCase<'s>>),
    Skipped(Reason, String),
}

/// Reads the case, asks about it undisturbed, and records both; `None` where the image or the answer
/// cannot be had now, so that the unit's trials stay open.
pub(super) fn open_case<'a>(
    open: &'a OpenCampaign,
    left_open: &LeftOpen,
    unit: &WorkUnit,
    trials: usize,
) -> Option<(Batch, OpenedCase<'a>)> {
    let cases = &open.cases;
    let index = cases.sample[unit.case as usize];
    let mut batch = Batch::default();
    let case = match cases.set.case(index) {
        Ok(case) => case,
        Err(error) if error.may_pass() => {
            left_open.no_image(trials, &error.to_string());
            return None;
        }
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
    let opened = match open.golden_case(unit.target, case) {
        Ok(golden) => {
            batch.goldens.push(golden_record(&golden, unit.target, unit.case));
            match golden.skipped {
                Some(reason) => OpenedCase::Skipped(reason, key),
                None => OpenedCase::Golden(Box::new(golden)),
            }
        }
        Err(error) if error.leaves_open() => {
            left_open.no_answer(open, unit.target, trials, &error);
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
