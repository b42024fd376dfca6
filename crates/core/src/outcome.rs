//! Outcomes of trials, from the target's point of view.

use crate::Reason;
use std::fmt;

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The answer is as good as golden.
    Unchanged,
    /// The answer differs and nothing shows that it is wrong: silent data corruption (SDC).
    Changed,
    /// The fault shows: the answer is not finite, or the target rejected the input. In the
    /// literature a detected, unrecoverable error (DUE).
    Detected,
    /// The target failed.
    Crashed,
    /// The target did not answer in time.
    TimedOut,
    /// The trial carries no evidence, for this reason. It stays out of every denominator and is
    /// always reported.
    Skipped(Reason),
}

/// The kinds of outcome, in the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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

    /// The kind that runs of format version 1 and campaign files of their time call this. Three
    /// kinds had other names then (`masked`, `deviated`, `unjudged`); the others are as today.
    pub fn from_legacy_name(name: &str) -> Option<Self> {
        match name {
            "masked" => Some(Self::Unchanged),
            "deviated" => Some(Self::Changed),
            "unjudged" => Some(Self::Skipped),
            "detected" | "crashed" | "timed_out" => Self::named(name),
            _ => None,
        }
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

    /// The outcome of that kind; a skipped one needs the reason that it was recorded with.
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

    /// Why the trial was skipped; `None` for every other outcome.
    pub fn skip_reason(&self) -> Option<Reason> {
        match self {
            Self::Skipped(reason) => Some(*reason),
            _ => None,
        }
    }
}

/// The name of the kind, followed by the reason where there is one: "skipped: the undisturbed
/// answer is already wrong".
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped(reason) => write!(f, "{}: {reason}", self.kind()),
            _ => f.write_str(self.kind().name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_the_outcome() {
        for kind in OutcomeKind::ALL {
            assert_eq!(OutcomeKind::named(kind.name()), Some(kind));
            let outcome = Outcome::recorded(kind, Some(Reason::NoSite)).unwrap();
            assert_eq!(outcome.kind(), kind);
            assert_eq!(outcome.skip_reason().is_some(), kind == OutcomeKind::Skipped);
        }
        assert_eq!(Outcome::recorded(OutcomeKind::Skipped, None), None);
    }

    #[test]
    fn legacy_names_cover_every_kind() {
        let names = ["masked", "deviated", "detected", "crashed", "timed_out", "unjudged"];
        let kinds = names.map(|name| OutcomeKind::from_legacy_name(name).unwrap());
        assert_eq!(kinds, OutcomeKind::ALL);
        // A new name in an old run means that the run is damaged, so it is not accepted.
        assert_eq!(OutcomeKind::from_legacy_name("changed"), None);
    }

    #[test]
    fn a_skipped_trial_says_why() {
        let skipped = Outcome::Skipped(Reason::GoldenWrong);
        assert_eq!(skipped.to_string(), "skipped: the undisturbed answer is already wrong");
        assert_eq!(Outcome::TimedOut.to_string(), "timed_out");
    }
}
