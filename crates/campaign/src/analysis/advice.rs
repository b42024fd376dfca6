//! Advice to who relies on targets: what the numbers of faults in images mean for them, after the
//! implications that studies of vision services draw.

use super::summary::{Benefit, Fairness, SideBySide};
use super::{Summary, words};

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

/// What to do, one or two sentences each; nothing without faults in images.
pub(super) fn advice(summary: &Summary) -> Vec<String> {
    let Some(table) = &summary.side_by_side else { return Vec::new() };
    let mut all = Vec::new();
    all.extend(plan_for(table));
    all.extend(initial(table));
    all.extend(choose(table));
    all.extend(further_labels(summary));
    all.extend(summary.benefits.iter().filter_map(defend));
    all.extend(summary.fairness.iter().map(fair));
    all
}

fn percent(share: f64) -> String {
    format!("{}%", words::percent(share))
}

/// Which faults matter and which do not.
fn plan_for(table: &SideBySide) -> Option<String> {
    let mut rows: Vec<(&str, f64)> = table
        .rows
        .iter()
        .filter(|row| !row.control)
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
    match (high.is_empty(), low.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!(
            "Plan for {}: where these can occur, most of the loss comes from them.",
            named(&high)
        )),
        (true, false) => Some(format!("Little to fear from {}.", named(&low))),
        (false, false) => Some(format!(
            "Plan for {} first; there is little to fear from {}.",
            named(&high),
            named(&low)
        )),
    }
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
            "Even at the least dose of each fault answers change: {}; check images before asking.",
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
            "Choose with care: {} changes {} of its answers, {} {}; under {} the intervals do not \
             meet.",
            table.targets[best],
            percent(low),
            table.targets[worst],
            percent(high),
            words::counted(apart, "fault")
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
            "Read more than the first answer where the task allows it: with the first five of {}, \
             {} instead of {} lose what was best undisturbed.",
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
        _ => "makes no difference that these trials could show",
    };
    let (size, than) = (100.0 * value.abs(), if value < 0.0 { "more" } else { "fewer" });
    Some(format!(
        "{} before {} {verdict}: {} percentage points {than} wrong answers over all faults; the \
         table tells which faults it is for.",
        benefit.defences,
        benefit.plain,
        words::number(size, 3)
    ))
}

/// Whether groups are treated alike.
fn fair(fairness: &Fairness) -> String {
    let unlike = |point: &super::FairPoint| point.gaps.iter().any(|gap| gap.p_value < SURE);
    let count = fairness.points.iter().filter(|point| unlike(point)).count() as u64;
    let clean = if unlike(&fairness.clean) { "differ" } else { "do not differ surely" };
    format!(
        "Fairness of {} by {}: undisturbed, true positive rates {clean}; under faults they do in \
         {} of {} (Holm's correction over {} tests).",
        fairness.target,
        fairness.by,
        count,
        words::counted(fairness.points.len() as u64, "configuration"),
        fairness.tests
    )
}
