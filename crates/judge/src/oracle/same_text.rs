//! The text must stay, up to a number of edits.

use crate::edits;
use faultlens_core::{
    Comparison, Measurement, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason, Response,
    Setting, Unset,
};

/// # What it does
/// Unchanged where the Levenshtein distance to the undisturbed text is small enough.
/// # When to use it
/// Readers of number plates, signs and documents.
pub(super) const SAME_TEXT: Plugin<dyn Oracle> = Plugin {
    name: "same_text",
    about: "the text may differ from the undisturbed one by at most so many edits",
    when: "text recognition; records the number of inserted, deleted and replaced letters as edits",
    parameters: &[EDITS],
    build: |settings| Ok(Box::new(SameText { max_edits: settings.number(EDITS.name)? })),
};

const EDITS: Parameter = Parameter {
    name: "edits",
    about: "how many letters may be inserted, deleted or replaced",
    kind: ParameterKind::Whole { min: 0, max: 1000 },
    unset: Unset::Is(Setting::Number(0.0)),
};

struct SameText {
    max_edits: f64,
}

fn distance(comparison: &Comparison<'_>) -> Option<f64> {
    match (comparison.golden, comparison.observed) {
        (Response::Text(golden), Response::Text(observed)) => {
            Some(edits(&golden.classes, &observed.classes) as f64)
        }
        _ => None,
    }
}

impl Oracle for SameText {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        match distance(comparison) {
            Some(edits) if edits <= self.max_edits => Outcome::Unchanged,
            Some(_) => Outcome::Changed,
            None => Outcome::Skipped(Reason::UnsupportedAnswer),
        }
    }

    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        Some(Measurement { name: "edits", value: distance(comparison)? })
    }
}
