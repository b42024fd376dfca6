use std::str::FromStr;

use crate::error::StatsError;
use crate::special;

/// A measured number that is never shown without its uncertainty.
///
/// A verdict reads `low` and `high`, not `value`: a limit inside the interval is undecided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The point estimate; `None` when there was no observation (`n` is 0). It is an option and
    /// not NaN so that nobody prints, compares or averages a rate that was never measured.
    pub value: Option<f64>,
    /// The lower end of the interval; the smallest possible value when nothing was observed.
    pub low: f64,
    /// The upper end of the interval; the largest possible value when nothing was observed.
    pub high: f64,
    /// How many observations stand behind it: judged trials only, both samples of a difference.
    pub n: u64,
}

impl Estimate {
    /// Half the interval's length: what a stop rule compares with the wanted precision.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether the data are compatible with `truth`; both ends belong to the interval.
    #[must_use]
    pub fn contains(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }
}

/// How often an interval made this way covers the truth. Parsed once, so no method checks again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    confidence: f64,
    z: f64,
}

impl Level {
    /// Checks that the confidence lies strictly between 0 and 1.
    ///
    /// # Errors
    /// [`StatsError::Level`] otherwise, also for NaN and for 95 instead of 0.95.
    pub fn new(confidence: f64) -> Result<Self, StatsError> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(StatsError::Level(confidence.to_string()));
        }
        let z = -special::normal_quantile((1.0 - confidence) / 2.0);
        Ok(Self { confidence, z })
    }

    /// The confidence itself, for labels: 0.95 for a 95% interval.
    #[must_use]
    pub fn confidence(self) -> f64 {
        self.confidence
    }

    /// The share of intervals that may miss, both sides together.
    #[must_use]
    pub fn alpha(self) -> f64 {
        1.0 - self.confidence
    }

    /// The two-sided normal quantile, 1.96 for 95%: called *t* in the fault injection literature.
    #[must_use]
    pub fn z(self) -> f64 {
        self.z
    }
}

impl Default for Level {
    /// 95%, the level of every rate in a report unless another is asked for.
    fn default() -> Self {
        const Z_95: f64 = 1.959_963_984_540_054;
        Self { confidence: 0.95, z: Z_95 }
    }
}

impl FromStr for Level {
    type Err = StatsError;

    /// Reads `0.95` or `95%`.
    fn from_str(text: &str) -> Result<Self, StatsError> {
        let (digits, unit) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent.trim(), 100.0),
            None => (text.trim(), 1.0),
        };
        match digits.parse::<f64>() {
            Ok(number) => Self::new(number / unit),
            Err(_) => Err(StatsError::Level(format!("\"{text}\""))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_from_fractions_and_percents() {
        for text in ["0.95", "95%", " 95 % "] {
            let level: Level = text.parse().unwrap();
            assert!((level.confidence() - 0.95).abs() < 1e-15, "{text}");
            assert!((level.z() - Level::default().z()).abs() < 1e-14, "{text}");
        }
    }

    #[test]
    fn levels_outside_zero_and_one_are_refused() {
        for text in ["0", "1", "95", "100%", "-0.1", "NaN", "inf", "", "%", "high"] {
            assert!(text.parse::<Level>().is_err(), "{text}");
        }
        assert_eq!(
            "95".parse::<Level>().unwrap_err().to_string(),
            "a confidence level lies between 0 and 1, for example 0.95 or 95%, not 95"
        );
    }
}
