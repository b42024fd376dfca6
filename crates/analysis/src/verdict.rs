//! Whether a limit holds.

use serde::Serialize;

/// Whether a limit holds. Sorted from best to worst, so that the worst of several is their maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies within the limit.
    Met,
    /// The interval straddles the limit, or there is no evidence.
    Inconclusive,
    /// The whole interval lies beyond the limit.
    NotMet,
}

impl Verdict {
    /// The verdict in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Inconclusive => "inconclusive",
            Self::NotMet => "not met",
        }
    }
}
