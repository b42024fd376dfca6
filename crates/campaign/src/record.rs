//! From an observation to the record of a trial.

use crate::golden_case::GoldenCase;
use crate::measure::measures;
use crate::observation::Observation;
use crate::plan::TrialKey;
use faultlens_core::{Outcome, Reason, Response};
use faultlens_record::{Cost, Measures, Record, TrialId};
use std::collections::BTreeMap;

/// The record of a trial: its outcome, what the target answered, and what is measured of that.
pub(crate) fn trial_record(
    golden: &GoldenCase<'_>,
    number: u64,
    key: TrialKey,
    trial: TrialId,
    observation: Observation,
) -> Record {
    let answer = match &observation.answer {
        Ok(Some(answer)) => Some(answer),
        // The target was not asked.
        Ok(None) if observation.shown.is_some() || observation.cost.queries == 0 => None,
        Ok(None) => Some(&golden.answer),
        Err(_) => None,
    };
    let headline = answer.map(Response::headline);
    let outcome = golden.judge(&observation);
    Record {
        answer: headline.as_ref().map(|(text, _)| text.as_str().into()),
        score: headline.and_then(|(_, score)| score),
        cost: observation.cost,
        digest: answer.map(Response::digest),
        measures: measures(golden, &observation, answer),
        site: observation.site,
        ..unanswered(number, key, trial, outcome)
    }
}

/// The record of a trial that was not run, since its outcome was clear before.
pub(crate) fn skipped_record(number: u64, key: TrialKey, trial: TrialId, reason: Reason) -> Record {
    unanswered(number, key, trial, Outcome::Skipped(reason))
}

fn unanswered(number: u64, key: TrialKey, trial: TrialId, outcome: Outcome) -> Record {
    Record {
        number,
        trial,
        target: key.target,
        case: key.case,
        fault: key.fault,
        repeat: key.repeat,
        outcome,
        site: None,
        answer: None,
        score: None,
        cost: Cost::default(),
        digest: None,
        measures: Measures::default(),
        extra: BTreeMap::new(),
    }
}
