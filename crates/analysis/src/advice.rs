//! Advice to who relies on targets: what the numbers of faults in images mean for them, after the
//! implications that studies of vision services draw.

use super::summary::{Benefit, Fairness, SideBySide};
use super::{LostObjects, SceneTotal, Summary, format};

/// From this share of changed answers on, a fault counts as one to plan for.
const HIGH: f64 = 0.4;
/// Up to this share, a fault counts as harmless.
const LOW: f64 = 0.1;
/// From this difference on, one target is worth choosing over another.
const APART: f64 = 0.1;
/// Faults under which targets must be apart before one is worth choosing.
const SEVERAL: u64 = 3;
/// Of several p-values, those below count.
const SURE: f64 = 0.05;

/// Changed scenes that are worth more than a look.
const MANY: u64 = 20;
/// From this share on, most of what was lost was unsure before.
const MOSTLY: f64 = 0.5;
/// Faults that ask what a target takes for the same; no camera has them.
const RELATIONS: [&str; 1] = ["mirror"];

/// What to do, one or two sentences each; nothing without faults in images or scenes.
pub(super) fn advice(summary: &Summary) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(table) = &summary.side_by_side {
        all.extend(plan_for(table));
        all.extend(initial(table));
        all.extend(choose(table));
        all.extend(further_labels(summary));
    }
    all.extend(look_at(summary));
    all.extend(summary.scene_totals.iter().filter_map(unsure));
    all.extend(summary.benefits.iter().filter_map(defend));
    all.extend(summary.fairness.iter().map(fair));
    all
}

fn percent(share: f64) -> String {
    format!("{}%", format::percent(share))
}

/// Which faults matter and which do not.
fn plan_for(table: &SideBySide) -> Option<String> {
    let mut rows: Vec<(&str, f64)> = table
        .rows
        .iter()
        .filter(|row| !row.control && !RELATIONS.contains(&row.fault.as_str()))
        .filter_map(|row| Some((row.fault.as_str(), row.mean?)))
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = |rows: &[&(&str, f64)]| {
        let names: Vec<String> = rows
            .iter()
            .take(5)
            .map(|(name, share)| format!("{name} ({})", percent(*share)))
            .collect();
        names.join(", ")
    };
    let high: Vec<_> = rows.iter().filter(|(_, share)| *share >= HIGH).collect();
    let low: Vec<_> = rows.iter().rev().filter(|(_, share)| *share <= LOW).collect();
    // Charts put the trials of all targets together.
    let of = if table.targets.len() > 1 { " (means over the targets)" } else { "" };
    match (high.is_empty(), low.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!(
            "Plan for {}{of}: these faults change predictions most often.",
            named(&high)
        )),
        (true, false) => Some(format!("Low impact: {}{of}.", named(&low))),
        (false, false) => {
            Some(format!("Plan for {} first; low impact: {}{of}.", named(&high), named(&low)))
        }
    }
}

/// What to do with scenes that changed an answer.
fn look_at(summary: &Summary) -> Option<String> {
    let scenes = summary.scene_totals.iter().filter(|total| total.target.is_some());
    let changed: u64 = scenes.map(|total| total.changed.events).sum();
    let learn = match changed {
        0 => return None,
        MANY.. => "; faultlens retrain measures whether training on them helps",
        _ => "",
    };
    let scenes = format::counted(changed, "changed scene");
    Some(format!(
        "Inspect the {scenes} in which other detections changed: faultlens findings exports them \
         as a data set with both predictions drawn{learn}."
    ))
}

/// Whether what a target lost is what it was unsure of before.
fn unsure(total: &SceneTotal) -> Option<String> {
    let (target, lost) = (total.target.as_ref()?, total.lost.as_ref()?);
    let share = lost.unsure as f64 / lost.all.max(1) as f64;
    (lost.all >= MANY && share >= MOSTLY).then(|| {
        format!(
            "{} of {} that {target} lost in changed scenes had a clean score within {} of the \
             lowest that it reports ({}): it was unsure of them before. If you need confident \
             detections only, raise the threshold of the target; inspect the other lost objects \
             first.",
            format::count(lost.unsure),
            format::counted(lost.all, "object"),
            LostObjects::NEAR,
            format::number(lost.least, 2)
        )
    })
}

/// Whether small faults already matter.
fn initial(table: &SideBySide) -> Option<String> {
    let targets = table.targets.iter().zip(&table.initial_means);
    let broken: Vec<String> = targets
        .filter_map(|(name, mean)| Some((name, (*mean)?)))
        .filter(|(_, mean)| *mean >= LOW)
        .map(|(name, mean)| format!("{name} {}", percent(mean)))
        .collect();
    (!broken.is_empty()).then(|| {
        format!(
            "Predictions change even at the lowest severity of each fault: {}; validate inputs \
             before inference.",
            broken.join(", ")
        )
    })
}

/// Which target to choose, where they are surely apart under several faults.
fn choose(table: &SideBySide) -> Option<String> {
    let targets = table.means.iter().enumerate();
    let mut known: Vec<(usize, f64)> =
        targets.filter_map(|(at, mean)| Some((at, (*mean)?))).collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (&(best, low), &(worst, high)) = (known.first()?, known.last()?);
    let apart = table.rows.iter().filter(|row| {
        let cells = (row.cells[best].as_ref(), row.cells[worst].as_ref());
        matches!(cells, (Some(best), Some(worst)) if best.high < worst.low)
    });
    let apart = apart.count() as u64;
    (high - low >= APART && apart >= SEVERAL).then(|| {
        format!(
            "Choose the target with care: {} changes {} of its predictions, {} {}; under {} their \
             intervals do not overlap.",
            table.targets[best],
            percent(low),
            table.targets[worst],
            percent(high),
            format::counted(apart, "fault")
        )
    })
}

/// Whether reading more than the first answer helps.
fn further_labels(summary: &Summary) -> Option<String> {
    let curves = summary.k_curves.iter().filter(|curve| curve.against == "golden");
    let gain =
        |curve: &super::KCurve| Some((curve.rates.first()?.value?, curve.rates.get(4)?.value?));
    let (curve, (first, fifth)) = curves
        .filter_map(|curve| Some((curve, gain(curve)?)))
        .max_by(|(_, a), (_, b)| (a.0 - a.1).total_cmp(&(b.0 - b.1)))?;
    (first - fifth >= APART).then(|| {
        format!(
            "Use more than the top-1 prediction where the task allows it: with the top 5 of {}, \
             {} instead of {} of the trials lose the clean top-1 prediction.",
            curve.target,
            percent(fifth),
            percent(first)
        )
    })
}

/// What a defence is worth.
fn defend(benefit: &Benefit) -> Option<String> {
    let all = benefit.all.as_ref()?;
    // Who answers always the same changes nothing; only what is right tells.
    let of = &all.wrong;
    let value = of.value?;
    let verdict = match (of.low > 0.0, of.high < 0.0) {
        (true, _) => "helps",
        (_, true) => "harms",
        _ => "makes no significant difference",
    };
    let (size, than) = (100.0 * value.abs(), if value < 0.0 { "more" } else { "fewer" });
    Some(format!(
        "{} before {} {verdict}: {} percentage points {than} wrong predictions over all faults; \
         the table shows which faults it helps with.",
        benefit.defences,
        benefit.plain,
        format::number(size, 3)
    ))
}

/// Whether groups are treated alike.
fn fair(fairness: &Fairness) -> String {
    let unlike = |point: &super::FairPoint| point.gaps.iter().any(|gap| gap.p_value < SURE);
    let count = fairness.points.iter().filter(|point| unlike(point)).count() as u64;
    let clean = if unlike(&fairness.clean) { "differ" } else { "do not differ significantly" };
    format!(
        "Fairness of {} by {}: without faults, true positive rates {clean}; under faults they \
         differ in \
         {} of {} (Holm's correction over {} tests).",
        fairness.target,
        fairness.by,
        count,
        format::counted(fairness.points.len() as u64, "configuration"),
        fairness.tests
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rate, SideRow};

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
        let said = plan_for(&table).unwrap();
        assert!(said.starts_with("Plan for fog (50.0%): these"), "{said}");
        table.rows.pop();
        assert_eq!(plan_for(&table), None);
    }

    #[test]
    fn what_was_unsure_is_told_where_it_is_most() {
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
        let said = unsure(&total(40, 30)).unwrap();
        assert!(said.starts_with("30 of 40 objects that eye lost"), "{said}");
        assert!(said.contains("within 0.05 of the lowest that it reports (0.3)"), "{said}");
        assert_eq!(unsure(&total(40, 10)), None);
        assert_eq!(unsure(&total(10, 10)), None);
        assert_eq!(unsure(&SceneTotal { target: None, ..total(40, 30) }), None);
    }
}
