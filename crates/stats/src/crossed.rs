use crate::clustered::{ClusterSums, Clustered, Formula, corrected, variance, worth};
use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::proportion::check;

/// A rate over trials that share two things at once: an image, and for some of them a permanent
/// fault that other images meet, too. Both are a sample.
///
/// The variance is that by the first, plus that by the second, less that by both together, which was
/// counted twice (Cameron, Gelbach and Miller 2011, J. Bus. Econ. Stat. 29:238–249). Whatever it
/// says, the trials are never worth more than there are faults: with twenty faults drawn, one
/// that nobody drew may break everything.
///
/// Without a trial that shares the second thing this is [`Clustered`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crossed {
    first: Clustered,
    second: Clustered,
    /// Trials that share the second thing with no other.
    alone: Squares,
    /// All trials: no two share both.
    all: Squares,
}

/// Squared weights of trials that are a cluster each.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Squares {
    n: u64,
    events: f64,
    others: f64,
}

impl Squares {
    fn add(&mut self, weight: f64, event: bool) {
        self.n += 1;
        let square = weight * weight;
        if event { self.events += square } else { self.others += square }
    }

    fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.events += other.events;
        self.others += other.others;
    }

    fn all_as(&self, events: bool) -> Self {
        let all = self.events + self.others;
        let [events, others] = if events { [all, 0.0] } else { [0.0, all] };
        Self { n: self.n, events, others }
    }

    /// The squares of what each trial has above a rate, summed.
    fn above(&self, rate: f64) -> f64 {
        self.events * (1.0 - rate).powi(2) + self.others * rate * rate
    }
}

impl Crossed {
    /// Counts one trial of an image; the second is the fault that it shares with other images.
    ///
    /// # Errors
    /// A weight that is not above 0 and finite.
    pub fn add(
        &mut self,
        first: u64,
        second: Option<u64>,
        weight: f64,
        event: bool,
    ) -> Result<(), StatsError> {
        self.first.add(first, weight, event)?;
        match second {
            Some(second) => self.second.add(second, weight, event)?,
            None => self.alone.add(weight, event),
        }
        self.all.add(weight, event);
        Ok(())
    }

    /// Counts all trials of another sample, too.
    pub fn merge(&mut self, other: &Self) {
        self.first.merge(&other.first);
        self.second.merge(&other.second);
        self.alone.merge(&other.alone);
        self.all.merge(&other.all);
    }

    /// How many trials there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.all.n
    }

    /// The trials by the first thing, such as the image.
    #[must_use]
    pub fn first(&self) -> &Clustered {
        &self.first
    }

    /// The trials that share the second thing, by it.
    #[must_use]
    pub fn second(&self) -> &Clustered {
        &self.second
    }

    /// The same trials, all of which were events, or none.
    #[must_use]
    pub fn all_as(&self, events: bool) -> Self {
        Self {
            first: self.first.all_as(events),
            second: self.second.all_as(events),
            alone: self.alone.all_as(events),
            all: self.all.all_as(events),
        }
    }

    /// The rate on these images, with the formula's interval for faults like these: images are no
    /// sample here, so that differences between them widen it rather than narrow it.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn of_these(&self, formula: Formula, level: Level) -> Result<Estimate, StatsError> {
        let n = self.all.n;
        check(0, n)?;
        let Some(rate) = self.first.rate() else {
            return Ok(Estimate { value: None, low: 0.0, high: 1.0, n });
        };
        let faults = self.faults();
        if faults < 2.0 {
            return Ok(Estimate { value: Some(rate), low: 0.0, high: 1.0, n });
        }
        let worth = worth(rate, n as f64, faults, faults, self.by_fault(rate), level).min(faults);
        let (low, high) = formula.ends(rate, worth, level);
        Ok(Estimate { value: Some(rate), low, high, n })
    }

    /// How many faults there are, shared or not.
    fn faults(&self) -> f64 {
        (self.second.len() + self.alone.n) as f64
    }

    /// The variance of a rate from fault to fault.
    fn by_fault(&self, rate: f64) -> f64 {
        let above = |sums: &ClusterSums| (sums.events - rate * sums.weights).powi(2);
        let shared: f64 = self.second.clusters().iter().map(|(_, sums)| above(sums)).sum();
        corrected(shared + self.alone.above(rate), self.faults()) / self.weights().powi(2)
    }

    /// The weights of all trials, summed.
    #[must_use]
    pub fn weights(&self) -> f64 {
        self.first.clusters().iter().map(|(_, sums)| sums.weights).sum()
    }

    /// The rate among images and faults like these, with the formula's interval.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn estimate(&self, formula: Formula, level: Level) -> Result<Estimate, StatsError> {
        if self.second.is_empty() {
            return self.first.estimate(formula, level);
        }
        let n = self.all.n;
        check(0, n)?;
        let Some(rate) = self.first.rate() else {
            return Ok(Estimate { value: None, low: 0.0, high: 1.0, n });
        };
        let images = self.first.clusters();
        let faults = self.faults();
        let fewest = faults.min(images.len() as f64);
        if fewest < 2.0 {
            return Ok(Estimate { value: Some(rate), low: 0.0, high: 1.0, n });
        }
        let by_image = variance(&images, rate);
        let by_fault = self.by_fault(rate);
        let by_both = corrected(self.all.above(rate), n as f64) / self.weights().powi(2);
        // The difference may fall below what either shows alone, and even below 0.
        let variance = (by_image + by_fault - by_both).max(by_image).max(by_fault);
        let worth = worth(rate, n as f64, fewest, fewest, variance, level).min(faults);
        let (low, high) = formula.ends(rate, worth, level);
        Ok(Estimate { value: Some(rate), low, high, n })
    }

    /// A bound that the rate exceeds with a chance of at most half of what the level leaves, also
    /// where a rare kind of image or fault fails always: the highest of the interval's end and of
    /// [`Clustered::upper_bound`] by image and by fault.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn upper_bound(&self, level: Level) -> Result<f64, StatsError> {
        let by_image = self.first.upper_bound(level)?;
        if self.second.is_empty() {
            return Ok(by_image);
        }
        let end = self.estimate(Formula::ClopperPearson, level)?.high;
        Ok(by_image.max(end).max(self.second.upper_bound(level)?))
    }

    /// The counterpart of [`upper_bound`](Self::upper_bound) from below.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn lower_bound(&self, level: Level) -> Result<f64, StatsError> {
        let by_image = self.first.lower_bound(level)?;
        if self.second.is_empty() {
            return Ok(by_image);
        }
        let end = self.estimate(Formula::ClopperPearson, level)?.low;
        Ok(by_image.min(end).min(self.second.lower_bound(level)?))
    }
}
