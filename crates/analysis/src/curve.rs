//! Rates along a dose.

use super::attribute::Context;
use super::tally::{Counts, Of, Precision};
use super::{Curve, Rate};
use faultlens_stats::StatsError;
use std::collections::BTreeMap;

/// Rates along a dose, for faults that have at least two doses with all else equal.
pub(super) fn curves(
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
        points.push((amount, counts.rate(precision, Of::Whole)?));
    }
    let curves = curves.into_iter().filter(|(_, points)| points.len() > 1);
    let curve = |((target, fault, axis), mut points): ((u32, _, _), Vec<(f64, Rate)>)| {
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let target = context.manifest.targets.get(target as usize)?.name.clone();
        Some(Curve { target, fault, axis, points })
    };
    Ok(curves.filter_map(curve).collect())
}
