//! Why a trial was skipped: a stable code for machines, a sentence for people.

use std::fmt;

/// Why a trial was skipped, which keeps it out of every rate.
///
/// Records hold [`code`](Self::code), which never changes once it is released; the sentence that
/// people read ([`Display`](fmt::Display)) may be reworded at any time.
///
/// ```
/// use faultlens_core::Reason;
///
/// assert_eq!(Reason::GoldenWrong.code(), "golden_wrong");
/// assert_eq!(Reason::from_code("golden_wrong"), Some(Reason::GoldenWrong));
/// assert_eq!(Reason::GoldenWrong.to_string(), "the undisturbed answer is already wrong");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The case's image cannot be read.
    CaseUnreadable,
    /// The target gives no answer to the undisturbed image.
    GoldenFailed,
    /// The undisturbed answer is not finite, so no change can be measured against it.
    GoldenNotFinite,
    /// The undisturbed answer names nothing that could get lost.
    GoldenEmpty,
    /// The undisturbed answer is already wrong.
    GoldenWrong,
    /// The target gives different answers to the same undisturbed image.
    GoldenUnstable,
    /// No answer came back that could be judged: the connection to the target failed.
    NoResponse,
    /// The case has no label to compare with.
    NoLabel,
    /// The fault finds nothing in this target that it could change.
    NoSite,
    /// The object pool has no object of a label that the target finds.
    NoObject,
    /// Nothing in the scene leaves room for the change.
    NoRoom,
    /// An attack has no goal: the undisturbed answer is what it wants already, or the answer it
    /// wants does not exist.
    NoAttackGoal,
    /// It is unknown how much of this fault people tolerate.
    NoTolerance,
    /// No strength that was tried changes the image by the requested amount.
    StrengthNotFound,
    /// The image is changed more than people tolerate.
    OutsideTolerance,
    /// The target finds fewer objects than trials were planned.
    TooFewObjects,
    /// The visual change of the image cannot be measured.
    VisualChangeUnknown,
    /// The oracle cannot judge this kind of answer.
    UnsupportedAnswer,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 18] = [
        Self::CaseUnreadable,
        Self::GoldenFailed,
        Self::GoldenNotFinite,
        Self::GoldenEmpty,
        Self::GoldenWrong,
        Self::GoldenUnstable,
        Self::NoResponse,
        Self::NoLabel,
        Self::NoSite,
        Self::NoObject,
        Self::NoRoom,
        Self::NoAttackGoal,
        Self::NoTolerance,
        Self::StrengthNotFound,
        Self::OutsideTolerance,
        Self::TooFewObjects,
        Self::VisualChangeUnknown,
        Self::UnsupportedAnswer,
    ];

    /// The stable name in records and exports. A code is never reused or reworded: runs on disk
    /// depend on it.
    pub fn code(self) -> &'static str {
        match self {
            Self::CaseUnreadable => "case_unreadable",
            Self::GoldenFailed => "golden_failed",
            Self::GoldenNotFinite => "golden_not_finite",
            Self::GoldenEmpty => "golden_empty",
            Self::GoldenWrong => "golden_wrong",
            Self::GoldenUnstable => "golden_unstable",
            Self::NoResponse => "no_response",
            Self::NoLabel => "no_label",
            Self::NoSite => "no_site",
            Self::NoObject => "no_object",
            Self::NoRoom => "no_room",
            Self::NoAttackGoal => "no_attack_goal",
            Self::NoTolerance => "no_tolerance",
            Self::StrengthNotFound => "strength_not_found",
            Self::OutsideTolerance => "outside_tolerance",
            Self::TooFewObjects => "too_few_objects",
            Self::VisualChangeUnknown => "visual_change_unknown",
            Self::UnsupportedAnswer => "unsupported_answer",
        }
    }

    /// The reason with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// Whether the trial should have been evidence and something failed: an image, the target, the
    /// measurement. Verdicts put up with few of these. All other reasons are limits that the
    /// campaign draws itself, such as a guard, so that rates speak of what is within them.
    pub fn is_loss(self) -> bool {
        match self {
            Self::CaseUnreadable
            | Self::GoldenFailed
            | Self::GoldenNotFinite
            | Self::GoldenUnstable
            | Self::NoResponse
            | Self::NoLabel
            | Self::NoSite
            | Self::VisualChangeUnknown
            | Self::UnsupportedAnswer => true,
            Self::GoldenEmpty
            | Self::GoldenWrong
            | Self::NoObject
            | Self::NoRoom
            | Self::NoAttackGoal
            | Self::NoTolerance
            | Self::StrengthNotFound
            | Self::OutsideTolerance
            | Self::TooFewObjects => false,
        }
    }

    /// Whether the trial was skipped because nothing was left for it to do. Such a trial is no
    /// loss of evidence, so reports count it apart from the others.
    pub fn is_surplus(self) -> bool {
        self == Self::TooFewObjects
    }
}

/// The reason in plain English, as a clause: "skipped: the case has no label".
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CaseUnreadable => "the image of the case cannot be read",
            Self::GoldenFailed => "the target does not answer the undisturbed image",
            Self::GoldenNotFinite => "the undisturbed answer is not finite",
            Self::GoldenEmpty => "the undisturbed answer is empty",
            Self::GoldenWrong => "the undisturbed answer is already wrong",
            Self::GoldenUnstable => "the target gives different answers to the undisturbed image",
            Self::NoResponse => "no answer came back from the target",
            Self::NoLabel => "the case has no label",
            Self::NoSite => "the fault finds nothing to change in the target",
            Self::NoObject => "the object pool has no object of a label that the target finds",
            Self::NoRoom => "the scene leaves no room for the change",
            Self::NoAttackGoal => "the attack has no goal that differs from the undisturbed answer",
            Self::NoTolerance => "it is unknown how much of the fault people tolerate",
            Self::StrengthNotFound => "no strength gives the requested visual change",
            Self::OutsideTolerance => "the change is larger than people tolerate",
            Self::TooFewObjects => "the target finds fewer objects than trials were planned",
            Self::VisualChangeUnknown => "the visual change cannot be measured",
            Self::UnsupportedAnswer => "the oracle cannot judge this kind of answer",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_lead_back_to_the_reason() {
        for reason in Reason::ALL {
            assert_eq!(Reason::from_code(reason.code()), Some(reason));
            let is_snake_case = reason.code().bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(is_snake_case, "{}", reason.code());
        }
        assert_eq!(Reason::from_code("golden wrong"), None);
    }

    #[test]
    fn every_reason_has_words_of_its_own() {
        let words: BTreeSet<String> = Reason::ALL.iter().map(Reason::to_string).collect();
        let codes: BTreeSet<&str> = Reason::ALL.into_iter().map(Reason::code).collect();
        assert_eq!(words.len(), Reason::ALL.len());
        assert_eq!(codes.len(), Reason::ALL.len());
    }
}
