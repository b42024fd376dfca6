//! Whether what was measured is good enough.

use super::attribute::Context;
use super::error::AnalysisError;
use super::filter;
use super::repeats::{Repeats, is_below};
use super::tally::{Counts, Precision};
use super::{Checked, Pinned, Rate, Verdict, words};
use crate::config::Requirement;
use crate::record::Record;
use crate::store::PinRecord;
use faultlens_core::OutcomeKind;
use faultlens_stats::StatsError;
use std::collections::BTreeSet;

/// A requirement, and the trials that it speaks of.
pub(super) struct Check {
    requirement: Requirement,
    /// How many repeats count, where a stop rule stopped every target's fault for itself.
    repeats: Option<u32>,
    counts: Counts,
}

impl Check {
    pub(super) fn new(requirement: Requirement, context: &Context, repeats: &Repeats) -> Self {
        let concerns = |target, fault| filter::admits(&requirement.filter, context, target, fault);
        let repeats = repeats.least(concerns);
        Self { requirement, repeats, counts: Counts::default() }
    }

    pub(super) fn add(&mut self, context: &Context, record: &Record) {
        if is_below(record, self.repeats)
            && filter::matches(&self.requirement.filter, context, record)
        {
            self.counts.add(&record.outcome);
        }
    }

    /// An error where the requirement speaks of trials that the run cannot have.
    pub(super) fn is_of_this_run(
        &self,
        context: &Context,
        extra: &BTreeSet<String>,
        whole: bool,
    ) -> Result<(), AnalysisError> {
        filter::check(&self.requirement.filter, context, extra, whole)
    }

    /// The verdict; a run that is not the whole campaign meets nothing yet.
    pub(super) fn checked(
        &self,
        precision: &Precision,
        whole: bool,
    ) -> Result<Checked, StatsError> {
        let counted =
            OutcomeKind::ALL.into_iter().filter(|kind| self.requirement.rate.counts(*kind));
        let events = counted.map(|kind| self.counts.of(kind)).sum();
        let rate = precision.rate(events, self.counts.judged())?;
        let limit = self.requirement.at_most;
        let (verdict, why) = match verdict(&rate, limit) {
            _ if !whole => (Verdict::Inconclusive, "the run is not complete".to_owned()),
            verdict => (verdict, why(&rate, limit, verdict)),
        };
        Ok(Checked { requirement: self.requirement.to_string(), rate, limit, verdict, why })
    }
}

/// An interval that straddles the limit gives no pass.
fn verdict(rate: &Rate, limit: f64) -> Verdict {
    match () {
        () if rate.n == 0 => Verdict::Inconclusive,
        () if rate.high <= limit => Verdict::Met,
        () if rate.low > limit => Verdict::NotMet,
        () => Verdict::Inconclusive,
    }
}

fn why(rate: &Rate, limit: f64, verdict: Verdict) -> String {
    let limit = words::limit(limit);
    match verdict {
        Verdict::Met => format!("the whole interval lies at or below {limit}"),
        Verdict::NotMet => format!("the whole interval lies above {limit}"),
        Verdict::Inconclusive if rate.n == 0 => "no judged trial is concerned".to_owned(),
        Verdict::Inconclusive => {
            format!("the interval straddles {limit}; more trials would narrow it")
        }
    }
}

/// A pinned trial must not change the answer again.
pub(super) fn pinned(pin: PinRecord) -> Pinned {
    let kind = OutcomeKind::named(&pin.outcome);
    let (verdict, why) = match kind {
        Some(OutcomeKind::Masked | OutcomeKind::Detected) => {
            (Verdict::Met, "the fault no longer goes unnoticed into the answer".to_owned())
        }
        Some(OutcomeKind::Unjudged) | None => {
            let reason = pin.reason.unwrap_or_else(|| "it could not be judged".to_owned());
            (Verdict::Inconclusive, reason)
        }
        Some(_) => (Verdict::NotMet, "the fault still breaks the answer".to_owned()),
    };
    Pinned { name: pin.name, what: pin.what, outcome: pin.outcome, verdict, why }
}

/// The worst of all verdicts.
pub(super) fn overall(requirements: &[Checked], pinned: &[Pinned]) -> Option<Verdict> {
    let required = requirements.iter().map(|checked| checked.verdict);
    required.chain(pinned.iter().map(|pin| pin.verdict)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straddling_interval_is_no_pass() {
        let rate = |low, high, n| Rate { events: 0, n, value: Some(low), low, high };
        for (rate, wanted) in [
            (rate(0.01, 0.05, 9), Verdict::Met),
            (rate(0.01, 0.051, 9), Verdict::Inconclusive),
            (rate(0.05, 0.06, 9), Verdict::Inconclusive),
            (rate(0.051, 0.06, 9), Verdict::NotMet),
            (rate(0.0, 1.0, 0), Verdict::Inconclusive),
        ] {
            assert_eq!(verdict(&rate, 0.05), wanted, "{rate:?}");
        }
    }

    #[test]
    fn the_worst_verdict_counts() {
        assert!(Verdict::NotMet > Verdict::Inconclusive && Verdict::Inconclusive > Verdict::Met);
        assert_eq!(overall(&[], &[]), None);
    }
}
