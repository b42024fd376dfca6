//! Measures of an answer that a record keeps beside the outcome.

mod changes;
mod fairness;
mod rank;
mod score;

use crate::golden_case::GoldenCase;
use crate::observation::Observation;
use faultlens_core::Response;
use faultlens_record::{Measures, NamedValue};

pub(crate) use fairness::is_positive;

/// The measures of a trial: those that the observation brought along, and those that follow from
/// comparing the answer with the expected one. `recorded` is the answer that the record has, which
/// may be the golden one.
pub(crate) fn measures(
    golden: &GoldenCase<'_>,
    observation: &Observation,
    recorded: Option<&Response>,
) -> Measures {
    let mut measures = observation.measures.clone();
    let shown = observation.shown.as_deref();
    measures.visual_change = shown.and_then(|shown| shown.visual_change);
    measures.positive = recorded.and_then(|answer| is_positive(golden, answer));
    let answer = match &observation.answer {
        Ok(Some(answer)) => Some(answer),
        // The golden answer, bit for bit, or a target that was not asked.
        Ok(None) => return measures.rounded(),
        Err(error) => {
            measures.error = Some(error.to_string());
            None
        }
    };
    if let Some(answer) = answer {
        let comparison = golden.comparison(answer, observation);
        let measurement = golden.context.judge.measure(&comparison);
        measures.oracle = measurement
            .map(|measured| NamedValue { name: measured.name.into(), value: measured.value });
        rank::measure_golden(&mut measures, &golden.answer, answer);
        if shown.is_some() {
            let overlap = golden.context.judge.overlap();
            measures.truth_rank = rank::of_truth(answer, golden.truth());
            changes::measure(&mut measures, comparison.golden, answer, overlap);
        }
    }
    if shown.is_some() {
        let expected = observation.expected();
        let classes = &golden.target.truths;
        score::measure(&mut measures, &golden.case, classes, &golden.answer, expected, answer);
    }
    measures.rounded()
}
