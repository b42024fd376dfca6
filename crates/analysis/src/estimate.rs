//! Rates and means with their intervals: what every analysis of a run yields.

use faultlens_spec::{Campaign, Intervals, Population};
use faultlens_stats::{Crossed, Estimate, MIN_IMAGES, StatsError};
use serde::{Deserialize, Serialize};

/// A rate with its interval. Where trials are weighted, the value is no longer events over n.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// How often it happened.
    pub events: u64,
    /// Among how many.
    pub n: u64,
    /// The rate; `None` where n is 0.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// How many images, or groups of images, it rests on.
    #[serde(default)]
    pub images: u64,
    /// Which images the interval speaks of; these ones where there are too few to say something
    /// about others.
    #[serde(default)]
    pub population: Population,
    /// The interval's ends for these images, where it is known; equal where nothing is chance.
    #[serde(default)]
    pub these_images: Option<[f64; 2]>,
}

impl Default for Rate {
    /// Nothing is known.
    fn default() -> Self {
        Self {
            events: 0,
            n: 0,
            value: None,
            low: 0.0,
            high: 1.0,
            images: 0,
            population: Population::default(),
            these_images: None,
        }
    }
}

impl Rate {
    /// An estimate with the number of events that it comes from.
    pub(crate) fn new(events: u64, estimate: Estimate) -> Self {
        let Estimate { value, low, high, n } = estimate;
        Self { events, n, value, low, high, ..Self::default() }
    }

    /// The rate of trials that are counted by image and by permanent fault, with the interval of the
    /// population that is asked for.
    pub fn of_trials(
        trials: &Crossed,
        events: u64,
        intervals: &Intervals,
    ) -> Result<Self, StatsError> {
        let these = trials.of_these(intervals.formula(), intervals.level)?;
        let new = trials.estimate(intervals.formula(), intervals.level)?;
        let images = trials.first().len();
        let these_images = these.value.map(|_| [these.low, these.high]);
        let precision = Precision { intervals: *intervals, sequential: false };
        Ok(precision.shown(Self { images, these_images, ..Self::new(events, new) }))
    }

    /// Whether chance has no part in it: about these images, without anything drawn.
    pub fn is_exact(&self) -> bool {
        self.population == Population::TheseImages && self.n > 0 && self.low == self.high
    }
}

/// A mean with its interval, which speaks of new images where images were resampled or averaged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean; `None` where n is 0.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// The number of observations.
    pub n: u64,
}

impl From<Estimate> for Mean {
    fn from(estimate: Estimate) -> Self {
        let Estimate { value, low, high, n } = estimate;
        Self { value, low, high, n }
    }
}

/// The plain mean of the known values; `None` where none is known.
pub(crate) fn mean_of_known(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// How intervals are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Precision {
    pub(crate) intervals: Intervals,
    /// Whether a stop rule decided the number of trials. It looks at the widths of intervals, which
    /// leaves their coverage as it is; cells of a campaign then have unlike numbers of trials, and
    /// tests that take these for fixed do not hold.
    pub(crate) sequential: bool,
}

impl Precision {
    pub(crate) fn of(campaign: &Campaign) -> Self {
        Self { intervals: campaign.intervals, sequential: campaign.stop.is_some() }
    }

    /// The rate among images that count once each, without chance of their own, such as clean
    /// predictions; an error where there are more events than images, which only damaged records
    /// have.
    pub(crate) fn rate(&self, events: u64, n: u64) -> Result<Rate, StatsError> {
        let rate = Rate::new(events, self.intervals.estimate(events, n)?);
        let exact = rate.value.map(|value| [value, value]);
        Ok(self.shown(Rate { images: n, these_images: exact, ..rate }))
    }

    /// The rate with the interval of the population that it is to speak of: these images where that
    /// is asked for, or where there are too few to say something about others.
    pub(crate) fn shown(&self, rate: Rate) -> Rate {
        let about_these = self.intervals.population == Population::TheseImages;
        match rate.these_images {
            Some([low, high]) if about_these || rate.images < MIN_IMAGES => {
                Rate { low, high, population: Population::TheseImages, ..rate }
            }
            _ => rate,
        }
    }

    /// The rate of something that was drawn without regard to images, such as elements of a model.
    pub(crate) fn rate_of_draws(&self, events: u64, n: u64) -> Result<Rate, StatsError> {
        Ok(Rate::new(events, self.intervals.estimate(events, n)?))
    }

    /// The rate among images for which something is known; `None` where that is nobody.
    pub(crate) fn known_rate(&self, events: u64, n: u64) -> Result<Option<Rate>, StatsError> {
        if n == 0 {
            return Ok(None);
        }
        self.rate(events, n).map(Some)
    }
}

/// Which trials a rate is over; this decides how weights correct it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All trials that could be drawn, so that their weights are 1 on average: the
    /// Horvitz-Thompson estimator applies.
    Whole,
    /// The trials that were drawn at some locations. How many these are is chance, so that a ratio
    /// of weighted sums estimates their rate.
    Part,
}

#[cfg(test)]
impl Precision {
    /// Wilson 95% intervals over a fixed number of trials.
    pub(crate) fn wilson() -> Self {
        Self { intervals: Intervals::default(), sequential: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_no_sample_has_are_an_error() {
        let precision = Precision::wilson();
        let rate = precision.rate(2, 1);
        assert_eq!(rate, Err(StatsError::MoreEventsThanTrials { events: 2, n: 1 }));
        assert_eq!(precision.rate(0, 0).unwrap().value, None);
        assert_eq!(precision.known_rate(0, 0).unwrap(), None);
    }
}
