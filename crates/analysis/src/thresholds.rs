//! How far numeric answers moved: shares of trials beyond each threshold of the oracle.

use super::Beyond;
use super::attribute::Context;
use super::sample::{Sample, Stake};
use super::tally::{Of, Precision};
use faultlens_core::OutcomeKind;
use faultlens_record::Record;
use faultlens_spec::Campaign;
use faultlens_stats::StatsError;
use std::collections::BTreeMap;

/// What records call how far the answer moved.
const DEVIATION: &str = "deviation";

/// Counts trials beyond thresholds.
pub(super) struct Thresholds {
    /// Rising; empty where the oracle has none.
    thresholds: Vec<f64>,
    /// By target and fault, for each threshold.
    cells: BTreeMap<(u32, u32), Vec<Sample>>,
    /// Whether any trial says how far its answer moved.
    measured: bool,
}

impl Thresholds {
    pub(super) fn of(campaign: &Campaign) -> Self {
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

    pub(super) fn add(&mut self, record: &Record, stake: Stake) -> Result<(), StatsError> {
        if self.thresholds.is_empty() || record.outcome.kind() == OutcomeKind::Skipped {
            return Ok(());
        }
        let deviation = record.measures.oracle_value(DEVIATION);
        self.measured |= deviation.is_some();
        let fresh = || vec![Sample::default(); self.thresholds.len()];
        let cell = self.cells.entry((record.target, record.fault)).or_insert_with(fresh);
        for (threshold, sample) in self.thresholds.iter().zip(cell) {
            // An answer that is golden, or that gives the fault away, lies beyond none.
            let beyond = deviation.is_some_and(|deviation| deviation > *threshold);
            sample.add(stake, beyond)?;
        }
        Ok(())
    }

    pub(super) fn beyond(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Beyond>, StatsError> {
        let mut all = Vec::new();
        for ((target, fault), cell) in self.cells.iter().filter(|_| self.measured) {
            let target = context.manifest.targets.get(*target as usize);
            let fault = context.manifest.faults.get(*fault as usize);
            let (Some(target), Some(fault)) = (target, fault) else { continue };
            let rates = self.thresholds.iter().zip(cell);
            let rates = rates
                .map(|(threshold, sample)| Ok((*threshold, sample.rate(precision, Of::Whole)?)));
            let rates = rates.collect::<Result<_, StatsError>>()?;
            let (target, point) = (target.name.clone(), fault.label.clone());
            all.push(Beyond { target, point, rates });
        }
        Ok(all)
    }
}
