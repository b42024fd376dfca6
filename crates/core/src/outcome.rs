//! What became of a trial, always seen from the target.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What became of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The answer is as good as golden.
    Unchanged,
    /// The answer is another one, and nothing shows that it is wrong.
    Changed,
    /// The answer gives the fault away: it is not finite, or the target rejected the input.
    Detected,
    /// The target failed.
    Crashed,
    /// The target did not answer in time.
    TimedOut,
    /// The trial says nothing, for this reason; it leaves every denominator and is always shown.
    Skipped(Reason),
}

/// Why a trial cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The case's image cannot be read.
    CaseUnreadable,
    /// The target gives no answer to the undisturbed image.
    GoldenFailed,
    /// The undisturbed answer is not finite, so that no disturbance can be told from it.
    GoldenNotFinite,
    /// The undisturbed answer names nothing that could get lost.
    GoldenEmpty,
    /// The undisturbed answer is wrong already.
    GoldenWrong,
    /// No answer came that could be judged: the way to the target failed.
    Lost,
    /// The case has no label to compare with.
    NoLabel,
    /// The fault finds nothing in this target that it could change.
    NoSite,
    /// No object of any label that the target finds is there to be inserted.
    NoObject,
    /// Nothing in the scene leaves room for the change.
    NoRoom,
    /// The undisturbed answer is what an attack wants, or there is no such answer.
    NothingToReach,
    /// Nobody knows how much of this fault people tolerate.
    NoTolerance,
    /// No strength that was drawn changes the image by as much as was wanted.
    OutOfReach,
    /// The image is changed more than people tolerate.
    OutsideTolerance,
    /// The target finds too few objects for so many trials.
    Surplus,
    /// The target disagrees with itself about the undisturbed image.
    Unsteady,
    /// Nobody can tell how much the image was changed.
    Untold,
    /// The oracle cannot judge this kind of answer.
    Unsuited,
}

/// The kinds of outcome, in the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// See [`Outcome::Unchanged`].
    Unchanged,
    /// See [`Outcome::Changed`].
    Changed,
    /// See [`Outcome::Detected`].
    Detected,
    /// See [`Outcome::Crashed`].
    Crashed,
    /// See [`Outcome::TimedOut`].
    TimedOut,
    /// See [`Outcome::Skipped`].
    Skipped,
}

impl OutcomeKind {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Unchanged,
        Self::Changed,
        Self::Detected,
        Self::Crashed,
        Self::TimedOut,
        Self::Skipped,
    ];

    /// Its name in records, campaign files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Detected => "detected",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed_out",
            Self::Skipped => "skipped",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Outcome {
    /// Its kind, without the reason.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Self::Unchanged => OutcomeKind::Unchanged,
            Self::Changed => OutcomeKind::Changed,
            Self::Detected => OutcomeKind::Detected,
            Self::Crashed => OutcomeKind::Crashed,
            Self::TimedOut => OutcomeKind::TimedOut,
            Self::Skipped(_) => OutcomeKind::Skipped,
        }
    }

    /// The outcome of that kind; `reason` is what an skipped one is recorded with.
    pub fn recorded(kind: OutcomeKind, reason: Option<Reason>) -> Option<Self> {
        Some(match kind {
            OutcomeKind::Unchanged => Self::Unchanged,
            OutcomeKind::Changed => Self::Changed,
            OutcomeKind::Detected => Self::Detected,
            OutcomeKind::Crashed => Self::Crashed,
            OutcomeKind::TimedOut => Self::TimedOut,
            OutcomeKind::Skipped => Self::Skipped(reason?),
        })
    }
}

impl Reason {
    const ALL: [Self; 18] = [
        Self::CaseUnreadable,
        Self::GoldenFailed,
        Self::GoldenNotFinite,
        Self::GoldenEmpty,
        Self::GoldenWrong,
        Self::Lost,
        Self::NoLabel,
        Self::NoObject,
        Self::NoRoom,
        Self::NoSite,
        Self::NothingToReach,
        Self::NoTolerance,
        Self::OutOfReach,
        Self::OutsideTolerance,
        Self::Surplus,
        Self::Unsteady,
        Self::Untold,
        Self::Unsuited,
    ];

    /// The reason in words, as records hold it.
    pub fn text(&self) -> &'static str {
        match self {
            Self::CaseUnreadable => "the case cannot be read",
            Self::GoldenFailed => "the target does not answer the undisturbed image",
            Self::GoldenNotFinite => "the undisturbed answer is not finite",
            Self::GoldenEmpty => "the undisturbed answer names nothing",
            Self::GoldenWrong => "the undisturbed answer is wrong",
            Self::Lost => "no answer came",
            Self::NoLabel => "the case has no label",
            Self::NoSite => "the target has nothing that the fault could change",
            Self::NoObject => "the pool has no object of a label that the target finds",
            Self::NoRoom => "nothing in the scene leaves room for the change",
            Self::NothingToReach => {
                "the undisturbed answer is what the attack wants, or cannot become it"
            }
            Self::NoTolerance => "nobody knows how much of the fault people tolerate",
            Self::OutOfReach => "no strength that was drawn has the wanted visual change",
            Self::OutsideTolerance => "the change is more than people tolerate",
            Self::Surplus => "the target finds too few objects for so many trials",
            Self::Unsteady => "the target disagrees with itself about the undisturbed image",
            Self::Untold => "nobody can tell how much the image is changed",
            Self::Unsuited => "the oracle cannot judge this kind of answer",
        }
    }

    /// Whether nothing was left for the trial to do, so that it is no loss.
    pub fn is_spare(&self) -> bool {
        *self == Self::Surplus
    }

    /// The reason with those words.
    pub fn with_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.text() == text)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_reasons_are_found_again() {
        for kind in OutcomeKind::ALL {
            assert_eq!(OutcomeKind::named(kind.name()), Some(kind));
            let outcome = Outcome::recorded(kind, Some(Reason::NoSite)).unwrap();
            assert_eq!(outcome.kind(), kind);
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::with_text(reason.text()), Some(reason));
        }
        assert_eq!(Outcome::recorded(OutcomeKind::Skipped, None), None);
    }
}
