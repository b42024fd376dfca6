use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::proportion::{MAX_TRIALS, check, score_ends};
use std::collections::BTreeMap;

/// Sums over observations that count differently: trials that were drawn more or less often than
/// they occur (importance sampling), or trials that come in bundles of which each has one cause.
///
/// A trial was an event or was not, and has a weight: how often it occurs over how often it was
/// drawn. With all weights 1 and no bundles both estimates are [`crate::wilson`]'s.
///
/// Trials of about the same weight form a stratum. Each has Wilson's interval of its own, for as
/// many plain trials as would vary as much, and their ends together make the ends of the whole
/// (MOVER: Zou and Donner 2008). So a stratum that was drawn rarely and saw no event still
/// widens the interval by what may be hidden in it.
///
/// ```
/// use faultlens_stats::{Level, Weighted, wilson};
///
/// let mut plain = Weighted::default();
/// for trial in 0..148 {
///     plain.add(1.0, trial < 15)?;
/// }
/// let ours = plain.total(Level::default())?;
/// let theirs = wilson(15, 148, Level::default())?;
/// assert!((ours.low - theirs.low).abs() < 1e-12 && (ours.high - theirs.high).abs() < 1e-12);
/// # Ok::<(), faultlens_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weighted {
    /// By the power of two below the weight: trials whose weights differ by more have a variance of
    /// their own.
    strata: BTreeMap<i32, Sums>,
}

/// The observations of a stratum: single trials, or bundles of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    /// Bundles; a single trial is one.
    bundles: u64,
    /// Trials.
    n: u64,
    /// Trials that were events.
    hits: u64,
    /// The bundles' weights: those of their trials, summed.
    weights: f64,
    squared_weights: f64,
    /// The bundles' events, weighted.
    events: f64,
    squared_events: f64,
    /// A bundle's weight times its weighted events.
    cross: f64,
}

impl Sums {
    fn merge(&mut self, other: &Self) {
        self.bundles += other.bundles;
        self.n += other.n;
        self.hits += other.hits;
        self.weights += other.weights;
        self.squared_weights += other.squared_weights;
        self.events += other.events;
        self.squared_events += other.squared_events;
        self.cross += other.cross;
    }

    fn rate(&self) -> f64 {
        (self.events / self.weights).clamp(0.0, 1.0)
    }

    /// The mean weight of a trial.
    fn weight(&self) -> f64 {
        self.weights / self.n as f64
    }

    /// Wilson's ends for as many plain trials as would vary as much. A rate of nothing or all does
    /// not vary; how unlike the bundles' weights are says then what the stratum is worth
    /// (Kish 1965).
    fn ends(&self, level: Level) -> (f64, f64) {
        let rate = self.rate();
        let spread =
            self.squared_events - 2.0 * rate * self.cross + rate * rate * self.squared_weights;
        let variance = spread / (self.weights * self.weights);
        let plain = rate * (1.0 - rate);
        let kish = self.weights * self.weights / self.squared_weights;
        // Differences of sums are noise below this; so is what they say of the variance.
        let varies = variance > plain * 1e-12 && plain > 0.0;
        let effective = if varies { (plain / variance).min(self.n as f64) } else { kish };
        let (low, high) = score_ends(rate, effective, level);
        let low = if rate == 0.0 { 0.0 } else { low };
        (low, if rate == 1.0 { 1.0 } else { high })
    }
}

impl Weighted {
    /// Counts one trial.
    ///
    /// # Errors
    /// A weight that is not above 0 and finite.
    pub fn add(&mut self, weight: f64, event: bool) -> Result<(), StatsError> {
        self.add_bundle(weight, u64::from(event), 1)
    }

    /// Counts trials of one weight that have one cause, such as one fault that all of them met:
    /// together they say no more about other causes than a single one does.
    ///
    /// # Errors
    /// A weight that is not above 0 and finite; more events than trials.
    pub fn add_bundle(&mut self, weight: f64, events: u64, n: u64) -> Result<(), StatsError> {
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(StatsError::Weight(weight));
        }
        check(events, n)?;
        if n == 0 {
            return Ok(());
        }
        let own = weight * n as f64;
        let hits = weight * events as f64;
        // The exponent's bits rather than a logarithm, which platforms round differently.
        let stratum = (weight.to_bits() >> 52) as i32;
        self.strata.entry(stratum).or_default().merge(&Sums {
            bundles: 1,
            n,
            hits: events,
            weights: own,
            squared_weights: own * own,
            events: hits,
            squared_events: hits * hits,
            cross: own * hits,
        });
        Ok(())
    }

    /// Counts all observations of another sample, too.
    pub fn merge(&mut self, other: &Self) {
        for (stratum, sums) in &other.strata {
            self.strata.entry(*stratum).or_default().merge(sums);
        }
    }

    /// The events alone, each as a trial of its weight that belongs to a part or does not: merged
    /// over all parts, their [`ratio`](Self::ratio) is the share of the events that the part
    /// accounts for.
    #[must_use]
    pub fn events_of(&self, part: bool) -> Self {
        let value = if part { 1.0 } else { 0.0 };
        let with_events = self.strata.iter().filter(|(_, sums)| sums.hits > 0);
        Self {
            strata: with_events
                .map(|(stratum, sums)| {
                    (
                        *stratum,
                        Sums {
                            bundles: sums.bundles.min(sums.hits),
                            n: sums.hits,
                            hits: if part { sums.hits } else { 0 },
                            weights: sums.events,
                            squared_weights: sums.squared_events,
                            events: value * sums.events,
                            squared_events: value * sums.squared_events,
                            cross: value * sums.squared_events,
                        },
                    )
                })
                .collect(),
        }
    }

    /// How many trials there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.strata.values().map(|sums| sums.n).sum()
    }

    /// The weights of all events, summed: the events as they would have occurred.
    #[must_use]
    pub fn events(&self) -> f64 {
        self.strata.values().map(|sums| sums.events).sum()
    }

    /// The rate over everything that was drawn (Horvitz and Thompson 1952): the weighted events
    /// among n. Unbiased where weights are 1 on average, which holds for all that could be drawn
    /// together and for no part of it.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn total(&self, level: Level) -> Result<Estimate, StatsError> {
        let n = self.n() as f64;
        let value = self.events() / n;
        let estimate =
            self.estimate(value, n, |sums| sums.weight() * sums.rate() - value, level)?;
        // What occurs and was never drawn: by how much weights fall short of 1 on average, beyond
        // what chance explains.
        let mean = self.strata.values().map(|sums| sums.weights).sum::<f64>() / n;
        let spread = self.drawn(|sums| sums.weight() - mean);
        let missing = (1.0 - mean - level.z() * spread.sqrt()).max(0.0);
        Ok(Estimate { high: (estimate.high + missing).min(1.0), ..estimate })
    }

    /// The rate in a part of what was drawn: the weighted events among the weights (Hájek 1971).
    /// Chance decides how often a part is drawn, and this does not depend on it.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn ratio(&self, level: Level) -> Result<Estimate, StatsError> {
        let weights: f64 = self.strata.values().map(|sums| sums.weights).sum();
        let value = self.events() / weights;
        let mean = weights / self.n() as f64;
        self.estimate(
            value,
            weights,
            |sums: &Sums| sums.weight() * (sums.rate() - value) / mean,
            level,
        )
    }

    /// The variance of a stratum's quantity that comes of how often chance draws which stratum.
    fn drawn(&self, off: impl Fn(&Sums) -> f64) -> f64 {
        let bundles = self.strata.values().map(|sums| sums.bundles).sum::<u64>() as f64;
        let squares = self.strata.values().map(|sums| sums.n as f64 * off(sums).powi(2));
        squares.sum::<f64>() / self.n() as f64 / bundles
    }

    /// The ends of all strata, together with what comes of `off`: how far a trial of a stratum is
    /// expected to lie from the mean of all.
    fn estimate(
        &self,
        value: f64,
        whole: f64,
        off: impl Fn(&Sums) -> f64,
        level: Level,
    ) -> Result<Estimate, StatsError> {
        let n = self.n();
        if n == 0 {
            return Ok(Estimate { value: None, low: 0.0, high: 1.0, n });
        }
        if n > MAX_TRIALS {
            return Err(StatsError::TooLarge(n));
        }
        // MOVER squares and adds the distances of the strata's ends from their rates, as Newcombe does
        // for two samples.
        let between = level.z().powi(2) * self.drawn(off);
        let mut below = between;
        let mut above = between;
        for sums in self.strata.values() {
            let share = sums.weights / whole;
            let rate = sums.rate();
            let (low, high) = sums.ends(level);
            below += (share * (rate - low)).powi(2);
            above += (share * (high - rate)).powi(2);
        }
        // Weights of few trials may add up to more than there is.
        let value = value.clamp(0.0, 1.0);
        let low = (value - below.sqrt()).max(0.0);
        let high = (value + above.sqrt()).min(1.0);
        Ok(Estimate { value: Some(value), low, high, n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wilson;

    fn of(trials: &[(f64, bool)]) -> Weighted {
        let mut all = Weighted::default();
        for (weight, event) in trials {
            all.add(*weight, *event).unwrap();
        }
        all
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn equal_weights_are_plain_counting() {
        for (events, n) in [(0, 7), (3, 7), (7, 7), (1, 1), (40, 1000)] {
            let all: Vec<_> = (0..n).map(|at| (1.0, at < events)).collect();
            let plain = wilson(events, n, Level::default()).unwrap();
            for ours in [of(&all).total(Level::default()), of(&all).ratio(Level::default())] {
                let ours = ours.unwrap();
                assert!(near(ours.low, plain.low) && near(ours.high, plain.high), "{ours:?}");
                assert_eq!((ours.value, ours.n), (plain.value, plain.n));
            }
        }
    }

    /// Ends as computed by hand in 64-bit Python.
    #[test]
    fn sums_by_hand() {
        // Two events of weight 1/2, one of 2, and five others of weight 1.
        let mut all = vec![(0.5, true), (0.5, true), (2.0, true)];
        all.extend([(1.0, false); 5]);
        let total = of(&all).total(Level::default()).unwrap();
        assert_eq!((total.value, total.low), (Some(3.0 / 8.0), 0.0));
        assert!(near(total.high, 0.900_658_795_360_406_5), "{total:?}");
        assert_eq!(of(&all).ratio(Level::default()).unwrap().value, Some(3.0 / 8.0));
        let part = of(&all[2..]).ratio(Level::default()).unwrap();
        assert_eq!(part.value, Some(2.0 / 7.0));
    }

    /// Bundles that differ are worth less than their trials; ends as computed in Python.
    #[test]
    fn bundles_by_hand() {
        let mut all = Weighted::default();
        for (events, n) in [(4, 10), (0, 10), (1, 5)] {
            all.add_bundle(1.0, events, n).unwrap();
        }
        for estimate in [all.total(Level::default()), all.ratio(Level::default())] {
            let estimate = estimate.unwrap();
            assert_eq!((estimate.value, estimate.n), (Some(0.2), 25));
            assert!(near(estimate.low, 0.064_160_253_363_049_59), "{estimate:?}");
            assert!(near(estimate.high, 0.476_884_393_734_043_2), "{estimate:?}");
        }
        let mut none = Weighted::default();
        (0..30).for_each(|_| none.add_bundle(1.0, 0, 50).unwrap());
        let ours = none.total(Level::default()).unwrap();
        let thirty = wilson(0, 30, Level::default()).unwrap();
        assert!(near(ours.high, thirty.high), "thirty faults, not 1,500 trials");
    }

    #[test]
    fn nothing_and_all_are_worth_what_the_weights_leave() {
        let none = of(&[(1.0, false), (1.5, false)]).ratio(Level::default()).unwrap();
        // (1 + 1.5)² / (1 + 2.25) trials of one stratum.
        let (_, high) = score_ends(0.0, 2.5 * 2.5 / 3.25, Level::default());
        assert_eq!((none.value, none.low), (Some(0.0), 0.0));
        assert!((none.high - high).abs() < 1e-12);
        let all = of(&[(1.0, true), (3.0, true)]);
        assert_eq!(all.ratio(Level::default()).unwrap().high, 1.0);
        // More than there is: taken as all.
        assert_eq!(all.total(Level::default()).unwrap().value, Some(1.0));
        assert_eq!(Weighted::default().total(Level::default()).unwrap().value, None);
    }

    #[test]
    fn what_was_never_drawn_may_be_anything() {
        // Half of what occurs was drawn twice as often as it occurs, the other half never.
        let half = of(&[(0.5, false); 100]).total(Level::default()).unwrap();
        assert!((0.5..0.52).contains(&half.high), "{half:?}");
    }

    #[test]
    fn shares_of_events() {
        let a = of(&[(1.0, true), (1.0, false), (0.5, true)]);
        let b = of(&[(1.0, true), (3.0, false)]);
        let mut all = a.events_of(true);
        all.merge(&b.events_of(false));
        let mut by_hand = of(&[(1.0, true), (0.5, true), (1.0, false)]);
        assert_eq!(all, by_hand);
        assert_eq!(all.ratio(Level::default()).unwrap().value, Some(0.6));
        by_hand.merge(&of(&[(2.0, true)]));
        assert_eq!(by_hand, of(&[(1.0, true), (0.5, true), (1.0, false), (2.0, true)]));
    }

    #[test]
    fn what_is_no_weight_or_count_is_an_error() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Weighted::default().add(weight, true).is_err(), "{weight}");
        }
        assert!(Weighted::default().add_bundle(1.0, 3, 2).is_err());
    }
}
