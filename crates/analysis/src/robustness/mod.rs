//! How often predictions are wrong under image faults, by severity: the measures of ImageNet-C
//! (mCE; Hendrycks and Dietterich 2019) and of robust detection benchmarks (mPC and rPC; Michaelis
//! et al. 2020).

mod means;

use crate::context::Context;
use crate::estimate::{Mean, Precision, Rate, Scope};
use crate::sample::{Sample, TrialDraw};
use crate::trial::{SEVERITY, predicts, severity_of, was_answered};
use faultlens_record::Record;
use faultlens_record::store::{FaultOn, ManifestFault};
use faultlens_stats::StatsError;
use means::Means;
use serde::Serialize;
use std::collections::BTreeMap;

/// How often a target's predictions are wrong under image faults.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Robustness {
    /// The target.
    pub target: String,
    /// How often its clean predictions are wrong.
    pub clean: Rate,
    /// By fault, over the severities.
    pub faults: Vec<FaultErrors>,
    /// The share of right predictions under faults, each fault and severity counting the same
    /// (mPC), with a bootstrap interval over images.
    pub mean_accuracy: Option<Mean>,
    /// That relative to the share of right clean predictions (rPC).
    pub kept: Option<Mean>,
    /// The target that errors are relative to, where the campaign names one.
    pub reference: Option<String>,
    /// The mean of the errors relative to the reference's, over faults under which the reference
    /// errs (mCE); `None` without such a fault.
    pub mean_relative: Option<Mean>,
    /// Whether faults have unlike severities, so that means over them weigh unlike things alike.
    pub unlike_severities: bool,
}

/// Wrong predictions under one fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaultErrors {
    /// The fault with its settings but for the severity.
    pub fault: String,
    /// By severity, the share of wrong predictions.
    pub errors: Vec<(f64, Rate)>,
    /// Its mean over the severities.
    pub mean: f64,
    /// All trials of the fault together.
    pub all: Rate,
    /// The mean relative to the reference's (CE).
    pub relative: Option<f64>,
}

/// Wrong predictions by target and fault point.
#[derive(Default)]
pub(crate) struct Errors {
    cells: BTreeMap<(u32, u32), Sample>,
}

impl Errors {
    pub(crate) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        draw: TrialDraw,
    ) -> Result<(), StatsError> {
        let Some(fault) = context.manifest.faults.get(record.fault as usize) else {
            return Ok(());
        };
        // Faults without severities, such as controls, would count as much as the others.
        if fault.on != FaultOn::Image || !fault.settings.contains_key(SEVERITY) {
            return Ok(());
        }
        let golden = context.golden(record.target, record.case);
        let Some(truth) = golden.and_then(|golden| golden.truth.as_ref()) else { return Ok(()) };
        if !was_answered(record) {
            return Ok(());
        }
        let cell = self.cells.entry((record.target, record.fault)).or_default();
        cell.add(draw, !predicts(record, truth))
    }

    /// By target; empty where no truth is known, or no fault has a severity.
    pub(crate) fn robustness(
        &self,
        context: &Context,
        reference: Option<&str>,
        precision: &Precision,
    ) -> Result<Vec<Robustness>, StatsError> {
        let targets = &context.manifest.targets;
        let mut by_target = Vec::new();
        for target in 0..targets.len() as u32 {
            by_target.push(self.faults(context, target, precision)?);
        }
        let reference = reference.and_then(|name| {
            let at = targets.iter().position(|target| target.name == name)?;
            Some((name, at as u32))
        });
        let mut means = Means::new(context, &self.cells, precision.intervals.level)?;
        let mut all = Vec::new();
        for (at, mut faults) in (0..).zip(by_target.clone()) {
            if faults.is_empty() {
                continue;
            }
            for fault in &mut faults {
                let own = reference.map(|(_, own)| &by_target[own as usize]);
                fault.relative = own.and_then(|own| relative(fault, own));
            }
            let severities = |fault: &FaultErrors| -> Vec<u64> {
                fault.errors.iter().map(|(severity, _)| severity.to_bits()).collect()
            };
            let unlike = faults.iter().any(|fault| severities(fault) != severities(&faults[0]));
            all.push(Robustness {
                target: context.target_name(at).to_owned(),
                clean: clean(context, at, precision)?,
                mean_accuracy: means.accuracy(at)?,
                kept: means.kept(at)?,
                mean_relative: match reference {
                    Some((_, own)) => means.relative(at, own)?,
                    None => None,
                },
                reference: reference.map(|(name, _)| name.to_owned()),
                unlike_severities: unlike,
                faults,
            });
        }
        Ok(all)
    }

    /// The faults of a target, each over its severities.
    fn faults(
        &self,
        context: &Context,
        target: u32,
        precision: &Precision,
    ) -> Result<Vec<FaultErrors>, StatsError> {
        let mut faults: BTreeMap<String, Vec<(f64, &Sample)>> = BTreeMap::new();
        for ((_, fault), sample) in self.cells.range((target, 0)..=(target, u32::MAX)) {
            let Some(fault) = context.manifest.faults.get(*fault as usize) else { continue };
            let (severity, label) = severity_or_drawn(fault);
            faults.entry(label).or_default().push((severity, sample));
        }
        let mut all = Vec::new();
        for (fault, mut points) in faults {
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let mut errors = Vec::new();
            let mut sum = Sample::default();
            for (severity, sample) in points {
                errors.push((severity, sample.rate(precision, Scope::Whole)?));
                sum.merge(sample);
            }
            let total: f64 = errors.iter().filter_map(|(_, rate)| rate.value).sum();
            all.push(FaultErrors {
                fault,
                mean: total / errors.len() as f64,
                all: sum.rate(precision, Scope::Whole)?,
                errors,
                relative: None,
            });
        }
        Ok(all)
    }
}

/// The severity of a fault point and the label that its points share; a severity that is drawn for
/// each trial has no number of its own.
pub(super) fn severity_or_drawn(fault: &ManifestFault) -> (f64, String) {
    severity_of(fault).unwrap_or_else(|| (0.0, fault.label.clone()))
}

/// The corruption error (CE): the mean error under a fault over that of the reference under the
/// same fault and severities.
fn relative(fault: &FaultErrors, reference: &[FaultErrors]) -> Option<f64> {
    let own = reference.iter().find(|own| own.fault == fault.fault)?;
    let same_severities = own.errors.iter().map(|(a, _)| a).eq(fault.errors.iter().map(|(b, _)| b));
    (same_severities && own.mean > 0.0).then(|| fault.mean / own.mean)
}

/// How often clean predictions are wrong.
fn clean(context: &Context, target: u32, precision: &Precision) -> Result<Rate, StatsError> {
    let (right, n) = context.clean_accuracy(target);
    precision.rate(n - right, n)
}
