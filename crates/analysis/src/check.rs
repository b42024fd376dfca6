//! Requirements and pinned trials with their verdicts.

use crate::context::Context;
use crate::error::AnalysisError;
use crate::estimate::{Mean, Precision, Rate, Scope};
use crate::filter::{self, Filter};
use crate::image_results::ImageFaultResults;
use crate::missing::{Evident, Missing, OnRecord};
use crate::repeats::{Repeats, is_below};
use crate::sample::{Sample, TrialDraw};
use crate::trial::{is_control, predicts, was_answered};
use crate::verdict::Verdict;
use faultlens_core::OutcomeKind;
use faultlens_record::Record;
use faultlens_record::store::{PinRecord, Recorded};
use faultlens_spec::{
    FitLimit, Intervals, Population, QualityMetric, Quantity, RateKind, Requirement,
};
use faultlens_stats::{Crossed, Estimate, Level, MIN_IMAGES, StatsError, crossed_difference};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A requirement, checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// The requirement in words.
    pub requirement: String,
    /// The measured rate.
    pub rate: Rate,
    /// The limit on the rate, also where failures in time are limited.
    pub limit: f64,
    /// Whether the limit is the least that is required, and not the most.
    pub at_least: bool,
    /// The group or target that the numbers are of, the worst of several.
    pub group: Option<String>,
    /// How many groups or targets the limit is to hold for; the confidence is shared out between
    /// them (Bonferroni).
    pub groups: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// Which images the limit is to hold for. Where the rate's interval speaks of these images
    /// instead, there are too few to say something about others.
    pub population: Population,
    /// Whether what is on record can decide: not of a shard, nor under a stop rule that still looks.
    #[serde(skip)]
    pub complete: bool,
    /// The trials that the verdict lacks; none is reached where these are too many.
    pub missing: Missing,
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
    /// By group; a single one without a name where the requirement names no attribute.
    groups: BTreeMap<String, Evidence>,
    /// By group, the trials that are evidence or should be.
    evident: BTreeMap<String, Evident>,
    /// Those that failed before it was known which group they belong to.
    ungrouped: Evident,
}

/// What is counted of trials.
enum Evidence {
    /// How they ended, or which of them are right.
    Events(Sample),
    /// Wrong predictions without and with faults, of the same images.
    Drop { clean: Crossed, faulty: Sample },
}

impl Check {
    pub(crate) fn new(requirement: Requirement, context: &Context, repeats: &Repeats) -> Self {
        let filter = &requirement.filter;
        let repeats = repeats.least(|target, fault| filter::admits(filter, context, target, fault));
        let chosen = filter.keys().chain(&requirement.by);
        let is_part = chosen.into_iter().any(|name| context.scope(name) == Scope::Part);
        let scope = if is_part { Scope::Part } else { Scope::Whole };
        Self {
            requirement,
            repeats,
            scope,
            groups: BTreeMap::new(),
            evident: BTreeMap::new(),
            ungrouped: Evident::default(),
        }
    }

    pub(crate) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        draw: TrialDraw,
    ) -> Result<(), StatsError> {
        if !is_below(record, self.repeats) {
            return Ok(());
        }
        let matches = filter::matches(&self.requirement.filter, context, record);
        let group = match &self.requirement.by {
            Some(by) => context.attribute(record, by).map(Cow::into_owned),
            None => Some(String::new()),
        };
        let Some(group) = group.filter(|_| matches) else {
            if filter::may_match(&self.requirement, context, record) {
                self.ungrouped.count(&record.outcome);
            }
            return Ok(());
        };
        self.evident.entry(group.clone()).or_default().count(&record.outcome);
        match self.requirement.quantity {
            Quantity::Rate(rate) => self.count(group, record, draw, rate),
            Quantity::Fit(_) => self.count(group, record, draw, RateKind::Failed),
            Quantity::Metric(QualityMetric::Accuracy) => {
                let Some(right) = self.is_right(context, record) else { return Ok(()) };
                self.add_event(group, draw, right)
            }
            Quantity::Metric(QualityMetric::AccuracyDrop) => {
                self.count_drop(group, context, record, draw)
            }
            Quantity::Metric(_) => Ok(()),
        }
    }

    fn count(
        &mut self,
        group: String,
        record: &Record,
        draw: TrialDraw,
        rate: RateKind,
    ) -> Result<(), StatsError> {
        let kind = record.outcome.kind();
        if kind == OutcomeKind::Skipped {
            return Ok(());
        }
        self.add_event(group, draw, rate.counts(kind))
    }

    /// Counts a trial that is an event or is none.
    fn add_event(&mut self, group: String, draw: TrialDraw, event: bool) -> Result<(), StatsError> {
        let nothing = || Evidence::Events(Sample::default());
        match self.groups.entry(group).or_insert_with(nothing) {
            Evidence::Events(sample) => sample.add(draw, event),
            // A requirement counts one kind of thing.
            Evidence::Drop { .. } => Ok(()),
        }
    }

    /// Whether a trial's prediction is right; `None` where that is not known, and for controls,
    /// which are no faults, unless the requirement names them.
    fn is_right(&self, context: &Context, record: &Record) -> Option<bool> {
        let fault = context.manifest.faults.get(record.fault as usize)?;
        let filter = &self.requirement.filter;
        if is_control(&fault.name) && !filter.contains_key("fault") && !filter.contains_key("point")
        {
            return None;
        }
        let golden = context.golden(record.target, record.case)?;
        let truth = golden.truth.as_ref()?;
        was_answered(record).then(|| predicts(record, truth))
    }

    fn count_drop(
        &mut self,
        group: String,
        context: &Context,
        record: &Record,
        draw: TrialDraw,
    ) -> Result<(), StatsError> {
        let golden = context.golden(record.target, record.case);
        let correct = golden.and_then(|golden| golden.correct);
        let Some((correct, right)) = correct.zip(self.is_right(context, record)) else {
            return Ok(());
        };
        let nothing = || Evidence::Drop { clean: Crossed::default(), faulty: Sample::default() };
        match self.groups.entry(group).or_insert_with(nothing) {
            Evidence::Drop { clean, faulty } => {
                clean.add(draw.image, draw.fault_number(), draw.weight, !correct)?;
                faulty.add(draw, !right)
            }
            // A requirement counts one kind of thing.
            Evidence::Events(_) => Ok(()),
        }
    }

    /// An error where the requirement is about trials that the run cannot have.
    pub(crate) fn is_of_this_run(
        &self,
        context: &Context,
        extra: &BTreeSet<String>,
        whole: bool,
    ) -> Result<(), AnalysisError> {
        if let Some(by) = &self.requirement.by
            && !context.can_have(by, extra, whole)
        {
            return Err(AnalysisError::attribute(by, &context.names()));
        }
        filter::check(&self.requirement.filter, context, extra, whole)
    }

    /// The trials that it is about and that are not on record.
    pub(crate) fn open(&self, context: &Context, progress: &Recorded, on_record: &OnRecord) -> u64 {
        on_record.open(context, progress, |target, fault| {
            filter::admits(&self.requirement.filter, context, target, fault)
        })
    }

    /// What is missing of a group. Nobody knows which groups open trials belong to, so each of them
    /// counts as if they were all its own.
    fn missing(&self, group: &str, open: u64) -> Missing {
        // Metrics over all faults are by target, their trials are not.
        let own = self.evident.get(group).or_else(|| self.evident.get(""));
        own.copied()
            .unwrap_or_default()
            .with(self.ungrouped)
            .missing(open, self.requirement.max_skipped)
    }

    /// The verdict, where the run can decide and `open` trials are few enough.
    pub(crate) fn checked(
        &self,
        precision: &Precision,
        images: &ImageFaultResults,
        decides: bool,
        open: u64,
    ) -> Result<Checked, StatsError> {
        let requirement = &self.requirement;
        let at_least = requirement.quantity.is_better_high();
        let fit = match requirement.quantity {
            Quantity::Fit(FitLimit { raw, share }) => {
                Some(Fit { raw, share, at_most: requirement.limit })
            }
            _ => None,
        };
        // FIT = raw FIT × share × rate, so that a limit on failures in time is one on the rate.
        let limit = fit.map_or(requirement.limit, |fit| fit.at_most / fit.each());
        let known = match requirement.quantity {
            Quantity::Metric(metric) if !metric.is_counted() => {
                of_images(metric, &requirement.filter, images)
            }
            _ => self.rates(precision)?,
        };
        let groups = known.len() as u64;
        let mut worst: Option<(Verdict, f64, String, Rate)> = None;
        for (group, rate) in known {
            let mut verdict = verdict(&rate, limit, at_least, requirement.population);
            if !decides || self.missing(&group, open).is_too_much() {
                verdict = Verdict::Inconclusive;
            }
            let value = rate.value.unwrap_or(limit);
            let excess = if at_least { limit - value } else { value - limit };
            if worst.as_ref().is_none_or(|(known, by, ..)| (verdict, excess) > (*known, *by)) {
                worst = Some((verdict, excess, group, rate));
            }
        }
        let (verdict, _, group, rate) =
            worst.unwrap_or((Verdict::Inconclusive, 0.0, String::new(), Rate::default()));
        let missing = self.missing(&group, open);
        Ok(Checked {
            requirement: requirement.to_string(),
            rate,
            limit,
            at_least,
            group: (!group.is_empty()).then_some(group),
            groups,
            verdict,
            population: requirement.population,
            complete: decides,
            missing,
            fit,
        })
    }

    /// What was counted of every group, with bounds that hold for all of them together.
    fn rates(&self, precision: &Precision) -> Result<Vec<(String, Rate)>, StatsError> {
        // The requirement says itself which images its limit is to hold for.
        let population = self.requirement.population;
        let share = precision.intervals.level.alpha() / self.groups.len().max(1) as f64;
        let level = Level::new(1.0 - share)?;
        let intervals = Intervals { population, level, ..precision.intervals };
        let precision = Precision { intervals, ..*precision };
        let mut rates = Vec::new();
        for (group, evidence) in &self.groups {
            let rate = match evidence {
                Evidence::Events(sample) => sample.bounds(&precision, self.scope)?,
                Evidence::Drop { clean, faulty } => self.drop(clean, faulty, &precision)?,
            };
            rates.push((group.clone(), rate));
        }
        // A group all of whose trials failed has no rate, and is not left out for that.
        for group in self.evident.keys().filter(|group| !self.groups.contains_key(*group)) {
            rates.push((group.clone(), Rate::default()));
        }
        Ok(rates)
    }

    /// By how much more predictions are wrong under faults. On these images clean predictions have
    /// no chance in them, and what was drawn is the faults' alone.
    fn drop(
        &self,
        clean: &Crossed,
        faulty: &Sample,
        precision: &Precision,
    ) -> Result<Rate, StatsError> {
        let estimate = crossed_difference(clean, faulty.crossed(), precision.intervals.level)?;
        let drawn = faulty.rate(precision, self.scope)?.these_images;
        let these = drawn.zip(clean.first().rate()).map(|(ends, before)| ends.map(|e| e - before));
        let rate = Rate::new(0, Estimate { n: faulty.n(), ..estimate });
        let images = faulty.images().len();
        Ok(precision.shown(Rate { images, these_images: these, ..rate }))
    }
}

/// Metrics over all faults and severities, by target.
fn of_images(
    metric: QualityMetric,
    filter: &Filter,
    images: &ImageFaultResults,
) -> Vec<(String, Rate)> {
    let wanted = |target: &str| filter.get("target").is_none_or(|name| name == target);
    let point = filter.get("fault").or_else(|| filter.get("point"));
    let mut rates = Vec::new();
    for one in images.robustness.iter().filter(|one| wanted(&one.target)) {
        let mean = match metric {
            QualityMetric::Mpc => one.mean_accuracy,
            QualityMetric::Rpc => one.kept,
            QualityMetric::Mce => one.mean_relative,
            _ => None,
        };
        rates.extend(mean.map(|mean| (one.target.clone(), of_mean(&mean))));
    }
    for one in images.detection.iter().filter(|one| wanted(&one.target)) {
        let at = one.points.iter().find(|own| own.fault.as_ref() == point);
        let mean = match metric {
            QualityMetric::Ap if point.is_some() => at.map(|at| at.ap),
            QualityMetric::Ap => Some(one.clean.ap),
            QualityMetric::ApDrop => one.drop,
            QualityMetric::Mpc => one.mean_ap,
            QualityMetric::Rpc => one.kept,
            _ => None,
        };
        rates.extend(mean.map(|mean| (one.target.clone(), of_mean(&mean))));
    }
    rates
}

/// A mean over images with its bootstrap interval.
fn of_mean(mean: &Mean) -> Rate {
    let few = mean.n < MIN_IMAGES;
    Rate {
        n: mean.n,
        value: mean.value,
        low: mean.low,
        high: mean.high,
        images: mean.n,
        population: if few { Population::TheseImages } else { Population::NewImages },
        ..Rate::default()
    }
}

/// An interval that straddles the limit gives no pass, nor does one that speaks of other images than
/// the requirement.
fn verdict(rate: &Rate, limit: f64, at_least: bool, population: Population) -> Verdict {
    let unknown = rate.n == 0 || rate.value.is_none() || rate.population != population;
    let (met, not_met) = if at_least {
        (rate.low >= limit, rate.high < limit)
    } else {
        (rate.high <= limit, rate.low > limit)
    };
    if unknown || !met && !not_met {
        Verdict::Inconclusive
    } else if met {
        Verdict::Met
    } else {
        Verdict::NotMet
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
            assert_eq!(verdict(&rate, 0.05, false, Population::NewImages), wanted, "{rate:?}");
        }
        let low = rate(0.01, 0.02, 9);
        assert_eq!(verdict(&low, 0.05, false, Population::TheseImages), Verdict::Inconclusive);
        assert_eq!(verdict(&low, 0.05, true, Population::NewImages), Verdict::NotMet);
        assert_eq!(verdict(&low, 0.01, true, Population::NewImages), Verdict::Met);
        assert_eq!(verdict(&low, 0.015, true, Population::NewImages), Verdict::Inconclusive);
    }
}
