//! Targets with their accuracy and their trials.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use crate::family::Family;
use crate::tally::{Counts, Tally};
use faultlens_stats::StatsError;
use serde::Serialize;
use std::collections::BTreeMap;

/// One target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetSummary {
    /// Its name in the campaign.
    pub name: String,
    /// What it is: the model as the campaign names it.
    pub model: String,
    /// How many clean predictions are right, where cases have labels.
    pub accuracy: Option<Rate>,
    /// All its trials; their rate means something only where all faults are of one family.
    pub tally: Tally,
    /// How often predictions changed, by family of faults.
    pub families: BTreeMap<Family, Rate>,
}

/// Every target; `counts` has the trials by target.
pub(crate) fn targets(
    context: &Context,
    counts: &BTreeMap<u32, Counts>,
    by_family: &BTreeMap<(u32, Family), Counts>,
    precision: &Precision,
) -> Result<Vec<TargetSummary>, StatsError> {
    let mut targets = Vec::new();
    for (at, target) in (0..).zip(&context.manifest.targets) {
        let (right, n) = context.clean_accuracy(at);
        let own = counts.get(&at).cloned().unwrap_or_default();
        let mut families = BTreeMap::new();
        for ((of, family), counts) in by_family {
            if *of == at {
                families.insert(*family, counts.rate(precision, Scope::Whole)?);
            }
        }
        targets.push(TargetSummary {
            families,
            name: target.name.clone(),
            model: target.model.clone(),
            accuracy: precision.known_rate(right, n)?,
            tally: own.tally(precision, Scope::Whole)?,
        });
    }
    Ok(targets)
}
