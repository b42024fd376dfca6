//! How well objects are found under faults in images.

use super::rates::{Cell, number, whole};
use crate::escape::plain;
use faultlens_analysis::words as format;
use faultlens_analysis::{DetectionPoint, DetectionQuality, Mean};

/// One target.
pub(super) struct DetectionView {
    pub(super) target: String,
    /// What is true of all faults together, a sentence each.
    pub(super) summary: Vec<String>,
    /// TIDE's kinds of errors.
    pub(super) kinds: Vec<String>,
    /// Undisturbed, then by fault.
    pub(super) rows: Vec<PointRow>,
}

/// One fault, or none.
pub(super) struct PointRow {
    pub(super) fault: String,
    pub(super) ap: Cell,
    pub(super) interval: String,
    pub(super) ap50: Cell,
    /// How many errors of each kind.
    pub(super) errors: Vec<Cell>,
}

/// The view of one target.
pub(super) fn detection(one: &DetectionQuality) -> DetectionView {
    let kinds: Vec<&String> = one.clean.errors.keys().collect();
    let rows = std::iter::once(&one.clean).chain(&one.points);
    DetectionView {
        target: plain(&one.target),
        summary: summary(one),
        rows: rows.map(|point| row(point, &kinds)).collect(),
        kinds: kinds.into_iter().map(|kind| plain(kind)).collect(),
    }
}

fn summary(one: &DetectionQuality) -> Vec<String> {
    let told = |mean: &Mean| {
        let value =
            mean.value.map_or_else(|| format::NONE.into(), |value| format::number(value, 3));
        format!("{value} [{}]", ends(mean))
    };
    let cases = format::counted(one.cases, "case");
    let mut lines = vec![format!(
        "Undisturbed, over {cases} whose objects are known: AP {}",
        told(&one.clean.ap)
    )];
    if let Some(mean) = &one.mean_ap {
        lines.push(format!(
            "Under faults, over severities and then over faults (mPC): AP {}",
            told(mean)
        ));
    }
    if let Some(kept) = &one.kept {
        lines.push(format!("The share of the undisturbed AP that is left (rPC): {}", told(kept)));
    }
    lines
}

fn row(point: &DetectionPoint, kinds: &[&String]) -> PointRow {
    let share = |value: Option<f64>| {
        number(value.map_or_else(|| format::NONE.into(), |value| format::number(value, 3)), value)
    };
    let count = |kind: &&String| whole(point.errors.get(*kind).copied().unwrap_or(0));
    PointRow {
        fault: point.fault.as_deref().map_or_else(|| "undisturbed".to_owned(), plain),
        ap: share(point.ap.value),
        interval: ends(&point.ap),
        ap50: share(point.ap50),
        errors: kinds.iter().map(count).collect(),
    }
}

fn ends(mean: &Mean) -> String {
    format!("{}, {}", format::number(mean.low, 3), format::number(mean.high, 3))
}
