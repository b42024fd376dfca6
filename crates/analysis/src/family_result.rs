//! Rates by family of faults: what disturbs different things is in no rate together.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use crate::family::Family;
use crate::tally::{Counts, Tally};
use faultlens_stats::StatsError;
use serde::Serialize;
use std::collections::BTreeMap;

/// The trials of one family.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FamilyResult {
    /// The family.
    pub family: Family,
    /// Its trials.
    pub tally: Tally,
    /// The target and fault point with the highest rate, of those with enough trials.
    pub worst: Option<WorstPoint>,
}

/// The target and fault point with the highest rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstPoint {
    /// The target.
    pub target: String,
    /// The fault with its settings.
    pub point: String,
    /// How often the prediction changed.
    pub rate: Rate,
}

/// Trials that a target and fault point needs before it is called the worst.
const ENOUGH: u64 = 20;

/// Every family that has trials; `cells` are by target and fault.
pub(crate) fn families(
    context: &Context,
    counts: &BTreeMap<Family, Counts>,
    cells: &BTreeMap<(u32, u32), Counts>,
    precision: &Precision,
) -> Result<Vec<FamilyResult>, StatsError> {
    let mut worst: BTreeMap<Family, WorstPoint> = BTreeMap::new();
    for ((target, fault), cell) in cells {
        let Some(fault) = context.manifest.faults.get(*fault as usize) else { continue };
        let rate = cell.rate(precision, Scope::Whole)?;
        let family = Family::from(fault.on);
        let is_worse = worst.get(&family).is_none_or(|known| known.rate.value < rate.value);
        if is_worse && rate.n >= ENOUGH && rate.events > 0 {
            let target = context.target_name(*target).to_owned();
            worst.insert(family, WorstPoint { target, point: fault.label.clone(), rate });
        }
    }
    let mut results = Vec::new();
    for (&family, counts) in counts {
        let tally = counts.tally(precision, Scope::Whole)?;
        results.push(FamilyResult { family, tally, worst: worst.remove(&family) });
    }
    Ok(results)
}
