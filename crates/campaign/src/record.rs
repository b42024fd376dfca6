//! From an observation to the record of a trial.

use crate::golden_case::GoldenCase;
use crate::measure::{is_positive, measures};
use crate::observation::Observation;
use crate::plan::TrialKey;
use faultlens_core::{Outcome, Reason, Response, Truth};
use faultlens_judge::is_correct;
use faultlens_record::inventory;
use faultlens_record::{Cost, GoldenRecord, Measures, Record, TrialId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The record of a trial.
pub(crate) fn trial_record(
    golden: &GoldenCase<'_>,
    number: u64,
    key: TrialKey,
    trial: TrialId,
    observation: Observation,
) -> Record {
    let outcome = golden.judge(&observation);
    let answer = match &observation.answer {
        Ok(Some(answer)) => Some(answer),
        // The target was not asked.
        Ok(None) if observation.shown.is_some() || observation.queries == 0 => None,
        Ok(None) => Some(&golden.answer),
        Err(_) => None,
    };
    let (text, score) = headline(answer);
    let (measures, extra) = measures(golden, &observation, answer);
    Record {
        number,
        trial,
        target: key.target,
        case: key.case,
        fault: key.fault,
        repeat: key.repeat,
        outcome,
        answer: text,
        score,
        cost: Cost { queries: observation.queries, micros: observation.micros },
        digest: answer.map(Response::digest),
        measures,
        extra,
        site: observation.site,
    }
}

/// The record of a trial that was not run, since its outcome was clear before.
pub(crate) fn skipped_record(number: u64, key: TrialKey, trial: TrialId, reason: Reason) -> Record {
    Record {
        number,
        trial,
        target: key.target,
        case: key.case,
        fault: key.fault,
        repeat: key.repeat,
        outcome: Outcome::Skipped(reason),
        site: None,
        answer: None,
        score: None,
        cost: Cost::default(),
        digest: None,
        measures: Measures::default(),
        extra: BTreeMap::new(),
    }
}

/// The record of an undisturbed answer.
pub(crate) fn golden_record(golden: &GoldenCase<'_>, target: u32, case: u32) -> GoldenRecord {
    let (answer, score) = headline(Some(&golden.answer));
    let truth = match (&golden.answer, golden.truth()) {
        (Response::Scores(scores), Truth { class: Some(class), .. }) => {
            Some(scores.name(class).into())
        }
        (Response::Ranking(_) | Response::Text(_), Truth { label: Some(label), .. }) => {
            Some(label.into())
        }
        _ => None,
    };
    let scene = inventory::golden(&golden.case, &golden.target.truths, &golden.answer);
    GoldenRecord {
        target,
        case,
        answer,
        score,
        correct: is_correct(&golden.answer, golden.truth()),
        positive: is_positive(golden, &golden.answer),
        truth,
        digest: Some(golden.answer.digest()),
        scene: scene.map(Into::into),
        error: None,
    }
}

/// The record of an undisturbed case that the target did not answer.
pub(crate) fn failed_golden_record(target: u32, case: u32, error: &str) -> GoldenRecord {
    GoldenRecord {
        target,
        case,
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

fn headline(answer: Option<&Response>) -> (Option<Arc<str>>, Option<f32>) {
    match answer.map(Response::headline) {
        Some((text, score)) => (Some(text.into()), score),
        None => (None, None),
    }
}
