//! Oracles judge the answers of a target; guards say for which trials the judgement counts.

use crate::{Case, Outcome, Reason, Response};

/// What an oracle looks at.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The case as it was before any fault.
    pub case: &'a Case,
    /// What the target should answer.
    pub truth: Truth<'a>,
    /// The answer to the undisturbed image.
    pub golden: &'a Response,
    /// The answer under the fault.
    pub observed: &'a Response,
    /// The fault that changed the image; `None` where the target saw the image unchanged.
    pub fault: Option<AppliedFault<'a>>,
}

/// A fault that was applied to an image, with its visible effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AppliedFault<'a> {
    /// The fault's name in campaign files.
    pub name: &'a str,
    /// How much of the change people notice, from 0 to 1; `None` where that cannot be measured.
    pub visual_change: Option<f64>,
}

/// What a target should answer to a case, as far as that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Truth<'a> {
    /// The class, as a position in the target's own list.
    pub class: Option<usize>,
    /// The label of the data set: what a text reader should read.
    pub label: Option<&'a str>,
}

/// Decides whether an answer under a fault still counts as the golden one.
///
/// # Contract
/// - Both answers are finite when [`judge`](Self::judge) is called. An answer that is not finite
///   is [`Outcome::Detected`] before any oracle sees it.
/// - The judgement depends on the comparison alone: the same comparison always gives the same
///   outcome. Trials run on several threads and are replayed later.
/// - An oracle that cannot handle a kind of answer returns
///   [`Outcome::Skipped`]\([`Reason::UnsupportedAnswer`]\), never a guess.
/// - Golden compared with itself is [`Outcome::Unchanged`] or skipped.
///
/// # Example
/// An oracle for steering angles: the answer counts as changed when its sign flips.
///
/// ```
/// use faultlens_core::{Case, Comparison, Image, Oracle, Outcome, Reason, Response, Truth};
///
/// struct SameSide;
///
/// impl Oracle for SameSide {
///     fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
///         match (comparison.golden, comparison.observed) {
///             (Response::Values(golden), Response::Values(observed)) => {
///                 if golden[0].signum() == observed[0].signum() {
///                     Outcome::Unchanged
///                 } else {
///                     Outcome::Changed
///                 }
///             }
///             _ => Outcome::Skipped(Reason::UnsupportedAnswer),
///         }
///     }
/// }
///
/// let case = Case::new("bend", Image::from_rgb(1, 1, vec![0; 3]).unwrap());
/// let comparison = Comparison {
///     case: &case,
///     truth: Truth::default(),
///     golden: &Response::Values(vec![0.3]),
///     observed: &Response::Values(vec![-0.1]),
///     fault: None,
/// };
/// let oracle: Box<dyn Oracle> = Box::new(SameSide);
/// assert_eq!(oracle.judge(&comparison), Outcome::Changed);
/// ```
pub trait Oracle: Send + Sync {
    /// The outcome of the trial.
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome;

    /// The intersection over union from which two boxes count as the same object; `None` for
    /// oracles that do not compare objects.
    fn overlap(&self) -> Option<f64> {
        None
    }

    /// How far the answer moved from golden. Records keep the number, so that other thresholds
    /// than the oracle's own can be tried later without running anything again. `None` where the
    /// oracle has no such number, or the answers cannot be compared.
    fn measure(&self, _comparison: &Comparison<'_>) -> Option<Measurement> {
        None
    }
}

/// How far an answer moved from golden, under a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// What is measured, such as `iou` or `deviation`; the column of exported records.
    pub name: &'static str,
    /// The number.
    pub value: f64,
}

/// Says for which trials an oracle's judgement counts, such as those whose undisturbed answer is
/// correct. Several guards combine: the first that gives a reason wins.
///
/// # Contract
/// Like an oracle, a guard depends on the comparison alone. Every method has a default that skips
/// nothing, so a guard implements only the one that it is about.
///
/// ```
/// use faultlens_core::{Comparison, Guard, Reason};
///
/// /// Leaves out every case without a label.
/// struct Labelled;
///
/// impl Guard for Labelled {
///     fn skips_case(&self, comparison: &Comparison<'_>) -> Option<Reason> {
///         if comparison.case.label.is_none() { Some(Reason::NoLabel) } else { None }
///     }
/// }
/// let _: Box<dyn Guard> = Box::new(Labelled);
/// ```
pub trait Guard: Send + Sync {
    /// Why every trial of this case is skipped, whatever the fault. Called once per case before
    /// any trial runs, so that no query is wasted; `comparison.observed` is the golden answer.
    fn skips_case(&self, _comparison: &Comparison<'_>) -> Option<Reason> {
        None
    }

    /// Why one trial is skipped, whatever the target answered.
    fn skips_trial(&self, _comparison: &Comparison<'_>) -> Option<Reason> {
        None
    }

    /// Whether [`skips_trial`](Self::skips_trial) reads [`AppliedFault::visual_change`], which
    /// takes time to measure and is left out where it is not needed.
    fn needs_visual_change(&self) -> bool {
        false
    }
}
