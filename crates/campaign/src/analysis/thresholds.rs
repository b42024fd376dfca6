//! How far numeric answers moved: shares of trials beyond each threshold of the oracle.

use super::Beyond;
use super::attribute::Context;
use super::tally::{Precision, rate};
use crate::config::Campaign;
use crate::record::Record;
use faultlens_core::OutcomeKind;
use faultlens_stats::{StatsError, Weighted};
use std::collections::BTreeMap;

/// What records call how far the answer moved.
const DEVIATION: &str = "deviation";

/// Counts trials beyond thresholds.
pub(super) struct Thresholds {
    /// Rising; empty where the oracle has none.
    thresholds: Vec<f64>,
    /// By target and fault, for each threshold.
    cells: BTreeMap<(u32, u32), Vec<(u64, Weighted)>>,
    /// Whether any trial says how far its answer moved.
    measured: bool,
    /// Whether some trial counts for more or less than one.
    uneven: bool,
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
        Self { thresholds, cells: BTreeMap::new(), measured: false, uneven: false }
    }

    pub(super) fn add(&mut self, record: &Record, weight: f64) -> Result<(), StatsError> {
        if self.thresholds.is_empty() || record.outcome.kind() == OutcomeKind::Unjudged {
            return Ok(());
        }
        let deviation = record.extra.get(DEVIATION).and_then(|text| text.parse::<f64>().ok());
        self.measured |= deviation.is_some();
        self.uneven |= weight != 1.0;
        let fresh = || vec![(0, Weighted::default()); self.thresholds.len()];
        let cell = self.cells.entry((record.target, record.fault)).or_insert_with(fresh);
        for (threshold, (events, sums)) in self.thresholds.iter().zip(cell) {
            // An answer that is golden, or that gives the fault away, lies beyond none.
            let beyond = deviation.is_some_and(|deviation| deviation > *threshold);
            *events += u64::from(beyond);
            sums.add(weight, if beyond { 1.0 } else { 0.0 })?;
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
            let of = |(events, sums): &(u64, Weighted)| match self.uneven {
                true => Ok(rate(*events, sums.total(precision.intervals.level)?)),
                false => precision.rate(*events, sums.n()),
            };
            let rates = self.thresholds.iter().zip(cell);
            let rates = rates.map(|(threshold, counted)| Ok((*threshold, of(counted)?)));
            let rates = rates.collect::<Result<_, StatsError>>()?;
            let (target, point) = (target.name.clone(), fault.label.clone());
            all.push(Beyond { target, point, rates });
        }
        Ok(all)
    }
}
