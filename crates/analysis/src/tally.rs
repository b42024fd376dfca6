//! Outcomes, counted.

use crate::estimate::{Precision, Rate, Scope};
use crate::sample::{Sample, TrialDraw};
use faultlens_core::{Outcome, OutcomeKind};
use faultlens_spec::RateKind;
use faultlens_stats::StatsError;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many trials ended how, and the rate of those that changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tally {
    /// The same prediction.
    pub unchanged: u64,
    /// Another prediction, and nothing shows that it is wrong: silent data corruption (SDC).
    pub changed: u64,
    /// A prediction that shows the fault: not finite, or rejected (a detected unrecoverable error,
    /// DUE).
    pub detected: u64,
    /// No prediction.
    pub crashed: u64,
    /// No prediction in time.
    pub timed_out: u64,
    /// Trials that could not be judged, by the code of the reason; in no denominator.
    pub skipped: BTreeMap<String, u64>,
    /// Trials that were planned for more objects than a target finds. They are counted nowhere
    /// else.
    pub spare: u64,
    /// How often the prediction changed, among the judged.
    pub rate: Rate,
}

impl Tally {
    /// How many trials could not be judged, whatever the reason.
    pub fn skipped_trials(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// All trials that were needed, judged or not.
    pub fn trials(&self) -> u64 {
        self.unchanged
            + self.changed
            + self.detected
            + self.crashed
            + self.timed_out
            + self.skipped_trials()
    }
}

/// How many trials ended how.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Counts {
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
    pub(crate) fn of_events(events: RateKind) -> Self {
        Self {
            events,
            by_kind: [0; 6],
            skipped: BTreeMap::new(),
            spare: 0,
            judged: Sample::default(),
        }
    }

    /// Counts a trial.
    pub(crate) fn add(&mut self, outcome: &Outcome, weight: TrialDraw) -> Result<(), StatsError> {
        let kind = outcome.kind();
        self.by_kind[kind as usize] += 1;
        if let Outcome::Skipped(reason) = outcome {
            if reason.is_surplus() {
                self.spare += 1;
            } else {
                *self.skipped.entry(reason.code()).or_default() += 1;
            }
            return Ok(());
        }
        self.judged.add(weight, self.events.counts(kind))
    }

    /// Counts what another has counted of the same events, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (own, other) in self.by_kind.iter_mut().zip(other.by_kind) {
            *own += other;
        }
        for (reason, n) in &other.skipped {
            *self.skipped.entry(reason).or_default() += n;
        }
        self.spare += other.spare;
        self.judged.merge(&other.judged);
    }

    /// How many trials had an outcome.
    pub(crate) fn of(&self, kind: OutcomeKind) -> u64 {
        self.by_kind[kind as usize]
    }

    /// The judged trials.
    pub(crate) fn judged(&self) -> &Sample {
        &self.judged
    }

    pub(crate) fn changed(&self) -> u64 {
        self.of(OutcomeKind::Changed)
    }

    /// The rate, corrected where trials count differently.
    pub(crate) fn rate(&self, precision: &Precision, scope: Scope) -> Result<Rate, StatsError> {
        self.judged.rate(precision, scope)
    }

    /// The counts with the rate, as reports have them.
    pub(crate) fn tally(&self, precision: &Precision, scope: Scope) -> Result<Tally, StatsError> {
        Ok(Tally {
            unchanged: self.of(OutcomeKind::Unchanged),
            changed: self.changed(),
            detected: self.of(OutcomeKind::Detected),
            crashed: self.of(OutcomeKind::Crashed),
            timed_out: self.of(OutcomeKind::TimedOut),
            skipped: self.skipped.iter().map(|(&why, &n)| (why.to_owned(), n)).collect(),
            spare: self.spare,
            rate: self.rate(precision, scope)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Reason;

    #[test]
    fn weights_correct_rates_and_leave_counts() {
        let mut counts = Counts::default();
        for (outcome, weight) in [
            (Outcome::Changed, 0.5),
            (Outcome::Changed, 0.5),
            (Outcome::Unchanged, 2.0),
            (Outcome::Crashed, 1.0),
        ] {
            counts.add(&outcome, TrialDraw { weight, ..TrialDraw::alone(0) }).unwrap();
        }
        let rate = |of| counts.rate(&Precision::wilson(), of).unwrap();
        assert_eq!((rate(Scope::Whole).events, rate(Scope::Whole).n), (2, 4));
        assert_eq!(rate(Scope::Whole).value, Some(1.0 / 4.0));
        assert_eq!(rate(Scope::Part).value, Some(1.0 / 4.0));
        counts.add(&Outcome::Unchanged, TrialDraw { weight: 4.0, ..TrialDraw::alone(0) }).unwrap();
        assert_eq!(counts.rate(&Precision::wilson(), Scope::Whole).unwrap().value, Some(1.0 / 5.0));
        assert_eq!(counts.rate(&Precision::wilson(), Scope::Part).unwrap().value, Some(1.0 / 8.0));
        assert!(
            counts
                .add(&Outcome::Unchanged, TrialDraw { weight: 0.0, ..TrialDraw::alone(0) })
                .is_err()
        );
    }

    #[test]
    fn what_was_not_needed_is_no_loss() {
        let mut counts = Counts::default();
        let reasons = [Reason::TooFewObjects, Reason::NoRoom, Reason::TooFewObjects];
        for outcome in reasons.map(Outcome::Skipped).into_iter().chain([Outcome::Unchanged]) {
            counts.add(&outcome, TrialDraw::alone(0)).unwrap();
        }
        let mut both = counts.clone();
        both.merge(&counts);
        let tally = both.tally(&Precision::wilson(), Scope::Whole).unwrap();
        assert_eq!((tally.spare, tally.rate.n, tally.skipped_trials()), (4, 2, 2));
        assert_eq!(tally.trials(), 4);
    }
}
