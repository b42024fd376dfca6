//! Outcomes, counted.

use super::{Rate, Tally, words};
use crate::config::{Campaign, Intervals, Method};
use faultlens_core::{Outcome, OutcomeKind};
use faultlens_stats::StatsError;
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
        let estimate = self.intervals.estimate(events, n)?;
        Ok(Rate { events, n, value: estimate.value, low: estimate.low, high: estimate.high })
    }
}

/// "Wilson 95% intervals".
impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = words::limit(self.intervals.level.confidence());
        match self.intervals.method {
            Method::Wilson => write!(f, "Wilson {level} intervals"),
            Method::ClopperPearson => write!(f, "Clopper-Pearson {level} intervals"),
        }
    }
}

/// How many trials ended how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    by_kind: [u64; 6],
    unjudged: BTreeMap<&'static str, u64>,
}

impl Counts {
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.by_kind[outcome.kind() as usize] += 1;
        if let Outcome::Unjudged(reason) = outcome {
            *self.unjudged.entry(reason.text()).or_default() += 1;
        }
    }

    pub(super) fn of(&self, kind: OutcomeKind) -> u64 {
        self.by_kind[kind as usize]
    }

    /// Trials that say something.
    pub(super) fn judged(&self) -> u64 {
        self.by_kind.iter().sum::<u64>() - self.of(OutcomeKind::Unjudged)
    }

    pub(super) fn deviated(&self) -> u64 {
        self.of(OutcomeKind::Deviated)
    }

    pub(super) fn rate(&self, precision: &Precision) -> Result<Rate, StatsError> {
        precision.rate(self.deviated(), self.judged())
    }

    pub(super) fn tally(&self, precision: &Precision) -> Result<Tally, StatsError> {
        Ok(Tally {
            masked: self.of(OutcomeKind::Masked),
            deviated: self.deviated(),
            detected: self.of(OutcomeKind::Detected),
            crashed: self.of(OutcomeKind::Crashed),
            timed_out: self.of(OutcomeKind::TimedOut),
            unjudged: self.unjudged.iter().map(|(&why, &n)| (why.to_owned(), n)).collect(),
            rate: self.rate(precision)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn intervals_in_words() {
        assert_eq!(precision(0.95).to_string(), "Wilson 95% intervals");
        assert_eq!(precision(0.999).to_string(), "Wilson 99.9% intervals");
    }
}
