//! Who judges a trial.

use crate::{Case, Outcome, Reason, Response};

/// What an oracle looks at.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// What was shown, before any fault.
    pub case: &'a Case,
    /// What the target should answer.
    pub truth: Truth<'a>,
    /// The answer to the undisturbed image.
    pub golden: &'a Response,
    /// The answer under the fault.
    pub observed: &'a Response,
    /// What was done to the image; `None` where it was shown as it is.
    pub disturbed: Option<Disturbed<'a>>,
}

/// What was done to an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbed<'a> {
    /// The fault's name.
    pub fault: &'a str,
    /// How much of it people notice, from 0 to 1; `None` where that cannot be told.
    pub visual_change: Option<f64>,
}

/// What a target should answer to a case, as far as that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Truth<'a> {
    /// The class of the target's own list.
    pub class: Option<usize>,
    /// The data set's word for it: what a reader of texts should read.
    pub label: Option<&'a str>,
}

/// Judges an observed answer against golden. Both are finite when it is asked: an answer that is
/// not gives the fault away, whoever judges.
pub trait Oracle: Send + Sync {
    /// What became of the trial.
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome;

    /// The overlap from which boxes are taken for the same object, where it looks at objects.
    fn overlap(&self) -> Option<f64> {
        None
    }

    /// How far the answer moved, for the record: so that other limits than the oracle's own can
    /// be looked at later. `None` where it has no measure, or the answers cannot be compared.
    fn measure(&self, _exhibit: &Comparison<'_>) -> Option<Measure> {
        None
    }
}

/// How far an answer moved from golden, on a named axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// What is measured, such as `iou` or `deviation`.
    pub name: &'static str,
    /// How much of it.
    pub value: f64,
}

/// Wraps an oracle: says for which trials its judgement counts.
pub trait Guard: Send + Sync {
    /// Why no trial of this case says anything, whatever the fault; asked before any is run, so
    /// that none is run in vain. `comparison.observed` is golden.
    fn bars_case(&self, _exhibit: &Comparison<'_>) -> Option<Reason> {
        None
    }

    /// Whether [`bars_trial`](Self::bars_trial) looks at how much people notice of a change, which
    /// takes time to tell.
    fn looks_at_changes(&self) -> bool {
        false
    }

    /// Why a trial says nothing, whatever was answered.
    fn bars_trial(&self, _exhibit: &Comparison<'_>) -> Option<Reason> {
        None
    }
}
