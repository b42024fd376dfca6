//! What the numbers of image faults and changed scenes mean for those who rely on the targets,
//! after the implications that studies of vision services draw (Santos 2022). Which recommendations
//! hold is decided here, how they read in the report.

use crate::benefit::Benefit;
use crate::fairness::{FairPoint, Fairness};
use crate::scenes::{LostObjects, SceneTotal};
use crate::side_by_side::{KCurve, SideBySide};
use crate::summary::Summary;

/// From this share of changed predictions on, a fault is one to plan for.
const HIGH: f64 = 0.4;
/// Up to this share, a fault has low impact.
const LOW: f64 = 0.1;
/// From this difference on, one target is worth choosing over another.
const APART: f64 = 0.1;
/// Faults under which the intervals of targets must not overlap before one is worth choosing.
const SEVERAL: u64 = 3;
/// Corrected p-values below this are more than chance.
const SIGNIFICANT: f64 = 0.05;
/// From this number of changed scenes on, retraining on them is worth measuring, and the confidence
/// of lost objects worth reporting.
const MANY: u64 = 20;
/// From this share of unsure objects on, a higher threshold is worth considering.
const MOSTLY: f64 = 0.5;
/// Faults that test an invariance of the target; no camera has them.
const RELATIONS: [&str; 1] = ["mirror"];

/// Something to do about what a run found.
#[derive(Debug, Clone, PartialEq)]
pub enum Recommendation<'a> {
    /// Which faults have a high impact, the highest first, and which a low one, the lowest first;
    /// by name and mean share of changed predictions.
    PlanFor {
        /// Faults to plan for.
        high: Vec<(&'a str, f64)>,
        /// Faults with low impact.
        low: Vec<(&'a str, f64)>,
        /// Whether the shares are means over several targets.
        several_targets: bool,
    },
    /// Targets whose predictions change even at the lowest severity, with the share.
    ValidateInputs(Vec<(&'a str, f64)>),
    /// Targets differ enough to choose between them.
    ChooseTarget {
        /// The most robust target, with its share of changed predictions.
        best: (&'a str, f64),
        /// The least robust target.
        worst: (&'a str, f64),
        /// The number of faults under which their intervals do not overlap.
        faults: u64,
    },
    /// The top 5 predictions keep the clean one much more often than the first alone.
    UseTopFive {
        /// The target.
        target: &'a str,
        /// The share of trials that lose the clean prediction at k = 1.
        first: f64,
        /// The same at k = 5.
        fifth: f64,
    },
    /// Scenes changed predictions and can be exported.
    InspectScenes {
        /// How many scenes.
        changed: u64,
        /// Whether they are enough to retrain on.
        retrain: bool,
    },
    /// Most objects that a target lost are ones that it was unsure of.
    RaiseThreshold {
        /// The target.
        target: &'a str,
        /// What it lost.
        lost: LostObjects,
    },
    /// Whether a defence reduces wrong predictions.
    Defence {
        /// The defence.
        benefit: &'a Benefit,
        /// Whether that is more than chance.
        effect: DefenceEffect,
        /// Wrong predictions without it minus those with it, a difference of shares.
        fewer_wrong: f64,
    },
    /// Whether groups have the same true positive rates.
    Fairness {
        /// All numbers.
        fairness: &'a Fairness,
        /// Whether they differ without faults.
        clean_differs: bool,
        /// In how many configurations they differ under faults.
        configurations: u64,
    },
}

/// Whether a defence changes the rate of wrong predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefenceEffect {
    /// It reduces wrong predictions.
    Helps,
    /// It adds wrong predictions.
    Harms,
    /// The interval of the difference includes 0.
    NotSignificant,
}

impl Summary {
    /// Recommendations; none without image faults or changed scenes.
    pub fn recommendations(&self) -> Vec<Recommendation<'_>> {
        let mut all = Vec::new();
        if let Some(table) = &self.images.side_by_side {
            all.extend(plan_for(table));
            all.extend(validate_inputs(table));
            all.extend(choose_target(table));
            all.extend(use_top_five(&self.images.k_curves));
        }
        all.extend(inspect_scenes(&self.scenes.totals));
        all.extend(self.scenes.totals.iter().filter_map(raise_threshold));
        all.extend(self.images.benefits.iter().filter_map(defence));
        all.extend(self.images.fairness.iter().map(fairness));
        all
    }
}

fn plan_for(table: &SideBySide) -> Option<Recommendation<'_>> {
    let mut rows = Vec::new();
    for row in &table.rows {
        if !row.control && !RELATIONS.contains(&row.fault.as_str()) {
            rows.extend(row.mean.map(|mean| (row.fault.as_str(), mean)));
        }
    }
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let high: Vec<_> = rows.iter().copied().filter(|(_, share)| *share >= HIGH).collect();
    let low: Vec<_> = rows.iter().copied().rev().filter(|(_, share)| *share <= LOW).collect();
    if high.is_empty() && low.is_empty() {
        return None;
    }
    Some(Recommendation::PlanFor { high, low, several_targets: table.targets.len() > 1 })
}

fn validate_inputs(table: &SideBySide) -> Option<Recommendation<'_>> {
    let mut sensitive = Vec::new();
    for (name, mean) in table.targets.iter().zip(&table.initial_means) {
        if let Some(mean) = mean.filter(|mean| *mean >= LOW) {
            sensitive.push((name.as_str(), mean));
        }
    }
    (!sensitive.is_empty()).then_some(Recommendation::ValidateInputs(sensitive))
}

fn choose_target(table: &SideBySide) -> Option<Recommendation<'_>> {
    let mut known = Vec::new();
    for (at, mean) in table.means.iter().enumerate() {
        known.extend(mean.map(|mean| (at, mean)));
    }
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (best, low) = *known.first()?;
    let (worst, high) = *known.last()?;
    let apart = table.rows.iter().filter(|row| match (&row.cells[best], &row.cells[worst]) {
        (Some(best), Some(worst)) => best.high < worst.low,
        _ => false,
    });
    let faults = apart.count() as u64;
    if high - low < APART || faults < SEVERAL {
        return None;
    }
    let best = (table.targets[best].as_str(), low);
    let worst = (table.targets[worst].as_str(), high);
    Some(Recommendation::ChooseTarget { best, worst, faults })
}

fn use_top_five(curves: &[KCurve]) -> Option<Recommendation<'_>> {
    let mut largest: Option<(&KCurve, f64, f64)> = None;
    for curve in curves.iter().filter(|curve| curve.against == "golden") {
        let first = curve.rates.first().and_then(|rate| rate.value);
        let fifth = curve.rates.get(4).and_then(|rate| rate.value);
        let Some((first, fifth)) = first.zip(fifth) else { continue };
        if largest.is_none_or(|(_, one, five)| first - fifth >= one - five) {
            largest = Some((curve, first, fifth));
        }
    }
    let (curve, first, fifth) = largest?;
    let target = &curve.target;
    (first - fifth >= APART).then_some(Recommendation::UseTopFive { target, first, fifth })
}

fn inspect_scenes(totals: &[SceneTotal]) -> Option<Recommendation<'_>> {
    let by_target = totals.iter().filter(|total| total.target.is_some());
    let changed: u64 = by_target.map(|total| total.changed.events).sum();
    let retrain = changed >= MANY;
    (changed > 0).then_some(Recommendation::InspectScenes { changed, retrain })
}

fn raise_threshold(total: &SceneTotal) -> Option<Recommendation<'_>> {
    let target = total.target.as_ref()?;
    let lost = total.lost?;
    let share = lost.unsure as f64 / lost.all.max(1) as f64;
    (lost.all >= MANY && share >= MOSTLY).then_some(Recommendation::RaiseThreshold { target, lost })
}

/// Only wrong predictions count: a target that always predicts the same never changes.
fn defence(benefit: &Benefit) -> Option<Recommendation<'_>> {
    let wrong = &benefit.all.as_ref()?.wrong;
    let effect = if wrong.low > 0.0 {
        DefenceEffect::Helps
    } else if wrong.high < 0.0 {
        DefenceEffect::Harms
    } else {
        DefenceEffect::NotSignificant
    };
    Some(Recommendation::Defence { benefit, effect, fewer_wrong: wrong.value? })
}

fn fairness(fairness: &Fairness) -> Recommendation<'_> {
    let differing = fairness.points.iter().filter(|point| differs(point));
    Recommendation::Fairness {
        fairness,
        clean_differs: differs(&fairness.clean),
        configurations: differing.count() as u64,
    }
}

fn differs(point: &FairPoint) -> bool {
    point.gaps.iter().any(|gap| gap.p_value < SIGNIFICANT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Rate;
    use crate::side_by_side::SideRow;

    #[test]
    fn only_faults_that_happen_are_planned_for() {
        let row = |fault: &str, mean: f64| SideRow {
            fault: fault.to_owned(),
            control: false,
            cells: Vec::new(),
            initial: Vec::new(),
            mean: Some(mean),
        };
        let mut table = SideBySide {
            targets: vec!["eye".to_owned()],
            rows: vec![row("mirror", 0.9), row("fog", 0.5)],
            means: Vec::new(),
            initial_means: Vec::new(),
        };
        let high = vec![("fog", 0.5)];
        let wanted = Recommendation::PlanFor { high, low: Vec::new(), several_targets: false };
        assert_eq!(plan_for(&table), Some(wanted));
        table.rows.pop();
        assert_eq!(plan_for(&table), None);
    }

    #[test]
    fn a_threshold_is_raised_where_most_lost_objects_were_unsure() {
        let total = |all, unsure| SceneTotal {
            target: Some("eye".to_owned()),
            objects: 9,
            unsteady: 0,
            scenes: 100,
            moved: 0,
            changed: Rate::default(),
            lost: Some(LostObjects { all, least: 0.3, unsure }),
            queries: 100,
            seconds: 1.0,
            money: None,
        };
        assert!(raise_threshold(&total(40, 30)).is_some());
        assert_eq!(raise_threshold(&total(40, 10)), None);
        assert_eq!(raise_threshold(&total(10, 10)), None);
        assert_eq!(raise_threshold(&SceneTotal { target: None, ..total(40, 30) }), None);
    }
}
