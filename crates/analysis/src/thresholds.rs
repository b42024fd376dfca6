//! How far numeric outputs changed: the share of trials beyond each threshold of the oracle.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use crate::sample::{Sample, TrialDraw};
use faultlens_core::OutcomeKind;
use faultlens_record::Record;
use faultlens_spec::Campaign;
use faultlens_stats::StatsError;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many trials of a target and fault lie beyond each threshold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThresholdRates {
    /// The target.
    pub target: String,
    /// The fault with its settings.
    pub point: String,
    /// Thresholds, rising, and how often the output changed by more.
    pub rates: Vec<(f64, Rate)>,
}

/// What records call the size of the output change.
const DEVIATION: &str = "deviation";

/// Counts trials beyond thresholds.
pub(crate) struct Thresholds {
    /// Rising; empty where the oracle has none.
    thresholds: Vec<f64>,
    /// By target and fault, for each threshold.
    cells: BTreeMap<(u32, u32), Vec<Sample>>,
    /// Whether any trial has the size of its output change on record.
    measured: bool,
}

impl Thresholds {
    pub(crate) fn of(campaign: &Campaign) -> Self {
        let (name, settings) = &campaign.judge.oracle;
        let mut thresholds = Vec::new();
        if *name == "same_values" {
            thresholds.extend(settings.number_if_set("tolerance"));
            let further = settings.names("further").iter();
            thresholds.extend(further.filter_map(|text| text.parse::<f64>().ok()));
        }
        Self::new(thresholds)
    }

    fn new(mut thresholds: Vec<f64>) -> Self {
        thresholds.retain(|threshold| threshold.is_finite());
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        Self { thresholds, cells: BTreeMap::new(), measured: false }
    }

    pub(crate) fn add(&mut self, record: &Record, weight: TrialDraw) -> Result<(), StatsError> {
        if self.thresholds.is_empty() || record.outcome.kind() == OutcomeKind::Skipped {
            return Ok(());
        }
        let deviation = record.measures.oracle_value(DEVIATION);
        self.measured |= deviation.is_some();
        let cell = self
            .cells
            .entry((record.target, record.fault))
            .or_insert_with(|| vec![Sample::default(); self.thresholds.len()]);
        for (threshold, sample) in self.thresholds.iter().zip(cell) {
            // An unchanged output, or a detected one, has no deviation on record.
            let beyond = deviation.is_some_and(|deviation| deviation > *threshold);
            sample.add(weight, beyond)?;
        }
        Ok(())
    }

    /// By target and fault point.
    pub(crate) fn rates(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<ThresholdRates>, StatsError> {
        let mut all = Vec::new();
        if !self.measured {
            return Ok(all);
        }
        for ((target, fault), cell) in &self.cells {
            let target = context.manifest.targets.get(*target as usize);
            let fault = context.manifest.faults.get(*fault as usize);
            let (Some(target), Some(fault)) = (target, fault) else { continue };
            let mut rates = Vec::new();
            for (threshold, sample) in self.thresholds.iter().zip(cell) {
                rates.push((*threshold, sample.rate(precision, Scope::Whole)?));
            }
            let target = target.name.clone();
            all.push(ThresholdRates { target, point: fault.label.clone(), rates });
        }
        Ok(all)
    }
}
