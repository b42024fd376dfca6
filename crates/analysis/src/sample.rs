//! Trials as far as a rate depends on them: how much each counts, and which of them have one
//! fault in common.

use super::tally::{Of, Precision};
use super::{Rate, attribute::Context};
use faultlens_record::Record;
use faultlens_stats::{StatsError, Weighted};
use std::collections::BTreeMap;

/// How a trial counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stake {
    /// 1, but where its place was drawn more or less often than it occurs.
    pub(super) weight: f64,
    /// The fault that it has in common with trials of other cases.
    pub(super) fault: Option<SharedFault>,
}

/// A permanent fault, which every case meets: target, fault point and repeat.
pub(super) type SharedFault = (u32, u32, u32);

impl Stake {
    pub(super) fn of(context: &Context, record: &Record) -> Result<Self, StatsError> {
        let weight = record.measures.weight.unwrap_or(1.0);
        let shared = context.is_permanent(record.fault);
        Ok(Self { weight, fault: shared.then_some((record.target, record.fault, record.repeat)) })
    }
}

/// Judged trials, each of which was an event or was not.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sample {
    n: u64,
    events: u64,
    /// Trials with a fault of their own.
    apart: Weighted,
    /// Trials that have a fault in common say no more about other faults than one of them does.
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
    pub(super) fn add(&mut self, stake: Stake, event: bool) -> Result<(), StatsError> {
        let Stake { weight, fault } = stake;
        self.n += 1;
        self.events += u64::from(event);
        self.uneven |= weight != 1.0;
        let Some(fault) = fault else { return self.apart.add(weight, event) };
        let bundle = self.together.entry(fault).or_insert(Bundle { weight, events: 0, n: 0 });
        // Cases of unlike sizes may let one fault hit places of unlike weights.
        if bundle.weight != weight {
            return Err(StatsError::Weight(weight));
        }
        bundle.events += u64::from(event);
        bundle.n += 1;
        Ok(())
    }

    /// Counts what another has counted of the same events, too.
    pub(super) fn merge(&mut self, other: &Self) {
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
    pub(super) fn n(&self) -> u64 {
        self.n
    }

    /// Trials that were events.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Whether trials count differently.
    pub(super) fn is_uneven(&self) -> bool {
        self.uneven
    }

    /// Whether every trial counts as one and stands for itself, so that counts say all.
    pub(super) fn is_plain(&self) -> bool {
        !self.uneven && self.together.is_empty()
    }

    /// The rate of every permanent fault; `None` where trials have faults of their own.
    pub(super) fn fault_rates(&self) -> Option<Vec<f64>> {
        let rates = self.together.values().map(|bundle| bundle.events as f64 / bundle.n as f64);
        (self.apart.n() == 0 && !self.together.is_empty()).then(|| rates.collect())
    }

    /// All trials, for sums over several samples.
    pub(super) fn sums(&self) -> Result<Weighted, StatsError> {
        let mut sums = self.apart.clone();
        for Bundle { weight, events, n } in self.together.values() {
            sums.add_bundle(*weight, *events, *n)?;
        }
        Ok(sums)
    }

    /// The rate, corrected where trials count differently.
    pub(super) fn rate(&self, precision: &Precision, of: Of) -> Result<Rate, StatsError> {
        if self.is_plain() {
            return precision.rate(self.events, self.n);
        }
        let (sums, level) = (self.sums()?, precision.intervals.level);
        let estimate = match of {
            Of::Whole => sums.total(level)?,
            Of::Part => sums.ratio(level)?,
        };
        Ok(super::tally::rate(self.events, estimate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_spec::{Intervals, Method};
    use faultlens_stats::{Level, wilson};

    const PRECISION: fn() -> Precision = || Precision {
        intervals: Intervals { method: Method::Wilson, level: Level::default() },
        sequential: false,
    };

    #[test]
    fn a_permanent_fault_counts_once_however_many_cases_meet_it() {
        let mut sample = Sample::default();
        for repeat in 0..20 {
            for _case in 0..50 {
                let stake = Stake { weight: 1.0, fault: Some((0, 0, repeat)) };
                sample.add(stake, repeat < 3).unwrap();
            }
        }
        let rate = sample.rate(&PRECISION(), Of::Whole).unwrap();
        assert_eq!((rate.events, rate.n, rate.value), (150, 1000, Some(0.15)));
        let faults = wilson(3, 20, Level::default()).unwrap();
        assert!((rate.low - faults.low).abs() < 1e-12 && (rate.high - faults.high).abs() < 1e-12);
        assert_eq!(sample.fault_rates().unwrap().iter().sum::<f64>(), 3.0);
        let mut twice = sample.clone();
        twice.merge(&sample);
        assert_eq!(twice.rate(&PRECISION(), Of::Whole).unwrap().high, rate.high);
        sample.add(Stake { weight: 1.0, fault: None }, false).unwrap();
        assert_eq!((sample.fault_rates(), sample.is_plain()), (None, false));
    }
}
