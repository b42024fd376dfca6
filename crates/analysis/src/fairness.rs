//! Whether predictions are as good for all groups of cases, without faults and under each fault.

use crate::context::Context;
use crate::estimate::{Mean, Precision, Rate};
use crate::trial::was_answered;
use faultlens_record::Record;
use faultlens_spec::{Campaign, Fairness as Settings};
use faultlens_stats::{StatsError, fisher_exact, holm, newcombe};
use serde::Serialize;
use std::collections::BTreeMap;

/// Whether a target's predictions are as good for all groups of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fairness {
    /// The target.
    pub target: String,
    /// The stratum.
    pub by: String,
    /// The group that others are compared with.
    pub privileged: String,
    /// The positive class; `None`: the right prediction is positive.
    pub positive: Option<String>,
    /// Without faults.
    pub clean: FairPoint,
    /// Under each fault point.
    pub points: Vec<FairPoint>,
    /// The indices in `points` of the largest gaps of opportunity, largest first.
    pub largest: Vec<usize>,
    /// How many gaps were tested; p-values are corrected for them (Holm).
    pub tests: u64,
}

/// Groups under one fault point, or without a fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FairPoint {
    /// The fault with its settings; `None` without a fault.
    pub fault: Option<String>,
    /// By group.
    pub groups: Vec<FairGroup>,
    /// By group other than the privileged one.
    pub gaps: Vec<Gap>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FairGroup {
    /// The group.
    pub name: String,
    /// Positive predictions for cases that should have one: the true positive rate.
    pub found: Option<Rate>,
    /// Positive predictions for cases that should have none: the false positive rate; `None`
    /// without such cases.
    pub wrong: Option<Rate>,
    /// Positive predictions for all cases: the selection rate.
    pub selected: Option<Rate>,
}

/// The privileged group's rates minus those of another group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gap {
    /// The other group.
    pub group: String,
    /// Of true positive rates: equal opportunity (Hardt et al. 2016).
    pub opportunity: Mean,
    /// Of selection rates: demographic parity.
    pub parity: Mean,
    /// The larger of the differences of true and of false positive rates: equalised odds; `None`
    /// without cases that should have no positive prediction.
    pub odds: Option<f64>,
    /// The corrected p-value of "both groups have the same true positive rate".
    pub p_value: f64,
}

/// Gaps that a report names.
const MOST_NAMED: usize = 5;

/// Positive predictions for cases that should have one, and for all others.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    /// Positive predictions where one is expected, of so many.
    found: (u64, u64),
    /// Positive predictions where none is expected, of so many.
    wrong: (u64, u64),
}

impl Count {
    fn add(&mut self, expected: bool, positive: bool) {
        let part = if expected { &mut self.found } else { &mut self.wrong };
        part.0 += u64::from(positive);
        part.1 += 1;
    }

    fn selected(&self) -> (u64, u64) {
        (self.found.0 + self.wrong.0, self.found.1 + self.wrong.1)
    }
}

/// By group.
type Groups = BTreeMap<String, Count>;

/// What is counted for fairness.
pub(crate) struct Fair {
    settings: Option<Settings>,
    /// By target, stratum and fault point; `None` without a fault.
    cells: BTreeMap<(u32, String, Option<u32>), Groups>,
}

impl Fair {
    pub(crate) fn of(campaign: &Campaign, context: &Context) -> Self {
        let mut fair = Self { settings: campaign.fairness.clone(), cells: BTreeMap::new() };
        for golden in context.goldens() {
            if let Some(positive) = golden.positive {
                fair.count(context, golden.target, golden.case, None, positive);
            }
        }
        fair
    }

    pub(crate) fn add(&mut self, context: &Context, record: &Record) {
        // Repeats of a case are no further people.
        if record.repeat > 0 {
            return;
        }
        // A refused answer is no positive prediction; a lost response shows nothing.
        let positive = match record.measures.positive {
            Some(positive) => positive,
            None if record.answer.is_none() && was_answered(record) => false,
            None => return,
        };
        self.count(context, record.target, record.case, Some(record.fault), positive);
    }

    fn count(
        &mut self,
        context: &Context,
        target: u32,
        case: u32,
        fault: Option<u32>,
        positive: bool,
    ) {
        let (Some(settings), Some(case)) = (&self.settings, context.case(case)) else { return };
        // Where cases have no label, the positive prediction is expected of all.
        let expected = match (&settings.positive, &case.label) {
            (Some(wanted), Some(label)) => label.eq_ignore_ascii_case(wanted),
            _ => true,
        };
        for by in &settings.by {
            let Some(group) = case.strata.get(by) else { continue };
            let groups = self.cells.entry((target, by.clone(), fault)).or_default();
            groups.entry(group.clone()).or_default().add(expected, positive);
        }
    }

    /// By target and stratum.
    pub(crate) fn fairness(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Fairness>, StatsError> {
        let Some(settings) = &self.settings else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for (at, target) in (0..).zip(&context.manifest.targets) {
            for by in &settings.by {
                let Some(clean) = self.cells.get(&(at, by.clone(), None)) else { continue };
                let Some(privileged) = privileged(settings, clean) else { continue };
                let mut fairness = Fairness {
                    target: target.name.clone(),
                    by: by.clone(),
                    positive: settings.positive.clone(),
                    clean: point(clean, &privileged, None, precision)?,
                    points: self.points(context, at, by, &privileged, precision)?,
                    privileged,
                    largest: Vec::new(),
                    tests: 0,
                };
                correct(&mut fairness)?;
                all.push(fairness);
            }
        }
        Ok(all)
    }

    fn points(
        &self,
        context: &Context,
        target: u32,
        by: &str,
        privileged: &str,
        precision: &Precision,
    ) -> Result<Vec<FairPoint>, StatsError> {
        let mut points = Vec::new();
        for (at, fault) in (0..).zip(&context.manifest.faults) {
            if let Some(groups) = self.cells.get(&(target, by.to_owned(), Some(at))) {
                points.push(point(groups, privileged, Some(&fault.label), precision)?);
            }
        }
        Ok(points)
    }
}

/// The group that others are compared with: one that the campaign names, or the largest.
fn privileged(settings: &Settings, groups: &Groups) -> Option<String> {
    for group in groups.keys() {
        if settings.privileged.iter().any(|name| name.eq_ignore_ascii_case(group)) {
            return Some(group.clone());
        }
    }
    let largest = groups.iter().max_by_key(|(_, count)| count.selected().1);
    largest.map(|(name, _)| name.clone())
}

fn point(
    groups: &Groups,
    privileged: &str,
    fault: Option<&str>,
    precision: &Precision,
) -> Result<FairPoint, StatsError> {
    let rate = |(events, n): (u64, u64)| precision.known_rate(events, n);
    let mut point =
        FairPoint { fault: fault.map(str::to_owned), groups: Vec::new(), gaps: Vec::new() };
    let own = groups.get(privileged).copied().unwrap_or_default();
    for (name, count) in groups {
        point.groups.push(FairGroup {
            name: name.clone(),
            found: rate(count.found)?,
            wrong: rate(count.wrong)?,
            selected: rate(count.selected())?,
        });
        if name != privileged {
            point.gaps.push(gap(name, &own, count, precision)?);
        }
    }
    Ok(point)
}

fn gap(name: &str, own: &Count, other: &Count, precision: &Precision) -> Result<Gap, StatsError> {
    let level = precision.intervals.level;
    let opportunity = Mean::from(newcombe(own.found, other.found, level)?);
    let wrong = newcombe(own.wrong, other.wrong, level)?;
    let odds = [opportunity.value, wrong.value].into_iter().flatten().map(f64::abs);
    Ok(Gap {
        group: name.to_owned(),
        parity: newcombe(own.selected(), other.selected(), level)?.into(),
        odds: wrong.value.and(odds.reduce(f64::max)),
        p_value: fisher_exact(own.found.0, own.found.1, other.found.0, other.found.1)?,
        opportunity,
    })
}

/// Corrects the p-values for the number of tests (Holm), and finds the largest gaps.
fn correct(fairness: &mut Fairness) -> Result<(), StatsError> {
    let mut gaps: Vec<&mut Gap> = fairness.clean.gaps.iter_mut().collect();
    gaps.extend(fairness.points.iter_mut().flat_map(|point| &mut point.gaps));
    let raw: Vec<f64> = gaps.iter().map(|gap| gap.p_value).collect();
    for (gap, corrected) in gaps.into_iter().zip(holm(&raw)?) {
        gap.p_value = corrected;
    }
    fairness.tests = raw.len() as u64;
    let mut order: Vec<usize> = (0..fairness.points.len()).collect();
    let size = |at: &usize| {
        let gaps = fairness.points[*at].gaps.iter();
        gaps.filter_map(|gap| gap.opportunity.value).map(f64::abs).fold(0.0, f64::max)
    };
    order.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.cmp(b)));
    order.truncate(MOST_NAMED);
    fairness.largest = order;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(counts: &[(&str, u64, u64)]) -> Groups {
        let group = |&(name, found, of): &(&str, u64, u64)| {
            (name.to_owned(), Count { found: (found, of), wrong: (0, 0) })
        };
        counts.iter().map(group).collect()
    }

    /// The numbers of men and women whose faces ultraface finds; the difference and its interval
    /// by Newcombe's method as statsmodels' `confint_proportions_2indep(method="newcomb")` has it.
    #[test]
    fn gaps_are_differences_of_true_positive_rates() {
        let groups = groups(&[("female", 296, 300), ("male", 273, 300)]);
        let point = point(&groups, "male", None, &Precision::wilson()).unwrap();
        let [gap] = &point.gaps[..] else { panic!("{point:?}") };
        let opportunity = gap.opportunity.value.unwrap();
        assert!((opportunity - (0.91 - 296.0 / 300.0)).abs() < 1e-12);
        assert!((gap.opportunity.low - -0.115_309_9).abs() < 1e-6, "{gap:?}");
        assert!((gap.opportunity.high - -0.042_473_4).abs() < 1e-6, "{gap:?}");
        assert!(gap.p_value < 1e-4 && gap.odds.is_none());
        assert_eq!(gap.parity, gap.opportunity);
    }

    #[test]
    fn the_largest_group_is_privileged_where_none_is_named() {
        let settings = |privileged: &[&str]| Settings {
            by: vec!["sex".to_owned()],
            privileged: privileged.iter().map(|&name| name.to_owned()).collect(),
            positive: None,
        };
        let groups = groups(&[("a", 1, 3), ("b", 1, 9), ("c", 1, 2)]);
        assert_eq!(privileged(&settings(&[]), &groups).as_deref(), Some("b"));
        assert_eq!(privileged(&settings(&["x", "c"]), &groups).as_deref(), Some("c"));
    }

    #[test]
    fn p_values_are_corrected_for_all_that_was_tried() {
        let counts = [groups(&[("a", 9, 10), ("b", 1, 10)]), groups(&[("a", 5, 10), ("b", 5, 10)])];
        let point = |groups: &Groups| point(groups, "a", Some("x"), &Precision::wilson()).unwrap();
        let mut fairness = Fairness {
            target: "t".to_owned(),
            by: "g".to_owned(),
            privileged: "a".to_owned(),
            positive: None,
            clean: point(&counts[1]),
            points: counts.iter().map(point).collect(),
            largest: Vec::new(),
            tests: 0,
        };
        let raw = fairness.points[0].gaps[0].p_value;
        correct(&mut fairness).unwrap();
        assert_eq!((fairness.tests, &fairness.largest[..]), (3, &[0, 1][..]));
        assert!((fairness.points[0].gaps[0].p_value - 3.0 * raw).abs() < 1e-12);
        assert_eq!(fairness.clean.gaps[0].p_value, 1.0);
    }
}
