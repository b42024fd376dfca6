//! Whether answers are as good for all groups of cases, undisturbed and under every fault.

use super::attribute::Context;
use super::robustness::was_answered;
use super::summary::{FairGroup, FairPoint, Fairness, Gap};
use super::tally::Precision;
use super::{Mean, Rate};
use faultlens_record::Record;
use faultlens_spec::{Campaign, Fairness as Asked};
use faultlens_stats::{StatsError, fisher_exact, holm, newcombe};
use std::collections::BTreeMap;

/// Configurations that a report names.
const MOST: usize = 5;

/// Positive answers to cases that should have one, and to all others.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    /// Positive answers where one is expected, of so many.
    found: (u64, u64),
    /// Positive answers where none is expected, of so many.
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
pub(super) struct Fair {
    asked: Option<Asked>,
    /// By target, stratum and fault point; `None` is undisturbed.
    cells: BTreeMap<(u32, String, Option<u32>), Groups>,
}

impl Fair {
    pub(super) fn of(campaign: &Campaign, context: &Context) -> Self {
        let mut fair = Self { asked: campaign.fairness.clone(), cells: BTreeMap::new() };
        for golden in context.goldens() {
            if let Some(positive) = golden.positive {
                fair.count(context, golden.target, golden.case, None, positive);
            }
        }
        fair
    }

    pub(super) fn add(&mut self, context: &Context, record: &Record) {
        // Further trials of a case are no further people.
        if record.repeat > 0 {
            return;
        }
        // No answer is no positive one; what got lost on the way says nothing.
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
        let (Some(asked), Some(case)) = (&self.asked, context.case(case)) else { return };
        // Where cases have no label, all of them should have the positive answer.
        let expected = match (&asked.positive, &case.label) {
            (Some(wanted), Some(label)) => label.eq_ignore_ascii_case(wanted),
            _ => true,
        };
        for by in &asked.by {
            let Some(group) = case.strata.get(by) else { continue };
            let groups = self.cells.entry((target, by.clone(), fault)).or_default();
            groups.entry(group.clone()).or_default().add(expected, positive);
        }
    }

    /// By target and stratum.
    pub(super) fn told(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Fairness>, StatsError> {
        let Some(asked) = &self.asked else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for (at, target) in (0..).zip(&context.manifest.targets) {
            for by in &asked.by {
                let Some(clean) = self.cells.get(&(at, by.clone(), None)) else { continue };
                let Some(privileged) = privileged(asked, clean) else { continue };
                let mut told = Fairness {
                    target: target.name.clone(),
                    by: by.clone(),
                    positive: asked.positive.clone(),
                    clean: point(clean, &privileged, None, precision)?,
                    points: self.points(context, at, by, &privileged, precision)?,
                    privileged,
                    largest: Vec::new(),
                    tests: 0,
                };
                correct(&mut told)?;
                all.push(told);
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
        let faults = (0..).zip(&context.manifest.faults);
        let cells = faults.filter_map(|(at, fault)| {
            Some((fault, self.cells.get(&(target, by.to_owned(), Some(at)))?))
        });
        cells
            .map(|(fault, groups)| point(groups, privileged, Some(&fault.label), precision))
            .collect()
    }
}

/// The group that others are set against: one that the campaign names, or the largest.
fn privileged(asked: &Asked, groups: &Groups) -> Option<String> {
    let is_named =
        |group: &&String| asked.privileged.iter().any(|name| name.eq_ignore_ascii_case(group));
    let named = groups.keys().find(is_named);
    let largest =
        || groups.iter().max_by_key(|(_, count)| count.selected().1).map(|(name, _)| name);
    named.or_else(largest).cloned()
}

fn point(
    groups: &Groups,
    privileged: &str,
    fault: Option<&str>,
    precision: &Precision,
) -> Result<FairPoint, StatsError> {
    let rate = |(events, n): (u64, u64)| -> Result<Option<Rate>, StatsError> {
        (n > 0).then(|| precision.rate(events, n)).transpose()
    };
    let mut told =
        FairPoint { fault: fault.map(str::to_owned), groups: Vec::new(), gaps: Vec::new() };
    let own = groups.get(privileged).copied().unwrap_or_default();
    for (name, count) in groups {
        told.groups.push(FairGroup {
            name: name.clone(),
            found: rate(count.found)?,
            wrong: rate(count.wrong)?,
            selected: rate(count.selected())?,
        });
        if name != privileged {
            told.gaps.push(gap(name, &own, count, precision)?);
        }
    }
    Ok(told)
}

fn gap(name: &str, own: &Count, other: &Count, precision: &Precision) -> Result<Gap, StatsError> {
    let level = precision.intervals.level;
    let difference = |a: (u64, u64), b: (u64, u64)| -> Result<Mean, StatsError> {
        Ok(Mean::of(newcombe(a, b, level)?))
    };
    let opportunity = difference(own.found, other.found)?;
    let wrong = difference(own.wrong, other.wrong)?;
    let odds = [opportunity.value, wrong.value].into_iter().flatten().map(f64::abs);
    let (a, b) = (own.found, other.found);
    Ok(Gap {
        group: name.to_owned(),
        parity: difference(own.selected(), other.selected())?,
        odds: wrong.value.and(odds.reduce(f64::max)),
        p_value: fisher_exact(a.0, a.1, b.0, b.1)?,
        opportunity,
    })
}

/// Corrects p-values for all that were tried, and finds the largest gaps.
fn correct(told: &mut Fairness) -> Result<(), StatsError> {
    let gaps = |told: &Fairness| -> Vec<f64> {
        let points = [&told.clean].into_iter().chain(&told.points);
        points.flat_map(|point| &point.gaps).map(|gap| gap.p_value).collect()
    };
    let raw = gaps(told);
    let mut corrected = holm(&raw)?.into_iter();
    let points = [&mut told.clean].into_iter().chain(&mut told.points);
    for gap in points.flat_map(|point| &mut point.gaps) {
        gap.p_value = corrected.next().unwrap_or(1.0);
    }
    told.tests = raw.len() as u64;
    let mut order: Vec<usize> = (0..told.points.len()).collect();
    let size = |at: &usize| {
        let gaps = told.points[*at].gaps.iter();
        gaps.filter_map(|gap| gap.opportunity.value).map(f64::abs).fold(0.0, f64::max)
    };
    order.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.cmp(b)));
    order.truncate(MOST);
    told.largest = order;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_spec::{Intervals, Method};
    use faultlens_stats::Level;

    fn precision() -> Precision {
        let intervals = Intervals { method: Method::Wilson, level: Level::default() };
        Precision { intervals, sequential: false }
    }

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
        let told = point(&groups, "male", None, &precision()).unwrap();
        let [gap] = &told.gaps[..] else { panic!("{told:?}") };
        let opportunity = gap.opportunity.value.unwrap();
        assert!((opportunity - (0.91 - 296.0 / 300.0)).abs() < 1e-12);
        assert!((gap.opportunity.low - -0.115_309_9).abs() < 1e-6, "{gap:?}");
        assert!((gap.opportunity.high - -0.042_473_4).abs() < 1e-6, "{gap:?}");
        assert!(gap.p_value < 1e-4 && gap.odds.is_none());
        assert_eq!(gap.parity, gap.opportunity);
    }

    #[test]
    fn the_largest_group_is_privileged_where_none_is_named() {
        let asked = |privileged: &[&str]| Asked {
            by: vec!["sex".to_owned()],
            privileged: privileged.iter().map(|&name| name.to_owned()).collect(),
            positive: None,
        };
        let groups = groups(&[("a", 1, 3), ("b", 1, 9), ("c", 1, 2)]);
        assert_eq!(privileged(&asked(&[]), &groups).as_deref(), Some("b"));
        assert_eq!(privileged(&asked(&["x", "c"]), &groups).as_deref(), Some("c"));
    }

    #[test]
    fn p_values_are_corrected_for_all_that_was_tried() {
        let counts = [groups(&[("a", 9, 10), ("b", 1, 10)]), groups(&[("a", 5, 10), ("b", 5, 10)])];
        let point = |groups: &Groups| point(groups, "a", Some("x"), &precision()).unwrap();
        let mut told = Fairness {
            target: "t".to_owned(),
            by: "g".to_owned(),
            privileged: "a".to_owned(),
            positive: None,
            clean: point(&counts[1]),
            points: counts.iter().map(point).collect(),
            largest: Vec::new(),
            tests: 0,
        };
        let raw = told.points[0].gaps[0].p_value;
        correct(&mut told).unwrap();
        assert_eq!((told.tests, &told.largest[..]), (3, &[0, 1][..]));
        assert!((told.points[0].gaps[0].p_value - 3.0 * raw).abs() < 1e-12);
        assert_eq!(told.clean.gaps[0].p_value, 1.0);
    }
}
