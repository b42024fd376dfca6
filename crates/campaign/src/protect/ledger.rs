//! Trials, counted by all that decides what a protection makes of them.

use crate::analysis::Rate;
use crate::config::Intervals;
use faultlens_core::OutcomeKind;
use faultlens_stats::StatsError;
use std::collections::BTreeMap;

/// What decides what protections make of a trial.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    /// The outcome on record.
    pub(super) before: OutcomeKind,
    /// The outcome with clipped values, where that was run.
    pub(super) clipped: Option<OutcomeKind>,
    /// Layers in which the fault changed what is computed, in this inference only; rising.
    pub(super) computed: Vec<u32>,
    /// Layers whose weights the fault changed; rising.
    pub(super) stored: Vec<u32>,
}

impl Kind {
    /// Whether the answer broke without protection.
    pub(super) fn is_broken(&self) -> bool {
        self.before == OutcomeKind::Deviated
    }

    /// Whether the fault changed something in this layer.
    pub(super) fn hits(&self, layer: u32) -> bool {
        self.computed.contains(&layer) || self.stored.contains(&layer)
    }
}

/// How many trials, and how much they count.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Count {
    pub(super) trials: u64,
    pub(super) weight: f64,
    squares: f64,
}

impl Count {
    /// One trial that counts so much.
    pub(super) fn one(weight: f64) -> Self {
        Self { trials: 1, weight, squares: weight * weight }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.trials += other.trials;
        self.weight += other.weight;
        self.squares += other.squares;
    }

    /// How many trials of equal weight would say as much (Kish), of each that one counts here.
    fn scale(self) -> f64 {
        if self.squares > 0.0 { self.weight / self.squares } else { 1.0 }
    }

    /// How many trials of equal weight stand for these, among all of `whole`.
    pub(super) fn effective(self, whole: Self) -> u64 {
        (self.weight * whole.scale()).round() as u64
    }

    /// The share of `whole` that these are.
    pub(super) fn rate(self, whole: Self, intervals: &Intervals) -> Result<Rate, StatsError> {
        let n = whole.effective(whole).max(self.effective(whole));
        let estimate = intervals.estimate(self.effective(whole), n)?;
        let value = (whole.weight > 0.0).then(|| self.weight / whole.weight);
        let within = |end: f64, pick: fn(f64, f64) -> f64| value.map_or(end, |v| pick(end, v));
        Ok(Rate {
            events: self.trials,
            n: whole.trials,
            value,
            low: within(estimate.low, f64::min),
            high: within(estimate.high, f64::max),
        })
    }
}

/// All trials of some cases.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ledger(pub(super) BTreeMap<Kind, Count>);

impl Ledger {
    pub(super) fn add(&mut self, kind: Kind, count: Count) {
        self.0.entry(kind).or_default().add(count);
    }

    pub(super) fn join(&mut self, other: Self) {
        other.0.into_iter().for_each(|(kind, count)| self.add(kind, count));
    }

    /// The trials that a question is answered with yes for.
    pub(super) fn sum(&self, is: impl Fn(&Kind) -> bool) -> Count {
        let mut sum = Count::default();
        self.0.iter().filter(|(kind, _)| is(kind)).for_each(|(_, count)| sum.add(*count));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Method;
    use faultlens_stats::{Level, wilson};

    #[test]
    fn weights_of_one_count_trials_and_others_their_weight() {
        let intervals = Intervals { method: Method::Wilson, level: Level::default() };
        let some = |n: u32, weight: f64| {
            let mut count = Count::default();
            (0..n).for_each(|_| count.add(Count::one(weight)));
            count
        };
        let rate = some(3, 1.0).rate(some(20, 1.0), &intervals).unwrap();
        let plain = wilson(3, 20, Level::default()).unwrap();
        assert_eq!((rate.value, rate.low, rate.high), (plain.value, plain.low, plain.high));
        // Ten trials that count a tenth stand for one.
        let mut whole = some(10, 0.1);
        whole.add(some(10, 1.0));
        let rate = some(10, 0.1).rate(whole, &intervals).unwrap();
        assert!((rate.value.unwrap() - 1.0 / 11.0).abs() < 1e-12);
        assert_eq!((rate.events, rate.n), (10, 20));
        // (10 + 1)² / (10 + 0.1) trials of equal weight.
        assert_eq!(whole.effective(whole), 12);
        assert_eq!(Count::default().rate(Count::default(), &intervals).unwrap().value, None);
    }
}
