use thiserror::Error;

/// Why no estimate could be made. Every variant is a mistake in the question, never in the data's
/// luck: a rate that happens to be 0 or 1 always has an interval.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StatsError {
    /// A level of 0 or 1 has no finite interval, and 95 is most likely meant as 95%.
    #[error("a confidence level lies between 0 and 1, for example 0.95 or 95%, not {0}")]
    Level(String),
    /// The counts were swapped or taken from different trials.
    #[error("{events} events were counted in only {n} trials")]
    MoreEventsThanTrials {
        /// The trials that counted as events.
        events: u64,
        /// All judged trials.
        n: u64,
    },
    /// Beyond ten thousand million trials the ends of an interval would lose digits in silence.
    #[error("a sample of {0} is too large; intervals are accurate up to 10000000000 trials")]
    TooLarge(u64),
    /// A margin or half-width that no interval of a rate can have.
    #[error("a half-width lies above 0 and below 0.5, not {0}")]
    HalfWidth(f64),
    /// A number that should have been a probability.
    #[error("a probability lies between 0 and 1, not {0}")]
    Probability(f64),
    /// A trial that counts for nothing, for less, or for everything.
    #[error("a weight is a finite number above 0, not {0}")]
    Weight(f64),
    /// There is nothing to resample.
    #[error("no observations to resample; at least one is needed")]
    Empty,
    /// Fewer resamples than the wanted tails need.
    #[error("{resamples} resamples say nothing about the tails; use at least {needed}")]
    TooFewResamples {
        /// How many were asked for.
        resamples: usize,
        /// How many put at least one resample into each tail.
        needed: usize,
    },
    /// The statistic was NaN or infinite, so its distribution has no quantiles.
    #[error("the statistic is {0} on a resample; it must be finite on every one")]
    NotFinite(f64),
    /// Every resample lies on one side of the estimate, so BCa's bias correction is infinite.
    #[error("all resamples lie on one side of the estimate; use the percentile interval")]
    OneSided,
}
