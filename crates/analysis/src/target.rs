//! Targets with their accuracy and their trials.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
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
    /// All its trials.
    pub tally: Tally,
}

/// Every target; `counts` has the trials by target.
pub(crate) fn targets(
    context: &Context,
    counts: &BTreeMap<u32, Counts>,
    precision: &Precision,
) -> Result<Vec<TargetSummary>, StatsError> {
    let mut targets = Vec::new();
    for (at, target) in (0..).zip(&context.manifest.targets) {
        let (right, n) = context.clean_accuracy(at);
        let own = counts.get(&at).cloned().unwrap_or_default();
        targets.push(TargetSummary {
            name: target.name.clone(),
            model: target.model.clone(),
            accuracy: precision.known_rate(right, n)?,
            tally: own.tally(precision, Scope::Whole)?,
        });
    }
    Ok(targets)
}
