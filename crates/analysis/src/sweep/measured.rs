//! A measured number with its interval.

use faultlens_stats::Estimate;
use serde::Serialize;

/// A number with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The number; `None` where it is unknown or infinite.
    pub value: Option<f64>,
    /// The lower end.
    pub low: f64,
    /// The upper end; `None` where nothing bounds it.
    pub high: Option<f64>,
    /// How many observations stand behind it.
    pub n: u64,
}

impl Measured {
    pub(super) fn of(estimate: &Estimate) -> Self {
        let finite = |value: f64| value.is_finite().then_some(value);
        Self {
            value: estimate.value.and_then(finite),
            low: estimate.low,
            high: finite(estimate.high),
            n: estimate.n,
        }
    }
}
