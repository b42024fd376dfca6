//! Whether predictions stay correct, or the same, under changes that people tolerate (Hu et al.,
//! ICSE 2022): correctness-preservation and prediction-preservation.

mod batches;
mod diagnosis;
mod preserved;
mod rank;
mod score;
mod verdict;

pub use preserved::{
    AtEnd, BatchMean, BatchNumbers, BatchRule, ChangeBin, Diagnosis, Distance, NothingToDraw,
    Preserved, PreservedReason, Ranks, ScoreDifference, WorstClass,
};

use crate::context::Context;
use crate::error::AnalysisError;
use crate::estimate::Precision;
use crate::missing::{Evident, OnRecord};
use diagnosis::diagnose;
use faultlens_core::{Outcome, Reason};
use faultlens_judge::Tolerance;
use faultlens_judge::tolerance::Tolerated;
use faultlens_record::Record;
use faultlens_record::store::{FaultOn, Recorded};
use faultlens_spec::{Campaign, Metric, Preservation, Preserves};
use faultlens_stats::StatsError;
use score::{Scored, fitting, scored};
use std::collections::BTreeMap;

/// All requirements of a run with what concerns them.
#[derive(Default)]
pub(crate) struct Preservations {
    all: Vec<(Preservation, Tolerance)>,
    /// By requirement, target and fault's name.
    pools: BTreeMap<(usize, u32, String), Pool>,
}

/// Versions of images under one fault, for one target and requirement.
#[derive(Default)]
struct Pool {
    /// By case.
    versions: BTreeMap<u32, Vec<Scored>>,
    /// Trials for which no strength was found.
    out_of_reach: u64,
    /// Trials whose visual change is not known.
    unknown_change: u64,
    /// Trials that are evidence or should be.
    evident: Evident,
}

impl Preservations {
    pub(crate) fn of(campaign: &Campaign, context: &Context) -> Result<Self, AnalysisError> {
        let kept = &context.manifest.tolerances;
        let mut all = Vec::new();
        for one in &campaign.preserve {
            let name = &one.tolerance;
            let tolerance = match kept.get(name) {
                Some(text) => Tolerance::from_json(text)
                    .map_err(|error| AnalysisError::tolerance(name, error.to_string()))?,
                None => Tolerance::named(name)
                    .ok_or_else(|| AnalysisError::tolerance(name, "it is missing".to_owned()))?,
            };
            all.push((one.clone(), tolerance));
        }
        // A requirement without a record gets a verdict, too.
        let mut pools = BTreeMap::new();
        let faults = context.manifest.faults.iter().filter(|fault| fault.on == FaultOn::Image);
        for fault in faults {
            for (at, (one, tolerance)) in all.iter().enumerate() {
                if concerns(one, tolerance, &fault.name) {
                    for target in 0..context.manifest.targets.len() as u32 {
                        pools.insert((at, target, fault.name.clone()), Pool::default());
                    }
                }
            }
        }
        Ok(Self { all, pools })
    }

    pub(crate) fn add(&mut self, context: &Context, record: &Record) {
        if self.all.is_empty() {
            return;
        }
        let fault = context.manifest.faults.get(record.fault as usize);
        let Some(fault) = fault.filter(|fault| fault.on == FaultOn::Image) else { return };
        let change = record.measures.visual_change;
        for (at, (one, _)) in self.all.iter().enumerate() {
            let key = (at, record.target, fault.name.clone());
            let Some(pool) = self.pools.get_mut(&key) else { continue };
            pool.evident.count(&record.outcome);
            match (change, &record.outcome) {
                (_, Outcome::Skipped(Reason::StrengthNotFound)) => pool.out_of_reach += 1,
                (None, outcome)
                    if record.answer.is_some()
                        || *outcome == Outcome::Skipped(Reason::VisualChangeUnknown) =>
                {
                    pool.unknown_change += 1;
                }
                (None, _) => (),
                (Some(change), _) => {
                    if let Some(scored) = scored(context, one, record, change) {
                        pool.versions.entry(record.case).or_default().push(scored);
                    }
                }
            }
        }
    }

    /// By requirement, fault and target; without `progress` where the run cannot decide.
    pub(crate) fn checked(
        &self,
        context: &Context,
        precision: &Precision,
        progress: Option<&Recorded>,
        on_record: &OnRecord,
    ) -> Result<Vec<Preserved>, StatsError> {
        let mut all = Vec::new();
        for ((at, target, fault), pool) in &self.pools {
            let (one, tolerance) = &self.all[*at];
            let Some(tolerated) = tolerated(one.what, tolerance, fault) else { continue };
            let missing = progress.map(|progress| {
                let open = on_record.open(context, progress, |of, point| {
                    let point = context.manifest.faults.get(point as usize);
                    of == *target && point.is_some_and(|point| point.name == *fault)
                });
                pool.evident.missing(open, one.max_skipped)
            });
            let Some(target) = context.manifest.targets.get(*target as usize) else { continue };
            let metric = fitting(target);
            let named = Named { target: &target.name, fault, metric, tolerance, tolerated };
            let seed = context.manifest.seed;
            let mut preserved = verdict::checked(one, &named, pool, seed, missing)?;
            let versions = pool.versions.values();
            preserved.diagnosis = diagnose(one, &named, versions, precision)?;
            all.push((*at, preserved));
        }
        rank::rank(&mut all, context);
        // Targets under the same fault stand together.
        all.sort_by(|(a, one), (b, other)| (a, &one.fault).cmp(&(b, &other.fault)));
        Ok(all.into_iter().map(|(_, preserved)| preserved).collect())
    }
}

/// What a pool of versions is about.
struct Named<'a> {
    target: &'a str,
    fault: &'a str,
    metric: Metric,
    tolerance: &'a Tolerance,
    tolerated: &'a Tolerated,
}

fn concerns(one: &Preservation, tolerance: &Tolerance, fault: &str) -> bool {
    one.concerns(fault) && tolerated(one.what, tolerance, fault).is_some()
}

fn tolerated<'t>(what: Preserves, tolerance: &'t Tolerance, fault: &str) -> Option<&'t Tolerated> {
    tolerance.of(fault).and_then(|threshold| what.of(threshold))
}
