use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::proportion::score_ends;

/// Sums over observations that count differently: trials that were drawn more or less often than
/// they occur, or elements that stand for several questions.
///
/// An observation has a value from 0 to 1 (whether it was an event, or the share of events in it)
/// and a weight: how often it occurs over how often it was drawn. With all weights 1 both
/// estimates are [`crate::wilson`]'s.
///
/// ```
/// use faultlens_stats::{Level, Weighted, wilson};
///
/// let mut plain = Weighted::default();
/// for trial in 0..148 {
///     plain.add(1.0, if trial < 15 { 1.0 } else { 0.0 })?;
/// }
/// let (ours, theirs) = (plain.total(Level::default())?, wilson(15, 148, Level::default())?);
/// assert!((ours.low - theirs.low).abs() < 1e-12 && (ours.high - theirs.high).abs() < 1e-12);
/// # Ok::<(), faultlens_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Weighted {
    n: u64,
    /// Observations with a value above 0.
    hits: u64,
    weights: f64,
    squared_weights: f64,
    /// Weight times value.
    events: f64,
    /// Weight squared times value.
    cross: f64,
    /// Weight squared times value squared.
    squared_events: f64,
}

impl Weighted {
    /// Counts one observation.
    ///
    /// # Errors
    /// A weight that is not above 0 and finite, or a value beyond 0 to 1.
    pub fn add(&mut self, weight: f64, value: f64) -> Result<(), StatsError> {
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(StatsError::Weight(weight));
        }
        if !(0.0..=1.0).contains(&value) {
            return Err(StatsError::Probability(value));
        }
        let (event, square) = (weight * value, weight * weight);
        self.n += 1;
        self.hits += u64::from(value > 0.0);
        self.weights += weight;
        self.squared_weights += square;
        self.events += event;
        self.cross += square * value;
        self.squared_events += event * event;
        Ok(())
    }

    /// Counts all observations of another sample, too.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.hits += other.hits;
        self.weights += other.weights;
        self.squared_weights += other.squared_weights;
        self.events += other.events;
        self.cross += other.cross;
        self.squared_events += other.squared_events;
    }

    /// The events alone, each as an observation of its weight that belongs to a part or does not:
    /// merged over all parts, their [`ratio`](Self::ratio) is the share of the events that the
    /// part accounts for. For observations that were events or were not.
    #[must_use]
    pub fn events_of(&self, part: bool) -> Self {
        let value = if part { 1.0 } else { 0.0 };
        Self {
            n: self.hits,
            hits: if part { self.hits } else { 0 },
            weights: self.events,
            squared_weights: self.cross,
            events: value * self.events,
            cross: value * self.cross,
            squared_events: value * self.cross,
        }
    }

    /// How many observations there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Weight times value, summed: the events as they would have occurred.
    #[must_use]
    pub fn events(&self) -> f64 {
        self.events
    }

    /// The rate over everything that was drawn (Horvitz and Thompson 1952): the weighted events
    /// among n. Unbiased where weights are 1 on average, which holds for all that could be drawn
    /// together and for no part of it.
    ///
    /// # Errors
    /// More than 10¹⁰ observations.
    pub fn total(&self, level: Level) -> Result<Estimate, StatsError> {
        let n = self.n as f64;
        let value = self.events / n;
        let variance = (self.squared_events / n - value * value) / n;
        self.estimate(value, variance, level)
    }

    /// The rate in a part of what was drawn: the weighted events among the weights (Hájek 1971).
    /// Chance decides how often a part is drawn, and this does not depend on it.
    ///
    /// # Errors
    /// More than 10¹⁰ observations.
    pub fn ratio(&self, level: Level) -> Result<Estimate, StatsError> {
        let value = self.events / self.weights;
        let spread =
            self.squared_events - 2.0 * value * self.cross + value * value * self.squared_weights;
        self.estimate(value, spread / (self.weights * self.weights), level)
    }

    /// Wilson's interval for as many plain observations as would vary as much. A rate of nothing
    /// or all does not vary; how unlike the weights are says then what the sample is worth
    /// (Kish 1965).
    fn estimate(&self, value: f64, variance: f64, level: Level) -> Result<Estimate, StatsError> {
        if self.n == 0 {
            return Ok(Estimate { value: None, low: 0.0, high: 1.0, n: 0 });
        }
        if self.n > crate::proportion::MOST_TRIALS {
            return Err(StatsError::TooLarge(self.n));
        }
        // Weights of few observations may add up to more than there is.
        let value = value.clamp(0.0, 1.0);
        let plain = value * (1.0 - value);
        let kish = self.weights * self.weights / self.squared_weights;
        // Differences of sums are noise below this; so is what they say of the variance.
        let varies = variance > plain * 1e-12 && plain > 0.0;
        let effective = if varies { plain / variance } else { kish };
        let (low, high) = score_ends(value, effective, level);
        let low = if value == 0.0 { 0.0 } else { low.max(0.0) };
        let high = if value == 1.0 { 1.0 } else { high.min(1.0) };
        Ok(Estimate { value: Some(value), low, high, n: self.n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wilson;

    fn of(observations: &[(f64, f64)]) -> Weighted {
        let mut all = Weighted::default();
        for (weight, value) in observations {
            all.add(*weight, *value).unwrap();
        }
        all
    }

    #[test]
    fn equal_weights_are_plain_counting() {
        for (events, n) in [(0, 7), (3, 7), (7, 7), (1, 1), (40, 1000)] {
            let all: Vec<_> = (0..n).map(|at| (1.0, f64::from(u8::from(at < events)))).collect();
            let plain = wilson(events, n, Level::default()).unwrap();
            for ours in [of(&all).total(Level::default()), of(&all).ratio(Level::default())] {
                let ours = ours.unwrap();
                let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
                assert!(near(ours.low, plain.low) && near(ours.high, plain.high), "{ours:?}");
                assert_eq!((ours.value, ours.n), (plain.value, plain.n));
            }
        }
    }

    #[test]
    fn sums_by_hand() {
        // Two events of weight 1/2, one of 2, and five others of weight 1.
        let mut all = vec![(0.5, 1.0), (0.5, 1.0), (2.0, 1.0)];
        all.extend([(1.0, 0.0); 5]);
        let total = of(&all).total(Level::default()).unwrap();
        assert_eq!(total.value, Some(3.0 / 8.0));
        let ratio = of(&all).ratio(Level::default()).unwrap();
        assert_eq!(ratio.value, Some(3.0 / 8.0));
        // Σw²e = 4.5: the variance is (4.5/8 − 9/64)/8, so 4.444 plain trials vary as much.
        let effective = (3.0 / 8.0 * 5.0 / 8.0) / ((4.5 / 8.0 - 9.0 / 64.0) / 8.0);
        let (low, high) = score_ends(3.0 / 8.0, effective, Level::default());
        assert!((total.low - low).abs() < 1e-12 && (total.high - high).abs() < 1e-12);
        let part = of(&all[2..]).ratio(Level::default()).unwrap();
        assert_eq!(part.value, Some(2.0 / 7.0));
    }

    #[test]
    fn nothing_and_all_are_worth_what_the_weights_leave() {
        let none = of(&[(1.0, 0.0), (3.0, 0.0)]).ratio(Level::default()).unwrap();
        // (1 + 3)² / (1 + 9) = 1.6 observations.
        let (_, high) = score_ends(0.0, 1.6, Level::default());
        assert_eq!((none.value, none.low), (Some(0.0), 0.0));
        assert!((none.high - high).abs() < 1e-12);
        let all = of(&[(1.0, 1.0), (3.0, 1.0)]);
        assert_eq!(all.ratio(Level::default()).unwrap().high, 1.0);
        // More than there is: taken as all.
        assert_eq!(all.total(Level::default()).unwrap().value, Some(1.0));
        assert_eq!(Weighted::default().total(Level::default()).unwrap().value, None);
    }

    #[test]
    fn shares_of_events() {
        let (a, b) = (of(&[(1.0, 1.0), (1.0, 0.0), (0.5, 1.0)]), of(&[(1.0, 1.0), (3.0, 0.0)]));
        let mut all = a.events_of(true);
        all.merge(&b.events_of(false));
        let mut by_hand = of(&[(1.0, 1.0), (0.5, 1.0), (1.0, 0.0)]);
        assert_eq!(all, by_hand);
        assert_eq!(all.ratio(Level::default()).unwrap().value, Some(0.6));
        by_hand.merge(&of(&[(2.0, 1.0)]));
        assert_eq!(by_hand, of(&[(1.0, 1.0), (0.5, 1.0), (1.0, 0.0), (2.0, 1.0)]));
    }

    #[test]
    fn what_is_no_weight_or_share_is_an_error() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Weighted::default().add(weight, 1.0).is_err(), "{weight}");
        }
        assert!(Weighted::default().add(1.0, 1.5).is_err());
    }
}
