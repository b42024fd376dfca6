//! Judged trials with their weights: the sample that a rate is estimated from.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use faultlens_record::Record;
use faultlens_stats::{StatsError, Weighted};
use std::collections::BTreeMap;

/// How much a trial counts, and what it shares with others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrialWeight {
    /// The inverse of how much more often its location was drawn than it occurs; 1 without
    /// importance sampling.
    pub(crate) weight: f64,
    /// The permanent fault that it shares with trials of other cases.
    pub(crate) fault: Option<SharedFault>,
}

/// A permanent fault, which every case meets: target, fault point and repeat.
pub(crate) type SharedFault = (u32, u32, u32);

impl TrialWeight {
    pub(crate) fn of(context: &Context, record: &Record) -> Self {
        let shared = context.is_permanent(record.fault);
        Self {
            weight: record.measures.weight.unwrap_or(1.0),
            fault: shared.then_some((record.target, record.fault, record.repeat)),
        }
    }
}

/// Judged trials, each of which was an event or was not.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sample {
    n: u64,
    events: u64,
    /// Trials with a fault of their own.
    apart: Weighted,
    /// Trials by the permanent fault that they share: together they are one observation of faults
    /// (a cluster), since all of them say something of the same fault.
    together: BTreeMap<SharedFault, Bundle>,
    /// Whether some trial counts for more or less than one.
    uneven: bool,
}

/// The trials of one permanent fault.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bundle {
    weight: f64,
    events: u64,
    n: u64,
}

impl Sample {
    pub(crate) fn add(&mut self, trial: TrialWeight, event: bool) -> Result<(), StatsError> {
        let TrialWeight { weight, fault } = trial;
        self.n += 1;
        self.events += u64::from(event);
        self.uneven |= weight != 1.0;
        let Some(fault) = fault else { return self.apart.add(weight, event) };
        let bundle = self.together.entry(fault).or_insert(Bundle { weight, events: 0, n: 0 });
        // The weights of a permanent fault can only differ where cases have unlike sizes.
        if bundle.weight != weight {
            return Err(StatsError::Weight(weight));
        }
        bundle.events += u64::from(event);
        bundle.n += 1;
        Ok(())
    }

    /// Counts what another has counted of the same events, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.events += other.events;
        self.apart.merge(&other.apart);
        for (fault, bundle) in &other.together {
            let own = self.together.entry(*fault).or_insert(Bundle { events: 0, n: 0, ..*bundle });
            own.events += bundle.events;
            own.n += bundle.n;
        }
        self.uneven |= other.uneven;
    }

    /// Trials.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// Trials that were events.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Whether trials count differently.
    pub(crate) fn is_uneven(&self) -> bool {
        self.uneven
    }

    /// Whether every trial counts as one and stands for itself, so that counts say all.
    pub(crate) fn is_plain(&self) -> bool {
        !self.uneven && self.together.is_empty()
    }

    /// The rate of every permanent fault; `None` where trials have faults of their own.
    pub(crate) fn fault_rates(&self) -> Option<Vec<f64>> {
        let rates = self.together.values().map(|bundle| bundle.events as f64 / bundle.n as f64);
        (self.apart.n() == 0 && !self.together.is_empty()).then(|| rates.collect())
    }

    /// All trials, for sums over several samples.
    pub(crate) fn sums(&self) -> Result<Weighted, StatsError> {
        let mut sums = self.apart.clone();
        for Bundle { weight, events, n } in self.together.values() {
            sums.add_bundle(*weight, *events, *n)?;
        }
        Ok(sums)
    }

    /// The rate, corrected where trials count differently.
    pub(crate) fn rate(&self, precision: &Precision, scope: Scope) -> Result<Rate, StatsError> {
        if self.is_plain() {
            return precision.rate(self.events, self.n);
        }
        let sums = self.sums()?;
        let level = precision.intervals.level;
        let estimate = match scope {
            Scope::Whole => sums.total(level)?,
            Scope::Part => sums.ratio(level)?,
        };
        Ok(Rate::new(self.events, estimate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_stats::{Level, wilson};

    #[test]
    fn a_permanent_fault_counts_once_however_many_cases_meet_it() {
        let mut sample = Sample::default();
        for repeat in 0..20 {
            for _case in 0..50 {
                let trial = TrialWeight { weight: 1.0, fault: Some((0, 0, repeat)) };
                sample.add(trial, repeat < 3).unwrap();
            }
        }
        let rate = sample.rate(&Precision::wilson(), Scope::Whole).unwrap();
        assert_eq!((rate.events, rate.n, rate.value), (150, 1000, Some(0.15)));
        let faults = wilson(3, 20, Level::default()).unwrap();
        assert!((rate.low - faults.low).abs() < 1e-12 && (rate.high - faults.high).abs() < 1e-12);
        assert_eq!(sample.fault_rates().unwrap().iter().sum::<f64>(), 3.0);
        let mut twice = sample.clone();
        twice.merge(&sample);
        assert_eq!(twice.rate(&Precision::wilson(), Scope::Whole).unwrap().high, rate.high);
        sample.add(TrialWeight { weight: 1.0, fault: None }, false).unwrap();
        assert_eq!((sample.fault_rates(), sample.is_plain()), (None, false));
    }
}
