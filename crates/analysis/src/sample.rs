//! Judged trials with their weights: the sample that a rate is estimated from.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use faultlens_record::Record;
use faultlens_stats::{Clustered, Crossed, Estimate, StatsError, Stratified, Weighted};
use std::collections::BTreeMap;

/// How much a trial counts, what of it was drawn, and what it shares with others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrialDraw {
    /// The inverse of how much more often its location was drawn than it occurs; 1 without
    /// importance sampling.
    pub(crate) weight: f64,
    /// The image, or the group of images that count as one.
    pub(crate) image: u64,
    /// A number for its target, case and fault: trials of one differ by what was drawn alone.
    pub(crate) stratum: u64,
    /// Whether a repeat could end differently.
    pub(crate) draws: bool,
    /// The permanent fault that it shares with trials of other cases.
    pub(crate) fault: Option<SharedFault>,
}

/// A permanent fault, which every case meets: target, fault point and repeat.
pub(crate) type SharedFault = (u32, u32, u32);

impl TrialDraw {
    pub(crate) fn of(context: &Context, record: &Record) -> Self {
        let shared = context.is_permanent(record.fault);
        Self {
            weight: record.measures.weight.unwrap_or(1.0),
            image: context.image(record.case),
            stratum: stratum(record),
            draws: context.draws(record.fault),
            fault: shared.then_some((record.target, record.fault, record.repeat)),
        }
    }

    /// A number for the permanent fault that it shares with others.
    pub(crate) fn fault_number(&self) -> Option<u64> {
        let (target, fault, repeat) = self.fault?;
        Some(u64::from(target) << 48 ^ u64::from(fault) << 32 ^ u64::from(repeat))
    }

    /// The only trial of an image, whose fault is its own.
    #[cfg(test)]
    pub(crate) fn alone(image: u64) -> Self {
        Self { weight: 1.0, image, stratum: image, draws: true, fault: None }
    }
}

/// Only strata that follow each other are compared, so that numbers need not be unique.
fn stratum(record: &Record) -> u64 {
    let within = u64::from(record.case) << 32 | u64::from(record.fault);
    within ^ u64::from(record.target).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Judged trials, each of which was an event or was not.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sample {
    n: u64,
    events: u64,
    /// Trials by image, and by the permanent fault that some of them share: both are a sample of
    /// what a system will meet.
    clusters: Crossed,
    /// The same on these images, where every trial counts as one and has a fault of its own.
    draws: Stratified,
    /// The same on these images, where trials count differently or share a fault.
    apart: Weighted,
    /// Trials by the permanent fault that they share: together they are one observation of faults,
    /// since all of them say something of the same fault.
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
    pub(crate) fn add(&mut self, trial: TrialDraw, event: bool) -> Result<(), StatsError> {
        let TrialDraw { weight, image, stratum, draws, fault } = trial;
        self.n += 1;
        self.events += u64::from(event);
        self.uneven |= weight != 1.0;
        self.clusters.add(image, trial.fault_number(), weight, event)?;
        self.draws.add(stratum, draws, event);
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
        self.clusters.merge(&other.clusters);
        self.draws.merge(&other.draws);
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

    /// The trials by image.
    pub(crate) fn images(&self) -> &Clustered {
        self.clusters.first()
    }

    /// The trials by image and by permanent fault.
    pub(crate) fn crossed(&self) -> &Crossed {
        &self.clusters
    }

    /// Whether some trials share a permanent fault with those of other images.
    pub(crate) fn is_shared(&self) -> bool {
        !self.together.is_empty()
    }

    /// Whether every trial counts as one and stands for itself, so that counts say all.
    pub(crate) fn is_plain(&self) -> bool {
        !self.uneven && self.together.is_empty()
    }

    /// Whether trials count differently.
    pub(crate) fn is_uneven(&self) -> bool {
        self.uneven
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

    /// The rate, corrected where trials count differently, with the interval of the population that
    /// the precision asks for.
    pub(crate) fn rate(&self, precision: &Precision, scope: Scope) -> Result<Rate, StatsError> {
        let these = self.on_these_images(precision, scope)?;
        let level = precision.intervals.level;
        let new = self.clusters.estimate(precision.intervals.formula(), level)?;
        Ok(precision.shown(self.of_both(&these, &new)))
    }

    /// The rate with ends that a rate among new images exceeds with a chance of at most half of what
    /// the level leaves, however unlike images are: what a verdict needs.
    pub(crate) fn bounds(&self, precision: &Precision, scope: Scope) -> Result<Rate, StatsError> {
        let these = self.on_these_images(precision, scope)?;
        let level = precision.intervals.level;
        let bounds = Estimate {
            value: self.clusters.first().rate(),
            low: self.clusters.lower_bound(level)?,
            high: self.clusters.upper_bound(level)?,
            n: self.n,
        };
        Ok(precision.shown(self.of_both(&these, &bounds)))
    }

    /// What is known of these images and of new ones. Where weights correct a rate, that of new
    /// images is a ratio of sums, and its distances are those from the ratio; rarely drawn strata,
    /// which the other knows of, count for both.
    fn of_both(&self, these: &Estimate, new: &Estimate) -> Rate {
        let mut rate = Rate::new(self.events, *these);
        rate.images = self.images().len();
        rate.these_images = these.value.map(|_| [these.low, these.high]);
        let (Some(value), Some(ratio)) = (these.value, new.value) else { return rate };
        rate.low = new.low;
        rate.high = new.high;
        if self.uneven {
            rate.low = (value - (ratio - new.low).max(value - these.low)).max(0.0);
            rate.high = (value + (new.high - ratio).max(these.high - value)).min(1.0);
        }
        rate
    }

    fn on_these_images(&self, precision: &Precision, scope: Scope) -> Result<Estimate, StatsError> {
        let level = precision.intervals.level;
        if self.is_plain() {
            return self.draws.estimate(precision.intervals.formula(), level);
        }
        let sums = self.sums()?;
        match scope {
            Scope::Whole => sums.total(level),
            Scope::Part => sums.ratio(level),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_spec::{Intervals, Population};
    use faultlens_stats::{Level, clopper_pearson, wilson};

    fn about_these() -> Precision {
        let population = Population::TheseImages;
        let intervals = Intervals { population, ..Intervals::default() };
        Precision { intervals, ..Precision::wilson() }
    }

    #[test]
    fn a_permanent_fault_counts_once_however_many_cases_meet_it() {
        let mut sample = Sample::default();
        for repeat in 0..20 {
            for image in 0..50 {
                let fault = Some((0, 0, repeat));
                let trial = TrialDraw { fault, ..TrialDraw::alone(image) };
                sample.add(trial, repeat < 3).unwrap();
            }
        }
        let faults = wilson(3, 20, Level::default()).unwrap();
        let rate = sample.rate(&about_these(), Scope::Whole).unwrap();
        assert_eq!((rate.events, rate.n, rate.value), (150, 1000, Some(0.15)));
        assert!((rate.low - faults.low).abs() < 1e-12 && (rate.high - faults.high).abs() < 1e-12);
        let new = sample.rate(&Precision::wilson(), Scope::Whole).unwrap();
        assert_eq!((new.population, new.images), (Population::NewImages, 50));
        assert!(new.low <= faults.low && new.high >= faults.high, "{new:?}");
        assert_eq!(sample.fault_rates().unwrap().iter().sum::<f64>(), 3.0);
        let mut twice = sample.clone();
        twice.merge(&sample);
        assert_eq!(twice.rate(&about_these(), Scope::Whole).unwrap().high, rate.high);
        sample.add(TrialDraw::alone(0), false).unwrap();
        assert_eq!((sample.fault_rates(), sample.is_plain()), (None, false));
    }

    /// Forty images, of which ten always change: about these nothing is chance, about others much.
    #[test]
    fn images_are_the_sample() {
        let mut sample = Sample::default();
        for image in 0..40 {
            for _ in 0..30 {
                let trial = TrialDraw { draws: false, ..TrialDraw::alone(image) };
                sample.add(trial, image % 4 == 0).unwrap();
            }
        }
        let these = sample.rate(&about_these(), Scope::Whole).unwrap();
        assert!(these.is_exact() && these.value == Some(0.25), "{these:?}");
        let new = sample.rate(&Precision::wilson(), Scope::Whole).unwrap();
        let forty = wilson(10, 40, Level::default()).unwrap();
        // A quarter of the images makes up most of the variance, which is known less well for it.
        assert!(new.high >= forty.high && new.high - forty.high < 0.03, "{new:?} {forty:?}");
        assert_eq!(new.these_images, Some([0.25, 0.25]));
        let bounds = sample.bounds(&Precision::wilson(), Scope::Whole).unwrap();
        let exact = clopper_pearson(10, 40, Level::default()).unwrap();
        let off = (bounds.high - exact.high).abs() + (bounds.low - exact.low).abs();
        assert!(off < 1e-8, "{bounds:?} {exact:?}");
    }

    #[test]
    fn few_images_say_nothing_about_others() {
        let mut sample = Sample::default();
        for trial in 0..900 {
            sample.add(TrialDraw::alone(trial / 100), trial % 5 == 0).unwrap();
        }
        let rate = sample.rate(&Precision::wilson(), Scope::Whole).unwrap();
        assert_eq!((rate.population, rate.images), (Population::TheseImages, 9));
        sample.add(TrialDraw::alone(9), true).unwrap();
        let rate = sample.rate(&Precision::wilson(), Scope::Whole).unwrap();
        assert_eq!((rate.population, rate.images), (Population::NewImages, 10));
    }
}
