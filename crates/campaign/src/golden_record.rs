//! The record of an undisturbed answer.

use crate::golden_case::GoldenCase;
use crate::measure::is_positive;
use faultlens_core::{Response, Truth};
use faultlens_judge::is_correct;
use faultlens_record::{GoldenRecord, GoldenScene};

/// The record of an undisturbed answer.
pub(crate) fn golden_record(golden: &GoldenCase<'_>, target: u32, case: u32) -> GoldenRecord {
    let (answer, score) = golden.answer.headline();
    let truth = match (&golden.answer, golden.truth()) {
        (Response::Scores(scores), Truth { class: Some(class), .. }) => {
            Some(scores.name(class).into())
        }
        (Response::Ranking(_) | Response::Text(_), Truth { label: Some(label), .. }) => {
            Some(label.into())
        }
        _ => None,
    };
    GoldenRecord {
        target,
        case,
        answer: Some(answer.into()),
        score,
        correct: is_correct(&golden.answer, golden.truth()),
        positive: is_positive(golden, &golden.answer),
        truth,
        digest: Some(golden.answer.digest()),
        scene: GoldenScene::new(&golden.case, &golden.target.truths, &golden.answer),
        error: None,
    }
}

/// The record of an undisturbed case that the target did not answer.
pub(crate) fn failed_golden_record(target: u32, case: u32, error: &str) -> GoldenRecord {
    GoldenRecord { target, case, error: Some(error.to_owned()), ..GoldenRecord::default() }
}
