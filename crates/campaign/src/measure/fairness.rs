//! Whether an answer is the positive one that fairness compares between groups.

use crate::golden_case::GoldenCase;
use faultlens_core::Response;
use faultlens_judge::{is_correct, same_letters};

/// Whether an answer is what fairness counts; `None` where the campaign does not measure fairness.
pub(crate) fn is_positive(golden: &GoldenCase<'_>, answer: &Response) -> Option<bool> {
    let fairness = golden.context.fairness.as_ref()?;
    match &fairness.positive {
        Some(name) => Some(names(answer, name)),
        None => is_correct(answer, golden.truth()),
    }
}

/// Whether an answer contains this name: as its best class, as one of its objects, as its text.
fn names(answer: &Response, name: &str) -> bool {
    match answer {
        Response::Detections(detections) => {
            let mut names = detections.found.iter().map(|found| detections.name(found.class));
            names.any(|found| found.eq_ignore_ascii_case(name))
        }
        answer => same_letters(&answer.headline().0, name),
    }
}
