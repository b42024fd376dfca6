//! Rates along a dose.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use crate::tally::Counts;
use faultlens_stats::StatsError;
use serde::Serialize;
use std::collections::BTreeMap;

/// Rates along a dose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The target.
    pub target: String,
    /// The fault.
    pub fault: String,
    /// What the dose is, such as `severity`.
    pub axis: String,
    /// Doses in rising order with their rates.
    pub points: Vec<(f64, Rate)>,
}

/// Rates along a dose, for faults that have at least two doses with all else equal.
pub(crate) fn curves(
    context: &Context,
    cells: &BTreeMap<(u32, u32), Counts>,
    precision: &Precision,
) -> Result<Vec<Curve>, StatsError> {
    let mut curves: BTreeMap<(u32, String, String), Vec<(f64, Rate)>> = BTreeMap::new();
    for ((target, fault), counts) in cells {
        let Some(fault) = context.manifest.faults.get(*fault as usize) else { continue };
        let (Some(axis), Some(amount)) = (&fault.axis, fault.amount) else { continue };
        // What is left of the label without the dose is what the points have in common.
        let rest = fault.label.replace(&format!(" {axis}={amount}"), "");
        let points = curves.entry((*target, rest, axis.clone())).or_default();
        points.push((amount, counts.rate(precision, Scope::Whole)?));
    }
    let mut sorted = Vec::new();
    for ((target, fault, axis), mut points) in curves {
        if points.len() > 1 {
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let target = context.target_name(target).to_owned();
            sorted.push(Curve { target, fault, axis, points });
        }
    }
    Ok(sorted)
}
