//! Whether what was measured is good enough.

use super::attribute::Context;
use super::error::AnalysisError;
use super::filter;
use super::repeats::{Repeats, is_below};
use super::sample::Stake;
use super::tally::{Counts, Of, Precision};
use super::{Checked, Fit, Pinned, Preserved, Rate, Verdict, words};
use faultlens_core::OutcomeKind;
use faultlens_record::Record;
use faultlens_record::store::PinRecord;
use faultlens_spec::{FitLimit, Requirement};
use faultlens_stats::StatsError;
use std::collections::BTreeSet;

/// A requirement, and the trials that it speaks of.
pub(super) struct Check {
    requirement: Requirement,
    /// How many repeats count, where a stop rule stopped every target's fault for itself.
    repeats: Option<u32>,
    /// How weights correct the rate.
    of: Of,
    counts: Counts,
}

impl Check {
    pub(super) fn new(requirement: Requirement, context: &Context, repeats: &Repeats) -> Self {
        let concerns = |target, fault| filter::admits(&requirement.filter, context, target, fault);
        let repeats = repeats.least(concerns);
        let drawn = |name: &String| context.part(name) == Of::Part;
        let of = if requirement.filter.keys().any(drawn) { Of::Part } else { Of::Whole };
        let counts = Counts::of_events(requirement.rate);
        Self { requirement, repeats, of, counts }
    }

    pub(super) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        stake: Stake,
    ) -> Result<(), StatsError> {
        if is_below(record, self.repeats)
            && filter::matches(&self.requirement.filter, context, record)
        {
            self.counts.add(&record.outcome, stake)?;
        }
        Ok(())
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
        let rate = self.counts.rate(precision, self.of)?;
        let Requirement { at_most, fit, .. } = self.requirement;
        let fit = fit.map(|FitLimit { raw, share }| Fit { raw, share, at_most });
        // What is allowed in time is a limit on the rate, too.
        let limit = fit.map_or(at_most, |fit| at_most / fit.each());
        let (requirement, why) = (self.requirement.to_string(), String::new());
        let verdict = verdict(&rate, limit);
        let mut checked = Checked { requirement, rate, limit, verdict, why, fit };
        checked.why = why_of(&checked);
        if !whole {
            (checked.verdict, checked.why) =
                (Verdict::Inconclusive, "the run is not complete".to_owned());
        }
        Ok(checked)
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

fn why_of(checked: &Checked) -> String {
    let unit = if checked.fit.is_some() { " FIT" } else { "" };
    let limit = words::allowed(checked) + unit;
    match checked.verdict {
        Verdict::Met => format!("the whole interval lies at or below {limit}"),
        Verdict::NotMet => format!("the whole interval lies above {limit}"),
        Verdict::Inconclusive if checked.rate.n == 0 => "no judged trial is concerned".to_owned(),
        Verdict::Inconclusive => {
            format!("the interval straddles {limit}; more trials would narrow it")
        }
    }
}

/// A pinned trial must not change the answer again.
pub(super) fn pinned(pin: PinRecord) -> Pinned {
    let kind = OutcomeKind::named(&pin.outcome);
    let (verdict, why) = match kind {
        Some(OutcomeKind::Unchanged | OutcomeKind::Detected) => {
            (Verdict::Met, "the fault does not go unnoticed into the answer".to_owned())
        }
        Some(OutcomeKind::Skipped) | None => {
            let reason = pin.reason.unwrap_or_else(|| "it could not be judged".to_owned());
            (Verdict::Inconclusive, reason)
        }
        Some(_) => (Verdict::NotMet, "the fault still breaks the answer".to_owned()),
    };
    Pinned { name: pin.name, what: pin.what, outcome: pin.outcome, verdict, why }
}

/// The worst of all verdicts.
pub(super) fn overall(
    requirements: &[Checked],
    preserved: &[Preserved],
    pinned: &[Pinned],
) -> Option<Verdict> {
    let required = requirements.iter().map(|checked| checked.verdict);
    let required = required.chain(preserved.iter().map(|preserved| preserved.verdict));
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
        assert_eq!(overall(&[], &[], &[]), None);
    }
}
