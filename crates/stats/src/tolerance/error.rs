use std::error::Error;
use std::fmt;

use crate::error::StatsError;
use crate::spline::{MIN_POINTS, SplineError};

/// A bin of answers is kept if it holds more answers than this: a rate of fewer says too little.
pub const MORE_THAN: u64 = 10;

/// Why there is no threshold.
#[derive(Debug, Clone, PartialEq)]
pub enum ThresholdError {
    /// A visual change that cannot be.
    VisualChange(f64),
    /// A rate that cannot be.
    Rate(f64),
    /// A bin that is none of the hundredths, comes twice, or has more hits than answers.
    Bin {
        /// Its upper edge.
        hundredths: u8,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Too few bins have enough answers for a curve.
    TooFewBins {
        /// Bins with enough answers.
        kept: usize,
        /// Bins with any answers.
        bins: usize,
    },
    /// Nobody was asked about the originals, so that there is nothing to drop from.
    NoOriginals,
    /// The curve.
    Spline(SplineError),
    /// A test.
    Stats(StatsError),
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VisualChange(value) => {
                write!(f, "a visual change lies between 0 and 1, not {value}")
            }
            Self::Rate(value) => write!(f, "a rate lies between 0 and 1, not {value}"),
            Self::Bin { hundredths, why } => write!(f, "the bin at {hundredths}/100 {why}"),
            Self::TooFewBins { kept, bins } => write!(
                f,
                "{kept} of {bins} bins of visual change hold more than {MORE_THAN} answers, and a curve \
                needs {MIN_POINTS}; ask more people, or about more images"
            ),
            Self::NoOriginals => f.write_str("there are no answers on originals"),
            Self::Spline(error) => error.fmt(f),
            Self::Stats(error) => error.fmt(f),
        }
    }
}

impl Error for ThresholdError {}

impl From<SplineError> for ThresholdError {
    fn from(error: SplineError) -> Self {
        Self::Spline(error)
    }
}

impl From<StatsError> for ThresholdError {
    fn from(error: StatsError) -> Self {
        Self::Stats(error)
    }
}
