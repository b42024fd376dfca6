//! The messages between page and server.

use crate::journal::{Purpose, TimedChoice};
use serde::{Deserialize, Serialize};

/// How far a participant is, as the page shows it. Nothing in it gives away what a picture shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// What comes next.
    pub next: Next,
    /// What people choose between, left and right.
    pub choices: [String; 2],
    /// For how long a picture is shown.
    pub shown_ms: f64,
    /// For how long the noise behind it is shown.
    pub mask_ms: f64,
    /// Pictures of a full batch.
    pub batch: usize,
    /// Pictures of the test.
    pub qualification: usize,
    /// Batches of the study that are done.
    pub rounds: usize,
    /// How many batches there are for this person at most, as far as is known.
    pub of: usize,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Next {
    /// Instructions, and the question whether somebody wants to take part.
    Welcome,
    /// Pictures to show.
    Trials {
        /// The number to answer with.
        batch: u32,
        /// What for.
        purpose: Purpose,
        /// The number of the first picture below; those before it are done.
        first: u32,
        /// Names of the pictures that are left.
        pictures: Vec<String>,
        /// How many the batch has.
        all: usize,
    },
    /// A pause before the next pictures.
    Pause {
        /// What the pictures before it were for.
        after: Purpose,
        /// Whether the test was passed, or must be taken again.
        passed: bool,
    },
    /// Nothing is left to do.
    End {
        /// Whether the test was passed.
        passed: bool,
    },
}

/// The page is about to show a picture.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The number of the batch.
    pub batch: u32,
    /// The number of the picture in it.
    pub trial: u32,
}

/// The page has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The number of the batch.
    pub batch: u32,
    /// The number of the picture in it.
    pub trial: u32,
    /// The choice, and how long it took.
    #[serde(rename = "said")]
    pub answer: TimedChoice,
}

/// An answer is on record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recorded {
    /// The right choice; only in the test.
    pub truth: Option<String>,
}
