//! Numbers that a record keeps about an answer beside its outcome.

mod changes;
mod rank;
mod score;

use crate::golden_case::GoldenCase;
use crate::observation::Observation;
use faultlens_core::{Measurement, Response};
use faultlens_judge::is_correct;
use faultlens_record::Measures;
use faultlens_record::inventory;
use faultlens_record::keys::{POSITIVE, VISUAL_CHANGE};
use faultlens_record::store::measures_from_fields;
use std::collections::BTreeMap;

/// All that a record says of a trial beside its outcome and its answer: what the observation
/// brought along, and what follows from comparing the answer with the expected one.
pub(crate) fn measures(
    golden: &GoldenCase<'_>,
    observation: &Observation,
    counted: Option<&Response>,
) -> (Measures, BTreeMap<String, String>) {
    let mut extra = observation.extra.clone();
    let mut oracle = None;
    let mut changed_objects = None;
    let shown = observation.shown.as_deref();
    if let Some(change) = shown.and_then(|shown| shown.visual_change) {
        extra.insert(VISUAL_CHANGE.to_owned(), format!("{change:.6}"));
    }
    match &observation.answer {
        Ok(Some(answer)) => {
            let comparison = golden.comparison(answer, observation);
            if let Some(Measurement { name, value }) = golden.context.judge.measure(&comparison) {
                extra.insert(name.into(), value.to_string());
                oracle = Some(name);
            }
            extra.extend(rank::of_golden(&golden.answer, answer));
            if shown.is_some() {
                let overlap = golden.context.judge.overlap();
                extra.extend(rank::of_truth(answer, golden.truth()));
                extra.extend(rank::precision(comparison.golden, answer));
                changed_objects = changes::changes(comparison.golden, answer, overlap);
                extra.extend(scores(golden, observation, Some(answer)));
            }
        }
        Ok(None) => {}
        Err(error) => {
            extra.insert("error".to_owned(), error.to_string());
            if shown.is_some() {
                extra.extend(scores(golden, observation, None));
            }
        }
    }
    if let Some(positive) = counted.and_then(|answer| is_positive(golden, answer)) {
        extra.insert(POSITIVE.to_owned(), u8::from(positive).to_string());
    }
    let mut measures = measures_from_fields(&mut extra, oracle);
    if let Some((diff, voc_ap)) = changed_objects {
        measures.detections = Some(diff).filter(|diff| !diff.is_empty());
        measures.voc_ap = Some(voc_ap).filter(|ap| *ap < 1.0);
    }
    (measures, extra)
}

/// Whether an answer is what fairness counts; `None` where the campaign does not measure fairness.
pub(crate) fn is_positive(golden: &GoldenCase<'_>, answer: &Response) -> Option<bool> {
    let fairness = golden.context.fairness.as_ref()?;
    match &fairness.positive {
        Some(name) => Some(rank::names(answer, name)),
        None => is_correct(answer, golden.truth()),
    }
}

/// How good an answer with objects or areas is, how similar to the expected one, and which objects
/// were found where the true ones are known.
fn scores(
    golden: &GoldenCase<'_>,
    observation: &Observation,
    answer: Option<&Response>,
) -> BTreeMap<String, String> {
    let expected = observation.expected();
    let classes = &golden.target.truths;
    let compared = (expected.unwrap_or(&golden.answer), answer);
    // Once things have moved, the truth no longer says where they stand.
    let moved = expected.is_some();
    let mut scores = score::scores(&golden.case, classes, compared, moved);
    if !moved && inventory::is_known(&golden.case, classes, &golden.answer) {
        scores.extend(inventory::observed(answer));
    }
    scores
}
