//! Only a correct answer can be broken.

use crate::is_correct;
use faultlens_core::{Comparison, Guard, Plugin, Reason, Response};

/// # What it does
/// Skips the cases whose undisturbed answer is already wrong.
/// # When to use it
/// Rates of correct answers that a fault turns wrong, as TensorFI counts them; needs labels.
pub(super) const GOLDEN_CORRECT: Plugin<dyn Guard> = Plugin {
    name: "golden_correct",
    about: "judges only cases whose undisturbed answer matches the label",
    when: "rates of correct answers that a fault turns wrong; needs labelled cases",
    parameters: &[],
    build: |_| Ok(Box::new(GoldenCorrect)),
};

struct GoldenCorrect;

impl Guard for GoldenCorrect {
    fn skips_case(&self, comparison: &Comparison<'_>) -> Option<Reason> {
        let has_label = matches!(
            comparison.golden,
            Response::Scores(_) | Response::Ranking(_) | Response::Text(_)
        );
        match is_correct(comparison.golden, comparison.truth) {
            Some(true) => None,
            Some(false) => Some(Reason::GoldenWrong),
            None if has_label => Some(Reason::NoLabel),
            None => Some(Reason::UnsupportedAnswer),
        }
    }
}
