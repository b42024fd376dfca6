use thiserror::Error;

use super::bins::MORE_THAN;
use crate::error::StatsError;
use crate::spline::{FEWEST_POINTS, SplineError};

/// Why there is no threshold.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ThresholdError {
    /// A visual change that cannot be.
    #[error("a visual change lies between 0 and 1, not {0}")]
    VisualChange(f64),
    /// A rate that cannot be.
    #[error("a rate lies between 0 and 1, not {0}")]
    Rate(f64),
    /// A bin that is none of the hundredths, comes twice, or has more hits than answers.
    #[error("the bin at {hundredths}/100 {why}")]
    Bin {
        /// Its upper edge.
        hundredths: u8,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Too few bins have enough answers for a curve.
    #[error(
        "{kept} of {bins} bins of visual change hold more than {MORE_THAN} answers, and a curve \
         needs {FEWEST_POINTS}; ask more people, or about more images"
    )]
    TooFewBins {
        /// Bins with enough answers.
        kept: usize,
        /// Bins with any answers.
        bins: usize,
    },
    /// Nobody was asked about the originals, so that there is nothing to drop from.
    #[error("there are no answers on originals")]
    NoOriginals,
    /// The curve.
    #[error(transparent)]
    Spline(#[from] SplineError),
    /// A test.
    #[error(transparent)]
    Stats(#[from] StatsError),
}
