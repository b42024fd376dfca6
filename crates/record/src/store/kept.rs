//! What a run keeps beside its records.

use std::collections::BTreeMap;

/// A case as a run met it, so that reports need not open the data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRecord {
    /// Its place in the campaign's sample.
    pub case: u32,
    /// Its name in the data set. From outside; escape it.
    pub name: String,
    /// Its class, where it is known. From outside; escape it.
    pub label: Option<String>,
    /// What it has in common with others, by name of the stratum. From outside; escape it.
    pub strata: BTreeMap<String, String>,
    /// The image's width in pixels; 0 where it cannot be read.
    pub width: u32,
    /// The image's height in pixels; 0 where it cannot be read.
    pub height: u32,
    /// Tells whether another image has the same pixels.
    pub digest: Option<u64>,
    /// Why the image cannot be read.
    pub error: Option<String>,
}

impl CaseRecord {
    /// A number for the cases that count as one: those with the same of a stratum, such as the
    /// frames of a video, or the case alone.
    pub fn cluster(&self, stratum: Option<&str>) -> u64 {
        let Some(group) = stratum.and_then(|name| self.strata.get(name)) else {
            return u64::from(self.case);
        };
        // FNV-1a; the highest bit tells groups from single cases.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in group.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash | 1 << 63
    }
}

/// A trial worth looking at, with all that a report shows of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleRecord {
    /// The trial's place in the plan.
    pub number: u64,
    /// The undisturbed answer, best first: label and score.
    pub golden: Vec<(String, f64)>,
    /// The answer under the fault, best first; a score that is no number is `None`.
    pub observed: Vec<(String, Option<f64>)>,
    /// The image as it was shown undisturbed: a path below the run directory.
    pub before: Option<String>,
    /// The image with the fault: a path below the run directory.
    pub after: Option<String>,
}

/// A picture of what a target sees or answers, for the reports' gallery.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PictureRecord {
    /// The target, by its place in the campaign.
    pub target: u32,
    /// The case, by its place in the sample.
    pub case: u32,
    /// What the picture is of.
    pub of: PictureOf,
    /// A path below the run directory, to a PNG.
    pub path: String,
}

/// What a picture is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PictureOf {
    /// The image that was shown.
    Case,
    /// The undisturbed answer.
    Golden,
    /// The undisturbed answer, as a trial of a fault lets it be seen: what is gone stands out.
    Before(u32),
    /// The answer under a fault, by its place among the fault points.
    Fault(u32),
}

impl PictureOf {
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Case => -2,
            Self::Golden => -1,
            Self::Before(fault) => -3 - i64::from(fault),
            Self::Fault(fault) => fault.into(),
        }
    }

    pub(super) fn from_number(number: i64) -> Self {
        match u32::try_from(number) {
            Ok(fault) => Self::Fault(fault),
            Err(_) if number == -1 => Self::Golden,
            Err(_) => match u32::try_from(-3 - number) {
                Ok(fault) => Self::Before(fault),
                Err(_) => Self::Case,
            },
        }
    }
}

/// A pinned trial, replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinRecord {
    /// The pin's name.
    pub name: String,
    /// Fault, case and target in words.
    pub what: String,
    /// The outcome's name.
    pub outcome: String,
    /// Why it has that outcome, where that needs saying.
    pub reason: Option<String>,
}
