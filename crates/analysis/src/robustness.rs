//! How often answers are wrong under faults in images, by severity: what ImageNet-C and its kin
//! report (Hendrycks and Dietterich 2019; Michaelis et al. 2020).

use super::attribute::Context;
use super::tally::Precision;
use super::{FaultErrors, Rate, Robustness};
use faultlens_core::{Outcome, Reason};
use faultlens_faults::CONTROLS;
use faultlens_judge::same_letters;
use faultlens_record::Record;
use faultlens_record::store::FaultOn;
use faultlens_stats::StatsError;
use std::collections::BTreeMap;

/// The axis that faults of unlike strengths have in common.
pub(super) const SEVERITY: &str = "severity";

/// Answers with a known truth.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    wrong: u64,
    n: u64,
}

/// What is known at a severity.
type Point = (f64, Known);

/// Wrong answers by target and fault point.
#[derive(Default)]
pub(super) struct Errors {
    cells: BTreeMap<(u32, u32), Known>,
}

impl Errors {
    pub(super) fn add(&mut self, context: &Context, record: &Record) {
        let fault = context.manifest.faults.get(record.fault as usize);
        let graded = fault.is_some_and(|fault| {
            // Faults without severities, such as controls, would count as much as the others.
            fault.on == FaultOn::Image && fault.settings.contains_key(SEVERITY)
        });
        let golden = context.golden(record.target, record.case);
        let Some(truth) = golden.and_then(|golden| golden.truth.as_ref()).filter(|_| graded) else {
            return;
        };
        if !was_answered(record) {
            return;
        }
        let known = self.cells.entry((record.target, record.fault)).or_default();
        known.wrong += u64::from(!says(record, truth));
        known.n += 1;
    }

    /// By target; empty where nothing is known of the truth, or nothing has a severity.
    pub(super) fn robustness(
        &self,
        context: &Context,
        reference: Option<&str>,
        precision: &Precision,
    ) -> Result<Vec<Robustness>, StatsError> {
        let targets = (0..).zip(&context.manifest.targets);
        let by_target =
            targets.map(|(at, target)| Ok((target, self.faults(context, at, precision)?)));
        let by_target = by_target.collect::<Result<Vec<_>, StatsError>>()?;
        let of_reference =
            by_target.iter().find(|(target, _)| Some(target.name.as_str()) == reference);
        let of_reference = of_reference.map(|(_, faults)| faults.clone());
        let mut all = Vec::new();
        for (at, (target, mut faults)) in
            (0..).zip(by_target).filter(|(_, (_, own))| !own.is_empty())
        {
            for fault in &mut faults {
                fault.relative = of_reference.as_ref().and_then(|known| relative(fault, known));
            }
            let mean = |of: &dyn Fn(&FaultErrors) -> Option<f64>| {
                let known: Vec<f64> = faults.iter().filter_map(of).collect();
                (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
            };
            let clean = clean(context, at, precision)?;
            let right = mean(&|fault| Some(1.0 - fault.mean));
            all.push(Robustness {
                target: target.name.clone(),
                mean_accuracy: right,
                kept: right
                    .zip(clean.value.filter(|wrong| *wrong < 1.0))
                    .map(|(right, wrong)| right / (1.0 - wrong)),
                mean_relative: mean(&|fault| fault.relative),
                reference: reference.filter(|_| of_reference.is_some()).map(str::to_owned),
                clean,
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
        let mut faults: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        for ((_, fault), counts) in self.cells.range((target, 0)..=(target, u32::MAX)) {
            let Some(fault) = context.manifest.faults.get(*fault as usize) else { continue };
            let severity = fault.settings.get(SEVERITY).and_then(|number| number.as_f64());
            let severity = severity.unwrap_or(0.0);
            let rest = fault.label.replace(&format!(" {SEVERITY}={severity}"), "");
            faults.entry(rest).or_default().push((severity, *counts));
        }
        let errors = |(fault, mut points): (String, Vec<Point>)| {
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let rate =
                |(severity, known): &Point| Ok((*severity, precision.rate(known.wrong, known.n)?));
            let sum = |of: fn(&Known) -> u64| points.iter().map(|(_, known)| of(known)).sum();
            let all = precision.rate(sum(|known| known.wrong), sum(|known| known.n))?;
            let errors: Vec<(f64, Rate)> = points.iter().map(rate).collect::<Result<_, _>>()?;
            let sum: f64 = errors.iter().filter_map(|(_, rate)| rate.value).sum();
            let mean = sum / errors.len() as f64;
            Ok(FaultErrors { fault, all, mean, errors, relative: None })
        };
        faults.into_iter().map(errors).collect()
    }
}

/// Whether a trial says what the target makes of the image: an answer, or none in spite of it. A
/// trial that a guard bars is not asked, and one whose answer got lost on the way says nothing.
pub(super) fn was_answered(record: &Record) -> bool {
    record.cost.queries > 0
        && !matches!(record.outcome, Outcome::TimedOut | Outcome::Skipped(Reason::NoResponse))
}

/// Whether a fault in an image cost the undisturbed answer; `None` where that is not known.
pub(super) fn changed(record: &Record) -> Option<bool> {
    match record.outcome {
        Outcome::Unchanged => Some(false),
        Outcome::Changed | Outcome::Detected | Outcome::Crashed => Some(true),
        Outcome::TimedOut | Outcome::Skipped(_) => None,
    }
}

/// Whether a fault is there to show what happens without one.
pub(super) fn is_control(fault: &str) -> bool {
    CONTROLS.contains(&fault)
}

/// Whether a trial's answer is this one, whatever its case.
pub(super) fn says(record: &Record, answer: &str) -> bool {
    record.answer.as_ref().is_some_and(|own| same_letters(own, answer))
}

/// Errors beside those of the reference under the same fault and severities.
fn relative(fault: &FaultErrors, reference: &[FaultErrors]) -> Option<f64> {
    let own = reference.iter().find(|own| own.fault == fault.fault)?;
    let severities = |of: &FaultErrors| of.errors.iter().map(|(s, _)| *s).collect::<Vec<_>>();
    (severities(own) == severities(fault) && own.mean > 0.0).then(|| fault.mean / own.mean)
}

/// How often undisturbed answers are wrong.
fn clean(context: &Context, target: u32, precision: &Precision) -> Result<Rate, StatsError> {
    let known = context.goldens().filter(|golden| golden.target == target);
    let known = known.filter_map(|golden| golden.correct);
    let (wrong, n) = known.fold((0, 0), |(wrong, n), right| (wrong + u64::from(!right), n + 1));
    precision.rate(wrong, n)
}
