//! Only what was right can be broken.

use faultlens_core::{Exhibit, Guard, Plugin, Reason, Response};

/// # What it does
/// Leaves trials unjudged whose undisturbed answer is wrong already.
/// # When to use it
/// Rates of correct answers that a fault turns wrong, as TensorFI counts them; needs labels.
pub(super) const GOLDEN_CORRECT: Plugin<dyn Guard> = Plugin {
    name: "golden_correct",
    about: "judges only trials whose undisturbed answer is the case's label",
    when: "rates of right answers that a fault turns wrong; needs labelled cases",
    parameters: &[],
    build: |_| Ok(Box::new(GoldenCorrect)),
};

struct GoldenCorrect;

impl Guard for GoldenCorrect {
    fn bars_case(&self, exhibit: &Exhibit<'_>) -> Option<Reason> {
        let Response::Scores(golden) = exhibit.golden else { return Some(Reason::Unsuited) };
        match exhibit.truth {
            None => Some(Reason::NoLabel),
            truth if truth == golden.top() => None,
            _ => Some(Reason::GoldenWrong),
        }
    }
}
