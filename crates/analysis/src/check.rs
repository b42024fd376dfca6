//! Requirements and pinned trials with their verdicts.

use crate::context::Context;
use crate::error::AnalysisError;
use crate::estimate::{Precision, Rate, Scope};
use crate::filter;
use crate::repeats::{Repeats, is_below};
use crate::sample::TrialDraw;
use crate::tally::Counts;
use crate::verdict::Verdict;
use faultlens_core::OutcomeKind;
use faultlens_record::Record;
use faultlens_record::store::PinRecord;
use faultlens_spec::{FitLimit, Intervals, Population, Requirement};
use faultlens_stats::StatsError;
use serde::Serialize;
use std::collections::BTreeSet;

/// A requirement, checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// The requirement in words.
    pub requirement: String,
    /// The measured rate.
    pub rate: Rate,
    /// The limit on the rate, also where failures in time are limited.
    pub limit: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// Which images the limit is to hold for. Where the rate's interval speaks of these images
    /// instead, there are too few to say something about others.
    pub population: Population,
    /// Whether every planned trial is on record; before that nothing is decided.
    #[serde(skip)]
    pub complete: bool,
    /// What makes failures in time of rate and limit, where these are required.
    pub fit: Option<Fit>,
}

/// Failures in time, FIT: how many a thousand million hours have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit {
    /// How many faults the hardware has in that time.
    pub raw: f64,
    /// The share of them that the trials stand for.
    pub share: f64,
    /// The limit on failures in that time.
    pub at_most: f64,
}

impl Fit {
    /// The failures in time if every trial failed.
    pub fn each(&self) -> f64 {
        self.raw * self.share
    }
}

/// A pinned trial, replayed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pinned {
    /// The pin's name.
    pub name: String,
    /// Fault, case and target in words.
    pub what: String,
    /// The outcome's name.
    pub outcome: String,
    /// Met where the fault does not go unnoticed into the prediction.
    pub verdict: Verdict,
    /// Why the trial could not be judged, where that is on record.
    #[serde(skip)]
    pub reason: Option<String>,
}

/// A requirement, and the trials that it is about.
pub(crate) struct Check {
    requirement: Requirement,
    /// How many repeats count, where a stop rule stopped every target's fault for itself.
    repeats: Option<u32>,
    /// How weights correct the rate.
    scope: Scope,
    counts: Counts,
}

impl Check {
    pub(crate) fn new(requirement: Requirement, context: &Context, repeats: &Repeats) -> Self {
        let filter = &requirement.filter;
        let repeats = repeats.least(|target, fault| filter::admits(filter, context, target, fault));
        let is_part = filter.keys().any(|name| context.scope(name) == Scope::Part);
        let scope = if is_part { Scope::Part } else { Scope::Whole };
        let counts = Counts::of_events(requirement.rate);
        Self { requirement, repeats, scope, counts }
    }

    pub(crate) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        weight: TrialDraw,
    ) -> Result<(), StatsError> {
        if is_below(record, self.repeats)
            && filter::matches(&self.requirement.filter, context, record)
        {
            self.counts.add(&record.outcome, weight)?;
        }
        Ok(())
    }

    /// An error where the requirement is about trials that the run cannot have.
    pub(crate) fn is_of_this_run(
        &self,
        context: &Context,
        extra: &BTreeSet<String>,
        whole: bool,
    ) -> Result<(), AnalysisError> {
        filter::check(&self.requirement.filter, context, extra, whole)
    }

    /// The verdict; a run that is not the whole campaign meets nothing yet.
    pub(crate) fn checked(
        &self,
        precision: &Precision,
        whole: bool,
    ) -> Result<Checked, StatsError> {
        // The requirement says itself which images its limit is to hold for.
        let population = self.requirement.population;
        let intervals = Intervals { population, ..precision.intervals };
        let rate =
            self.counts.judged().bounds(&Precision { intervals, ..*precision }, self.scope)?;
        let Requirement { at_most, fit, .. } = self.requirement;
        let fit = fit.map(|FitLimit { raw, share }| Fit { raw, share, at_most });
        // FIT = raw FIT × share × rate, so that a limit on failures in time is one on the rate.
        let limit = fit.map_or(at_most, |fit| at_most / fit.each());
        Ok(Checked {
            requirement: self.requirement.to_string(),
            rate,
            limit,
            verdict: if whole { verdict(&rate, limit, population) } else { Verdict::Inconclusive },
            population,
            complete: whole,
            fit,
        })
    }
}

/// An interval that straddles the limit gives no pass, nor does one that speaks of other images than
/// the requirement.
fn verdict(rate: &Rate, limit: f64, population: Population) -> Verdict {
    if rate.n == 0 || rate.population != population {
        Verdict::Inconclusive
    } else if rate.high <= limit {
        Verdict::Met
    } else if rate.low > limit {
        Verdict::NotMet
    } else {
        Verdict::Inconclusive
    }
}

/// A pinned trial must not change the prediction unnoticed again.
pub(crate) fn pinned(pin: PinRecord) -> Pinned {
    let verdict = match OutcomeKind::named(&pin.outcome) {
        Some(OutcomeKind::Unchanged | OutcomeKind::Detected) => Verdict::Met,
        Some(OutcomeKind::Skipped) | None => Verdict::Inconclusive,
        Some(_) => Verdict::NotMet,
    };
    Pinned { name: pin.name, what: pin.what, outcome: pin.outcome, verdict, reason: pin.reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straddling_interval_is_no_pass() {
        let rate = |low, high, n| Rate { n, value: Some(low), low, high, ..Rate::default() };
        for (rate, wanted) in [
            (rate(0.01, 0.05, 9), Verdict::Met),
            (rate(0.01, 0.051, 9), Verdict::Inconclusive),
            (rate(0.05, 0.06, 9), Verdict::Inconclusive),
            (rate(0.051, 0.06, 9), Verdict::NotMet),
            (rate(0.0, 1.0, 0), Verdict::Inconclusive),
        ] {
            assert_eq!(verdict(&rate, 0.05, Population::NewImages), wanted, "{rate:?}");
        }
        let met = rate(0.01, 0.02, 9);
        assert_eq!(verdict(&met, 0.05, Population::TheseImages), Verdict::Inconclusive);
    }
}
