//! Opens the case of a work unit: reads it, asks about it undisturbed, and records both.

use super::batch::Batch;
use super::services::ClosedTargets;
use crate::cases::case_key;
use crate::golden_case::GoldenCase;
use crate::golden_record::{failed_golden_record, golden_record};
use crate::open::OpenCampaign;
use crate::plan::WorkUnit;
use faultlens_core::{Reason, TargetError};

/// A case that was opened: its golden answer, or why its trials are skipped, and its key.
pub(super) enum OpenedCase<'s> {
    Golden(Box<GoldenCase<'s>>),
    Skipped(Reason, String),
}

/// Reads the case, asks about it undisturbed, and records both; `None` where the target may not
/// be asked any more.
pub(super) fn open_case<'a>(
    open: &'a OpenCampaign,
    closed: &ClosedTargets,
    unit: &WorkUnit,
) -> Option<(Batch, OpenedCase<'a>)> {
    let cases = &open.cases;
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
    let opened = match open.golden_case(unit.target, case) {
        Ok(golden) => {
            batch.goldens.push(golden_record(&golden, unit.target, unit.case));
            match golden.skipped {
                Some(reason) => OpenedCase::Skipped(reason, key),
                None => OpenedCase::Golden(Box::new(golden)),
            }
        }
        Err(TargetError::Closed(why)) => {
            closed.close(unit.target, why);
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
