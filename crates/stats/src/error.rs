use std::error::Error;
use std::fmt;

/// Why no estimate could be made. Every variant is a mistake in the question, never in the data's
/// luck: a rate that happens to be 0 or 1 always has an interval.
#[derive(Debug, Clone, PartialEq)]
pub enum StatsError {
    /// A level of 0 or 1 has no finite interval, and 95 is most likely meant as 95%.
    Level(String),
    /// The counts were swapped or taken from different trials.
    MoreEventsThanTrials {
        /// The trials that counted as events.
        events: u64,
        /// All judged trials.
        n: u64,
    },
    /// Beyond ten thousand million trials the ends of an interval would lose digits in silence.
    TooLarge(u64),
    /// A margin or half-width that no interval of a rate can have.
    HalfWidth(f64),
    /// A number that should have been a probability.
    Probability(f64),
    /// A trial that counts for nothing, for less, or for everything.
    Weight(f64),
    /// There is nothing to resample.
    Empty,
    /// Fewer resamples than the wanted tails need.
    TooFewResamples {
        /// How many were asked for.
        resamples: usize,
        /// How many put at least one resample into each tail.
        needed: usize,
    },
    /// The statistic was NaN or infinite, so its distribution has no quantiles.
    NotFinite(f64),
    /// Every resample lies on one side of the estimate, so BCa's bias correction is infinite.
    OneSided,
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level(value) => write!(
                f,
                "a confidence level lies between 0 and 1, for example 0.95 or 95%, not {value}"
            ),
            Self::MoreEventsThanTrials { events, n } => {
                write!(f, "{events} events were counted in only {n} trials")
            }
            Self::TooLarge(value) => write!(
                f,
                "a sample of {value} is too large; intervals are accurate up to 10000000000 trials"
            ),
            Self::HalfWidth(value) => {
                write!(f, "a half-width lies above 0 and below 0.5, not {value}")
            }
            Self::Probability(value) => {
                write!(f, "a probability lies between 0 and 1, not {value}")
            }
            Self::Weight(value) => write!(f, "a weight is a finite number above 0, not {value}"),
            Self::Empty => f.write_str("no observations to resample; at least one is needed"),
            Self::TooFewResamples { resamples, needed } => write!(
                f,
                "{resamples} resamples say nothing about the tails; use at least {needed}"
            ),
            Self::NotFinite(value) => {
                write!(f, "the statistic is {value} on a resample; it must be finite on every one")
            }
            Self::OneSided => f.write_str(
                "all resamples lie on one side of the estimate; use the percentile interval",
            ),
        }
    }
}

impl Error for StatsError {}
