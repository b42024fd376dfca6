//! Counts of trials, by everything that decides what a protection does to them.

use faultlens_analysis::Rate;
use faultlens_core::OutcomeKind;
use faultlens_spec::Intervals;
use faultlens_stats::{Crossed, StatsError};
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

/// How a trial counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    /// The image, or the group of images that count as one.
    pub(super) image: u64,
    /// The permanent fault that it shares with trials of other images.
    pub(super) fault: Option<u64>,
    /// The inverse of how much more often its location was drawn than it occurs.
    pub(super) weight: f64,
}

/// Trials by what they have in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tallies<K> {
    by_key: BTreeMap<K, Crossed>,
}

impl<K> Default for Tallies<K> {
    fn default() -> Self {
        Self { by_key: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Tallies<K> {
    pub(super) fn add(&mut self, key: K, draw: Draw) -> Result<(), StatsError> {
        let Draw { image, fault, weight } = draw;
        self.by_key.entry(key).or_default().add(image, fault, weight, true)
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.join_by(other, K::clone);
    }

    /// Counts the trials of another, by what becomes of their keys.
    pub(super) fn join_by<L: Ord>(&mut self, other: &Tallies<L>, key: impl Fn(&L) -> K) {
        for (old, trials) in &other.by_key {
            self.by_key.entry(key(old)).or_default().merge(trials);
        }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.by_key.keys()
    }

    /// The number of trials for which `is` holds.
    pub(super) fn trials(&self, is: impl Fn(&K) -> bool) -> u64 {
        self.by_key.iter().filter(|(key, _)| is(key)).map(|(_, trials)| trials.n()).sum()
    }

    /// The total weight of the trials for which `is` holds.
    pub(super) fn weight(&self, is: impl Fn(&K) -> bool) -> f64 {
        self.by_key.iter().filter(|(key, _)| is(key)).map(|(_, trials)| trials.weights()).sum()
    }

    /// The trials for which `among` holds; those for which `is` does are events.
    pub(super) fn events(&self, is: impl Fn(&K) -> bool, among: impl Fn(&K) -> bool) -> Crossed {
        let mut events = Crossed::default();
        for (key, trials) in self.by_key.iter().filter(|(key, _)| among(key)) {
            events.merge(&trials.all_as(is(key)));
        }
        events
    }

    /// The share of trials for which `is` holds, of those for which `among` does.
    pub(super) fn rate(
        &self,
        is: impl Fn(&K) -> bool,
        among: impl Fn(&K) -> bool,
        intervals: &Intervals,
    ) -> Result<Rate, StatsError> {
        let events = self.trials(|key| among(key) && is(key));
        Rate::of_trials(&self.events(is, among), events, intervals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_spec::Population;
    use faultlens_stats::{Level, wilson};

    fn tallies(all: &[(bool, f64, u64)]) -> Tallies<bool> {
        let mut tallies = Tallies::default();
        let mut image = 0;
        for (key, weight, n) in all {
            for _ in 0..*n {
                tallies.add(*key, Draw { image, fault: None, weight: *weight }).unwrap();
                image += 1;
            }
        }
        tallies
    }

    fn rate(tallies: &Tallies<bool>) -> Rate {
        tallies.rate(|key| *key, |_| true, &Intervals::default()).unwrap()
    }

    #[test]
    fn weights_of_one_count_trials_and_others_their_weight() {
        let found = rate(&tallies(&[(true, 1.0, 3), (false, 1.0, 17)]));
        let plain = wilson(3, 20, Level::default()).unwrap();
        assert_eq!(found.value, plain.value);
        // By image the variance has Bessel's correction.
        assert!((found.low - plain.low).abs() < 0.01 && (found.high - plain.high).abs() < 0.01);
        // Ten trials that count a tenth stand for one.
        let found = rate(&tallies(&[(true, 0.1, 10), (false, 1.0, 10)]));
        assert!((found.value.unwrap() - 1.0 / 11.0).abs() < 1e-12);
        assert_eq!((found.events, found.n), (10, 20));
        assert_eq!(rate(&Tallies::default()).value, None);
    }

    /// Five of twenty images always break: a thousand trials say no more than twenty.
    #[test]
    fn images_are_the_sample() {
        let mut all = Tallies::default();
        for trial in 0..1000 {
            let draw = Draw { image: trial % 20, fault: None, weight: 1.0 };
            all.add(trial % 4 == 0, draw).unwrap();
        }
        let found = rate(&all);
        let twenty = wilson(5, 20, Level::default()).unwrap();
        assert_eq!((found.population, found.images, found.n), (Population::NewImages, 20, 1000));
        assert!(found.high >= twenty.high && found.low <= twenty.low, "{found:?} {twenty:?}");
        let [low, high] = found.these_images.unwrap();
        let thousand = wilson(250, 1000, Level::default()).unwrap();
        assert!((low - thousand.low).abs() < 1e-3 && (high - thousand.high).abs() < 1e-3);
    }

    /// Two of ten permanent faults break every image: ten faults say so much, and no more.
    #[test]
    fn permanent_faults_are_a_sample_too() {
        let mut all = Tallies::default();
        for trial in 0..1000 {
            let draw = Draw { image: trial / 10, fault: Some(trial % 10), weight: 1.0 };
            all.add(trial % 10 < 2, draw).unwrap();
        }
        let found = rate(&all);
        let ten = wilson(2, 10, Level::default()).unwrap();
        assert!(found.high >= ten.high - 1e-9 && found.low <= ten.low + 1e-9, "{found:?} {ten:?}");
    }
}
