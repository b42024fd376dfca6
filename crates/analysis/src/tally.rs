//! Outcomes, counted.

use super::sample::{Sample, Stake};
use super::{Rate, Tally, format};
use faultlens_core::{Outcome, OutcomeKind};
use faultlens_spec::{Campaign, Intervals, Method, RateKind};
use faultlens_stats::{Estimate, StatsError};
use std::collections::BTreeMap;
use std::fmt;

/// How intervals are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Precision {
    pub(super) intervals: Intervals,
    /// Whether a stop rule decided the number of trials. It looks at the widths of intervals, which
    /// leaves their coverage as it is; cells of a campaign then have unlike numbers of trials, and
    /// tests that take these for fixed do not hold.
    pub(super) sequential: bool,
}

impl Precision {
    pub(super) fn of(campaign: &Campaign) -> Self {
        Self { intervals: campaign.intervals, sequential: campaign.stop.is_some() }
    }

    /// The rate; an error where more happened than was tried, which no record says of itself.
    pub(super) fn rate(&self, events: u64, n: u64) -> Result<Rate, StatsError> {
        Ok(rate(events, self.intervals.estimate(events, n)?))
    }
}

/// An estimate with the number of events that it comes from.
pub(super) fn rate(events: u64, Estimate { value, low, high, n }: Estimate) -> Rate {
    Rate { events, n, value, low, high }
}

/// What trials are counted together, which decides how weights correct their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// All that could be drawn, so that weights are 1 on average.
    Whole,
    /// Those that were drawn at some places; how many these are is chance.
    Part,
}

/// "Wilson 95% intervals".
impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = format::limit(self.intervals.level.confidence());
        match self.intervals.method {
            Method::Wilson => write!(f, "Wilson {level} intervals"),
            Method::ClopperPearson => write!(f, "Clopper-Pearson {level} intervals"),
        }
    }
}

/// How many trials ended how.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counts {
    events: RateKind,
    by_kind: [u64; 6],
    skipped: BTreeMap<&'static str, u64>,
    spare: u64,
    judged: Sample,
}

impl Default for Counts {
    fn default() -> Self {
        Self::of_events(RateKind::Of(OutcomeKind::Changed))
    }
}

impl Counts {
    /// Nothing yet; the rate will be that of these events.
    pub(super) fn of_events(events: RateKind) -> Self {
        let (by_kind, skipped) = ([0; 6], BTreeMap::new());
        Self { events, by_kind, skipped, spare: 0, judged: Sample::default() }
    }

    pub(super) fn add(&mut self, outcome: &Outcome, stake: Stake) -> Result<(), StatsError> {
        let kind = outcome.kind();
        self.by_kind[kind as usize] += 1;
        if let Outcome::Skipped(reason) = outcome {
            match reason.is_surplus() {
                true => self.spare += 1,
                false => *self.skipped.entry(reason.text()).or_default() += 1,
            }
            return Ok(());
        }
        self.judged.add(stake, self.events.counts(kind))
    }

    /// Counts what another has counted of the same events, too.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, other) in self.by_kind.iter_mut().zip(other.by_kind) {
            *own += other;
        }
        for (reason, n) in &other.skipped {
            *self.skipped.entry(reason).or_default() += n;
        }
        self.spare += other.spare;
        self.judged.merge(&other.judged);
    }

    pub(super) fn of(&self, kind: OutcomeKind) -> u64 {
        self.by_kind[kind as usize]
    }

    /// Trials that say something.
    pub(super) fn judged(&self) -> &Sample {
        &self.judged
    }

    pub(super) fn changed(&self) -> u64 {
        self.of(OutcomeKind::Changed)
    }

    /// The rate, corrected where trials count differently.
    pub(super) fn rate(&self, precision: &Precision, of: Of) -> Result<Rate, StatsError> {
        self.judged.rate(precision, of)
    }

    pub(super) fn tally(&self, precision: &Precision, of: Of) -> Result<Tally, StatsError> {
        Ok(Tally {
            unchanged: self.of(OutcomeKind::Unchanged),
            changed: self.changed(),
            detected: self.of(OutcomeKind::Detected),
            crashed: self.of(OutcomeKind::Crashed),
            timed_out: self.of(OutcomeKind::TimedOut),
            skipped: self.skipped.iter().map(|(&why, &n)| (why.to_owned(), n)).collect(),
            spare: self.spare,
            rate: self.rate(precision, of)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Reason;
    use faultlens_stats::Level;

    fn precision(confidence: f64) -> Precision {
        let level = Level::new(confidence).unwrap();
        Precision { intervals: Intervals { method: Method::Wilson, level }, sequential: false }
    }

    #[test]
    fn counts_that_no_sample_has_are_an_error() {
        let rate = precision(0.95).rate(2, 1);
        assert_eq!(rate, Err(StatsError::MoreEventsThanTrials { events: 2, n: 1 }));
        assert_eq!(precision(0.95).rate(0, 0).unwrap().value, None);
    }

    #[test]
    fn weights_correct_rates_and_leave_counts() {
        let mut counts = Counts::default();
        for (outcome, weight) in [
            (Outcome::Changed, 0.5),
            (Outcome::Changed, 0.5),
            (Outcome::Unchanged, 2.0),
            (Outcome::Crashed, 1.0),
        ] {
            counts.add(&outcome, Stake { weight, fault: None }).unwrap();
        }
        let rate = |of| counts.rate(&precision(0.95), of).unwrap();
        assert_eq!((rate(Of::Whole).events, rate(Of::Whole).n), (2, 4));
        assert_eq!(rate(Of::Whole).value, Some(1.0 / 4.0));
        assert_eq!(rate(Of::Part).value, Some(1.0 / 4.0));
        counts.add(&Outcome::Unchanged, Stake { weight: 4.0, fault: None }).unwrap();
        assert_eq!(counts.rate(&precision(0.95), Of::Whole).unwrap().value, Some(1.0 / 5.0));
        assert_eq!(counts.rate(&precision(0.95), Of::Part).unwrap().value, Some(1.0 / 8.0));
        assert!(counts.add(&Outcome::Unchanged, Stake { weight: 0.0, fault: None }).is_err());
    }

    #[test]
    fn what_was_not_needed_is_no_loss() {
        let mut counts = Counts::default();
        let reasons = [Reason::TooFewObjects, Reason::NoRoom, Reason::TooFewObjects];
        for outcome in reasons.map(Outcome::Skipped).into_iter().chain([Outcome::Unchanged]) {
            counts.add(&outcome, Stake { weight: 1.0, fault: None }).unwrap();
        }
        let mut both = counts.clone();
        both.merge(&counts);
        let tally = both.tally(&precision(0.95), Of::Whole).unwrap();
        assert_eq!((tally.spare, tally.rate.n, format::skipped(&tally)), (4, 2, 2));
        assert_eq!(format::trials(&tally), 4);
    }

    #[test]
    fn intervals_in_words() {
        assert_eq!(precision(0.95).to_string(), "Wilson 95% intervals");
        assert_eq!(precision(0.999).to_string(), "Wilson 99.9% intervals");
    }
}
