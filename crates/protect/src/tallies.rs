//! Counts of trials, by everything that decides what a protection does to them.

use faultlens_analysis::Rate;
use faultlens_core::OutcomeKind;
use faultlens_spec::Intervals;
use faultlens_stats::{StatsError, Weighted};
use std::collections::BTreeMap;

/// Everything about a trial that decides what protections do to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TrialKind {
    /// The outcome on record.
    pub(super) before: OutcomeKind,
    /// The outcome with clipped values, where that was run.
    pub(super) clipped: Option<OutcomeKind>,
    /// Layers in which the fault changed what is computed, in this inference only; rising.
    pub(super) computed: Vec<u32>,
    /// Layers whose weights the fault changed; rising.
    pub(super) stored: Vec<u32>,
}

impl TrialKind {
    /// Whether the answer broke without protection.
    pub(super) fn is_broken(&self) -> bool {
        self.before == OutcomeKind::Changed
    }

    /// Whether the fault changed something in this layer.
    pub(super) fn hits(&self, layer: u32) -> bool {
        self.computed.contains(&layer) || self.stored.contains(&layer)
    }
}

/// All trials of some cases.
pub(super) type TrialTallies = Tallies<TrialKind>;

/// Trials by what they have in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tallies<K> {
    /// Of each key all trials, as events of their weight.
    by_key: BTreeMap<K, Weighted>,
    /// Whether some trial counts for more or less than one.
    uneven: bool,
}

impl<K> Default for Tallies<K> {
    fn default() -> Self {
        Self { by_key: BTreeMap::new(), uneven: false }
    }
}

impl<K: Ord + Clone> Tallies<K> {
    /// Counts a trial that counts so much.
    pub(super) fn add(&mut self, key: K, weight: f64) -> Result<(), StatsError> {
        self.uneven |= weight != 1.0;
        self.by_key.entry(key).or_default().add(weight, true)
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.join_by(other, K::clone);
    }

    /// Counts the trials of another, by what becomes of their keys.
    pub(super) fn join_by<L: Ord>(&mut self, other: &Tallies<L>, key: impl Fn(&L) -> K) {
        self.uneven |= other.uneven;
        for (old, sums) in &other.by_key {
            self.by_key.entry(key(old)).or_default().merge(sums);
        }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.by_key.keys()
    }

    /// Whether trials count differently.
    pub(super) fn is_uneven(&self) -> bool {
        self.uneven
    }

    /// The number of trials for which `is` holds.
    pub(super) fn trials(&self, is: impl Fn(&K) -> bool) -> u64 {
        self.by_key.iter().filter(|(key, _)| is(key)).map(|(_, sums)| sums.n()).sum()
    }

    /// The total weight of the trials for which `is` holds.
    pub(super) fn weight(&self, is: impl Fn(&K) -> bool) -> f64 {
        self.by_key.iter().filter(|(key, _)| is(key)).map(|(_, sums)| sums.events()).sum()
    }

    /// The share of trials for which `is` holds, of those for which `among` does.
    pub(super) fn rate(
        &self,
        is: impl Fn(&K) -> bool,
        among: impl Fn(&K) -> bool,
        intervals: &Intervals,
    ) -> Result<Rate, StatsError> {
        let mut sums = Weighted::default();
        for (key, own) in self.by_key.iter().filter(|(key, _)| among(key)) {
            sums.merge(&own.events_of(is(key)));
        }
        let events = self.trials(|key| among(key) && is(key));
        let estimate = if self.uneven {
            sums.ratio(intervals.level)?
        } else {
            intervals.estimate(events, sums.n())?
        };
        Ok(Rate {
            events,
            n: estimate.n,
            value: estimate.value,
            low: estimate.low,
            high: estimate.high,
            ..Rate::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_stats::{Level, wilson};

    #[test]
    fn weights_of_one_count_trials_and_others_their_weight() {
        let intervals = Intervals::default();
        let of = |all: &[(bool, f64, u32)]| {
            let mut tallies = Tallies::default();
            for (key, weight, n) in all {
                (0..*n).for_each(|_| tallies.add(*key, *weight).unwrap());
            }
            tallies
        };
        let rate = |tallies: &Tallies<bool>| tallies.rate(|key| *key, |_| true, &intervals);
        let even = of(&[(true, 1.0, 3), (false, 1.0, 17)]);
        let found = rate(&even).unwrap();
        let plain = wilson(3, 20, Level::default()).unwrap();
        assert_eq!((found.value, found.low, found.high), (plain.value, plain.low, plain.high));
        // Ten trials that count a tenth stand for one.
        let uneven = of(&[(true, 0.1, 10), (false, 1.0, 10)]);
        let found = rate(&uneven).unwrap();
        assert!((found.value.unwrap() - 1.0 / 11.0).abs() < 1e-12);
        assert_eq!((found.events, found.n, uneven.is_uneven()), (10, 20, true));
        assert_eq!(rate(&Tallies::default()).unwrap().value, None);
    }
}
