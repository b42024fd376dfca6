//! The conclusions that a report opens with, as facts: which hold is decided here, how they read in
//! the report.

use crate::critical::CriticalBits;
use crate::curve::Curve;
use crate::detection::DetectionPoint;
use crate::estimate::Rate;
use crate::family::Family;
use crate::family_result::WorstPoint;
use crate::group::{GroupRow, Grouping};
use crate::locations::Ranking;
use crate::preserve::Preserved;
use crate::scenes::{PlacementEffect, SceneTotal};
use crate::summary::{Checks, Summary};
use crate::tally::Tally;
use crate::target::TargetSummary;
use crate::verdict::Verdict;
use faultlens_core::OutcomeKind;

/// Trials that a group needs before it is called the weakest.
const ENOUGH: u64 = 20;

/// Changed predictions that advice needs to rest on: with fewer, which part caused most of them is
/// mostly chance.
const ENOUGH_CHANGED: u64 = 10;

/// Corrected p-values below this are more than chance.
const SIGNIFICANT: f64 = 0.05;

/// The least share of the changed predictions that makes a single bit worth naming.
const DOMINANT: f64 = 0.2;

/// A conclusion from a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding<'a> {
    /// No trial could be judged yet.
    NothingJudged,
    /// How often predictions changed over all judged trials of a family of faults.
    Overall(OverallFinding<'a>),
    /// The verdict over all requirements and pinned trials, with what it rests on.
    Verdict(&'a Checks),
    /// The requirement within human tolerance that is missed by most.
    FurthestBelowPeople(&'a Preserved),
    /// How often other detections changed in changed scenes.
    ChangedScenes(&'a SceneTotal),
    /// It matters whether objects are placed close to others.
    Placement(&'a PlacementEffect),
    /// The quality without faults.
    WithoutFaults {
        /// The accuracy of classifiers by target.
        accuracy: Vec<(&'a str, Rate)>,
        /// The average precision of detectors by target.
        precision: Vec<(&'a str, &'a DetectionPoint)>,
    },
    /// The group of an attribute with the highest rate, where that is more than chance.
    WeakestGroup(WeakestGroup<'a>),
    /// A few parts of a model account for most changed predictions.
    ProtectFirst {
        /// All parts.
        ranking: &'a Ranking,
        /// How many of the first parts it takes.
        enough: usize,
        /// Whether the run has several targets, so that the target must be named.
        several_targets: bool,
    },
    /// One bit accounts for a large share of the predictions that bit flips changed.
    DominantBit {
        /// The bit's number.
        bit: &'a str,
        /// Its share.
        share: f64,
        /// How many changed predictions that is a share of.
        changed: u64,
    },
    /// What searches for critical bits found in one target.
    CriticalBits(&'a CriticalBits),
    /// The fault and target whose rate rises most with the dose.
    SteepestCurve(&'a Curve),
    /// Trials that could not be judged.
    Skipped {
        /// How many.
        trials: u64,
        /// The most frequent reason.
        reason: &'a str,
    },
}

/// How often predictions changed over all judged trials of a family of faults.
#[derive(Debug, Clone, PartialEq)]
pub struct OverallFinding<'a> {
    /// The family; `None` where the run has a single one.
    pub family: Option<Family>,
    /// The target and fault point with the highest rate, where there are several families.
    pub worst: Option<&'a WorstPoint>,
    /// The targets.
    pub targets: &'a [TargetSummary],
    /// How often the prediction changed.
    pub rate: Rate,
    /// The shares of the other outcomes that occurred; empty where trials are weighted, since
    /// shares of counts are no rates then.
    pub others: Vec<(OutcomeKind, f64)>,
    /// All recorded trials, where a stop rule ran more of some faults than count together.
    pub recorded: Option<u64>,
}

/// The group of an attribute with the highest rate.
#[derive(Debug, Clone, PartialEq)]
pub struct WeakestGroup<'a> {
    /// The attribute: `operator`, `point` or `target`.
    pub attribute: &'a str,
    /// The target whose trials the groups are, where it is not all.
    pub target: Option<&'a str>,
    /// The family of faults whose trials the groups are, where it is not all.
    pub family: Option<Family>,
    /// The group.
    pub row: &'a GroupRow,
    /// The rate of all other groups together.
    pub others: f64,
    /// Groups with a higher rate that have too few trials to be sure.
    pub higher: Vec<&'a GroupRow>,
}

impl Summary {
    /// The findings, the most important first.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        let mut findings = Vec::new();
        findings.extend(self.checks.verdict.map(|_| Finding::Verdict(&self.checks)));
        findings.extend(overall(self));
        findings.extend(furthest_below_people(self));
        let totals = self.scenes.totals.iter();
        let totals = totals.filter(|one| one.target.is_some() && one.changed.value.is_some());
        findings.extend(totals.map(Finding::ChangedScenes));
        let placements = self.scenes.placements.iter();
        let placements =
            placements.filter(|one| one.is_significant() && one.difference.value.is_some());
        findings.extend(placements.map(Finding::Placement));
        findings.extend(without_faults(self));
        for attribute in ["operator", "point", "target"] {
            let own = self.groupings.iter().filter(|grouping| grouping.attribute == attribute);
            findings.extend(own.filter_map(weakest_group).map(Finding::WeakestGroup));
        }
        let rankings = &self.model.rankings;
        findings.extend(rankings.iter().filter_map(|ranking| protect_first(self, ranking)));
        findings.extend(dominant_bit(self));
        findings.extend(self.model.critical.iter().map(Finding::CriticalBits));
        findings.extend(steepest_curve(self));
        findings.extend(skipped(self));
        findings
    }
}

/// One for each family of faults; none where the run only searched for critical bits, which are a
/// finding of their own.
fn overall(summary: &Summary) -> Vec<Finding<'_>> {
    if summary.overall.rate.n == 0 {
        let nothing = summary.model.critical.is_empty().then_some(Finding::NothingJudged);
        return nothing.into_iter().collect();
    }
    let all = &summary.overall;
    let all_count = all.trials() + all.spare == summary.progress.recorded;
    let recorded =
        (!all_count && summary.method.stop.is_some()).then_some(summary.progress.recorded);
    let mut findings = Vec::new();
    let several = summary.families.len() > 1;
    for one in summary.families.iter().filter(|one| one.tally.rate.n > 0) {
        findings.push(Finding::Overall(OverallFinding {
            family: several.then_some(one.family),
            worst: one.worst.as_ref().filter(|_| several),
            targets: &summary.targets,
            rate: one.tally.rate,
            others: other_outcomes(&one.tally, summary.weighted),
            recorded: recorded.filter(|_| !several),
        }));
    }
    findings
}

/// The shares of outcomes other than a changed prediction.
fn other_outcomes(tally: &Tally, weighted: bool) -> Vec<(OutcomeKind, f64)> {
    let mut others = Vec::new();
    for (kind, count) in [
        (OutcomeKind::Detected, tally.detected),
        (OutcomeKind::Crashed, tally.crashed),
        (OutcomeKind::TimedOut, tally.timed_out),
    ] {
        if count > 0 && !weighted {
            others.push((kind, count as f64 / tally.rate.n as f64));
        }
    }
    others
}

fn furthest_below_people(summary: &Summary) -> Option<Finding<'_>> {
    let unmet = summary.checks.preserved.iter().filter(|one| one.verdict == Verdict::NotMet);
    let difference = |one: &Preserved| one.difference.map_or(0.0, |difference| difference.value);
    let worst = unmet.min_by(|a, b| difference(a).total_cmp(&difference(b)))?;
    Some(Finding::FurthestBelowPeople(worst))
}

fn without_faults(summary: &Summary) -> Option<Finding<'_>> {
    let mut accuracy = Vec::new();
    for target in &summary.targets {
        accuracy.extend(target.accuracy.map(|rate| (target.name.as_str(), rate)));
    }
    let mut precision = Vec::new();
    for one in &summary.images.detection {
        if one.clean.ap.value.is_some() {
            precision.push((one.target.as_str(), &one.clean));
        }
    }
    if accuracy.is_empty() && precision.is_empty() {
        return None;
    }
    Some(Finding::WithoutFaults { accuracy, precision })
}

fn weakest_group(grouping: &Grouping) -> Option<WeakestGroup<'_>> {
    let row = worst(grouping)?;
    if row.p_value? >= SIGNIFICANT || row.tally.rate.events < ENOUGH_CHANGED {
        return None;
    }
    let others = rate_of_others(grouping, row)?;
    let attribute = &grouping.attribute;
    let target = grouping.target.as_deref();
    let family = grouping.family;
    Some(WeakestGroup { attribute, target, family, row, others, higher: higher(grouping, row) })
}

/// The group with the highest rate of those with enough trials; of equal rates, the one whose
/// interval starts higher.
fn worst(grouping: &Grouping) -> Option<&GroupRow> {
    let enough = grouping.rows.iter().filter(|row| row.tally.rate.n >= ENOUGH);
    let known = enough.filter_map(|row| Some((row.tally.rate.value?, row.tally.rate.low, row)));
    let worst = known.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    worst.map(|(_, _, row)| row)
}

/// Groups with a higher rate, which have too few trials to be called the weakest.
fn higher<'a>(grouping: &'a Grouping, than: &GroupRow) -> Vec<&'a GroupRow> {
    let rows = grouping.rows.iter();
    rows.filter(|row| row.tally.rate.value > than.tally.rate.value).collect()
}

/// The rate of all other groups together; `None` where it is not below the group's own.
fn rate_of_others(grouping: &Grouping, row: &GroupRow) -> Option<f64> {
    let mut events = 0;
    let mut n = 0;
    for other in &grouping.rows {
        events += other.tally.rate.events;
        n += other.tally.rate.n;
    }
    let own = &row.tally.rate;
    events -= own.events;
    n -= own.n;
    let others = events as f64 / n as f64;
    (n > 0 && own.value? > others).then_some(others)
}

/// As few first parts as surely account for more than half of the changed predictions; `None` where
/// these are half of all parts or more.
fn protect_first<'a>(summary: &Summary, ranking: &'a Ranking) -> Option<Finding<'a>> {
    let changed = ranking.rows.first()?.share.n;
    let enough = ranking.rows.iter().position(|row| row.together.low > 0.5)? + 1;
    if changed < ENOUGH || 2 * enough as u64 >= ranking.of {
        return None;
    }
    let several_targets = summary.targets.len() != 1;
    Some(Finding::ProtectFirst { ranking, enough, several_targets })
}

fn dominant_bit(summary: &Summary) -> Option<Finding<'_>> {
    let grouping = summary.groupings.iter().find(|grouping| grouping.attribute == "bit")?;
    let all: u64 = grouping.rows.iter().map(|row| row.tally.changed).sum();
    let worst = grouping.rows.iter().max_by_key(|row| row.tally.changed)?;
    let share = worst.tally.changed as f64 / all as f64;
    if summary.weighted || all < ENOUGH || grouping.rows.len() <= 3 || share <= DOMINANT {
        return None;
    }
    Some(Finding::DominantBit { bit: &worst.key, share, changed: all })
}

fn steepest_curve(summary: &Summary) -> Option<Finding<'_>> {
    let steepest = summary.curves.iter().max_by(|a, b| rise(a).total_cmp(&rise(b)))?;
    (rise(steepest) > 0.0).then_some(Finding::SteepestCurve(steepest))
}

/// How much the rate surely rises from the first dose to the last: between the facing ends of their
/// intervals.
fn rise(curve: &Curve) -> f64 {
    match (curve.points.first(), curve.points.last()) {
        (Some((_, first)), Some((_, last))) => last.low - first.high,
        _ => 0.0,
    }
}

fn skipped(summary: &Summary) -> Option<Finding<'_>> {
    let reasons = &summary.overall.skipped;
    let (reason, _) = reasons.iter().max_by_key(|(_, count)| **count)?;
    Some(Finding::Skipped { trials: summary.overall.skipped_trials(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_group_has_enough_trials_and_names_the_higher_ones() {
        let row = |key: &str, events: u64, n: u64, low: f64| {
            let value = Some(events as f64 / n as f64);
            let rate = Rate { events, n, value, low, high: 1.0, ..Rate::default() };
            let tally = Tally { rate, ..Tally::default() };
            GroupRow { key: key.to_owned(), tally, ..GroupRow::default() }
        };
        let grouping = |rows: Vec<GroupRow>| Grouping {
            attribute: "point".to_owned(),
            target: None,
            family: None,
            ordered: false,
            rows,
            test: None,
        };
        // The second has a narrower interval, but the first is higher.
        let known = grouping(vec![row("mirror", 17, 32, 0.36), row("insert", 200, 400, 0.45)]);
        let first = worst(&known).unwrap();
        assert_eq!((first.key.as_str(), higher(&known, first).len()), ("mirror", 0));
        let few = grouping(vec![row("mirror", 8, 10, 0.5), row("insert", 200, 400, 0.45)]);
        let first = worst(&few).unwrap();
        assert_eq!((first.key.as_str(), higher(&few, first)[0].key.as_str()), ("insert", "mirror"));
        assert!(worst(&grouping(vec![row("mirror", 8, 10, 0.5)])).is_none());
    }
}
