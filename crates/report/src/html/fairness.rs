//! Whether answers are as good for all groups of cases.

use super::rates::{Cell, number};
use crate::escape::plain;
use crate::svg::{Caption, Row, dots};
use faultlens_analysis::words as format;
use faultlens_analysis::{FairPoint, Fairness, Gap, Mean};

/// One target and stratum.
pub(super) struct FairnessView {
    pub(super) id: String,
    pub(super) target: String,
    pub(super) by: String,
    /// What is counted and how, in a sentence.
    pub(super) about: String,
    /// True positive rates by group, undisturbed and under the faults of the largest gaps: what it
    /// is, and the chart.
    pub(super) charts: Vec<(String, String)>,
    pub(super) privileged: String,
    /// The undisturbed gaps, then the largest ones.
    pub(super) rows: Vec<GapRow>,
    /// All others.
    pub(super) others: Vec<GapRow>,
}

/// One gap.
pub(super) struct GapRow {
    pub(super) fault: String,
    pub(super) group: String,
    pub(super) privileged: Cell,
    pub(super) other: Cell,
    pub(super) opportunity: Cell,
    pub(super) parity: Cell,
    pub(super) odds: Cell,
    pub(super) p_value: Cell,
}

/// The view of one target and stratum.
pub(super) fn fairness(at: usize, one: &Fairness) -> FairnessView {
    let largest = || one.largest.iter().filter_map(|&at| one.points.get(at));
    let shown: Vec<&FairPoint> = [&one.clean].into_iter().chain(largest()).collect();
    let rest = one.points.iter().enumerate().filter(|(at, _)| !one.largest.contains(at));
    FairnessView {
        id: format!("fair-{at}"),
        target: plain(&one.target),
        by: plain(&one.by),
        about: about(one),
        charts: (0..)
            .zip(&shown)
            .map(|(place, point)| chart(&format!("fair-{at}-{place}"), one, point))
            .collect(),
        privileged: plain(&one.privileged),
        rows: shown.iter().flat_map(|point| rows(point, &one.privileged)).collect(),
        others: rest.flat_map(|(_, point)| rows(point, &one.privileged)).collect(),
    }
}

fn about(one: &Fairness) -> String {
    let positive = match &one.positive {
        Some(name) => format!("answers that say {}", plain(name)),
        None => "right answers".to_owned(),
    };
    format!(
        "Positive: {positive}. Differences are the rate of {} less that of the other group; \
         p-values of equal true positive rates by Fisher's exact test, Holm's correction over {}",
        plain(&one.privileged),
        format::counted(one.tests, "test")
    )
}

/// True positive rates by group under one fault.
fn chart(id: &str, one: &Fairness, point: &FairPoint) -> (String, String) {
    let fault = point.fault.as_deref().unwrap_or("undisturbed");
    let groups = point.groups.iter().filter_map(|group| Some((group, group.found.as_ref()?)));
    let rows: Vec<Row<'_>> = groups.map(|(group, rate)| Row { label: &group.name, rate }).collect();
    let title = format!("True positive rate by {}, {}: {fault}", one.by, one.target);
    let about = "The table has all numbers.";
    (plain(fault), dots(&Caption { id, title: &title, about }, &rows, None))
}

fn rows(point: &FairPoint, privileged: &str) -> Vec<GapRow> {
    let found = |name: &str| {
        let group = point.groups.iter().find(|group| group.name == name);
        let rate = group.and_then(|group| group.found.as_ref());
        rate.map_or_else(
            || number(format::NONE.into(), None),
            |rate| number(format::rate(rate), rate.value),
        )
    };
    let row = |gap: &Gap| GapRow {
        fault: point.fault.as_deref().map_or("undisturbed".into(), plain),
        group: plain(&gap.group),
        privileged: found(privileged),
        other: found(&gap.group),
        opportunity: difference(&gap.opportunity),
        parity: difference(&gap.parity),
        odds: number(
            gap.odds.map_or(format::NONE.into(), |odds| format::number(100.0 * odds, 3)),
            gap.odds,
        ),
        p_value: number(format::p_value(gap.p_value), Some(gap.p_value)),
    };
    point.gaps.iter().map(row).collect()
}

/// Percentage points with their interval.
pub(super) fn difference(mean: &Mean) -> Cell {
    let text = mean.value.map_or(format::NONE.into(), |value| {
        let [value, low, high] =
            [value, mean.low, mean.high].map(|share| format::number(100.0 * share, 3));
        format!("{value} [{low}, {high}]")
    });
    number(text, mean.value)
}
