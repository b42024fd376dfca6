//! How attacks fared: how many predictions they changed, and at what cost.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use crate::masking::{Attempt, BothKinds, Limit};
use crate::sample::{Sample, TrialDraw};
use faultlens_core::OutcomeKind;
use faultlens_faults::attack::Needs;
use faultlens_faults::{ATTACKS, Attack};
use faultlens_record::Record;
use faultlens_record::store::{FaultOn, ManifestFault};
use faultlens_stats::survival::{Lifetimes, kaplan_meier};
use faultlens_stats::{StatsError, holm};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How an attack fared against a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttackResult {
    /// The target.
    pub target: String,
    /// The attack with its settings.
    pub attack: String,
    /// What it uses of the target: `gradients`, `scores` or `answers`.
    pub needs: String,
    /// Cases whose prediction it changed within its budget.
    pub changed: Rate,
    /// Cases whose last image the target rejected.
    pub rejected: u64,
    /// The median number of queries until the prediction changed, over those cases.
    pub queries: Option<f64>,
    /// The median distance of the closest adversarial image by the attack's own norm, over those
    /// cases.
    pub distance: Option<f64>,
    /// The median CPU seconds until the prediction changed, over those cases.
    pub cpu_seconds: Option<f64>,
    /// The share of predictions that survive N queries (Kaplan and Meier), at each N where it
    /// falls; empty for attacks that try once, whose queries say nothing of how long a prediction
    /// survives.
    #[serde(rename = "standing")]
    pub survival: Vec<SurvivingShare>,
}

/// The share of predictions that survive a number of queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SurvivingShare {
    /// The number of queries.
    pub queries: f64,
    /// The share.
    pub share: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// A target that masks its gradients: attacks without gradients change more predictions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Masking {
    /// The target.
    pub target: String,
    /// The norm that perturbations are measured by.
    pub norm: String,
    /// The largest perturbation that counts.
    pub epsilon: f64,
    /// Cases that both kinds of attack were tried on.
    pub cases: u64,
    /// Those of them whose prediction query-based attacks changed.
    pub asking: u64,
    /// Those of them whose prediction gradient-based attacks changed.
    pub following: u64,
    /// The corrected p-value of "both change as many".
    pub p_value: f64,
}

/// Masked gradients are reported below this corrected p-value.
const SIGNIFICANT: f64 = 0.05;

/// Trials of attacks.
#[derive(Default)]
pub(crate) struct Attacks {
    /// By target and fault.
    trials: BTreeMap<(u32, u32), Vec<Try>>,
}

/// One attacked case.
struct Try {
    case: u32,
    draw: TrialDraw,
    rejected: bool,
    queries: u32,
    /// `None` where no change was found.
    success: Option<Success>,
}

/// What the attack needed until the prediction changed, and its closest adversarial image.
struct Success {
    queries: f64,
    cpu_seconds: f64,
    distance: f64,
    distance_inf: f64,
    distance_2: f64,
}

impl Attacks {
    pub(crate) fn add(&mut self, context: &Context, record: &Record, draw: TrialDraw) {
        let Some(fault) = context.manifest.faults.get(record.fault as usize) else { return };
        if fault.on != FaultOn::Attack || record.outcome.kind() == OutcomeKind::Skipped {
            return;
        }
        let attack = record.measures.attack.as_ref();
        let success = attack.and_then(|attack| attack.success.as_ref());
        let one = Try {
            case: record.case,
            draw,
            queries: record.cost.queries,
            // A prediction that is not finite is detected too, but was not rejected.
            rejected: record.outcome.kind() == OutcomeKind::Detected
                && record.measures.error.is_some(),
            success: success.map(|success| Success {
                queries: success.first.queries as f64,
                cpu_seconds: success.first.cpu_seconds,
                distance: success.distance,
                distance_inf: success.distance_inf,
                distance_2: success.distance_2,
            }),
        };
        self.trials.entry((record.target, record.fault)).or_default().push(one);
    }

    /// By target and attack, how it fared.
    pub(crate) fn results(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<AttackResult>, StatsError> {
        let mut results = Vec::new();
        for (&(target, fault), tries) in &self.trials {
            let fault = &context.manifest.faults[fault as usize];
            let successes: Vec<&Success> =
                tries.iter().filter_map(|one| one.success.as_ref()).collect();
            results.push(AttackResult {
                target: context.target_name(target).to_owned(),
                attack: fault.label.clone(),
                needs: needs(fault).map_or("", needs_name).to_owned(),
                changed: changed(tries)?.rate(precision, Scope::Whole)?,
                rejected: tries.iter().filter(|one| one.rejected).count() as u64,
                queries: median(successes.iter().map(|one| one.queries).collect()),
                distance: median(successes.iter().map(|one| one.distance).collect()),
                cpu_seconds: median(successes.iter().map(|one| one.cpu_seconds).collect()),
                survival: survival(fault, tries, precision),
            });
        }
        Ok(results)
    }

    /// Targets whose gradients are masked (Athalye et al. 2018): query-based attacks change more
    /// predictions than gradient-based ones with perturbations of the same size, so that
    /// gradient-based attacks underestimate how vulnerable the target is. Tested by McNemar with
    /// Holm's correction.
    pub(crate) fn masked(&self, context: &Context) -> Result<Vec<Masking>, StatsError> {
        let mut all = Vec::new();
        for target in 0..context.manifest.targets.len() as u32 {
            let mut limits = BTreeSet::new();
            for (fault, _) in self.of_target(target) {
                limits.extend(limit(&context.manifest.faults[fault]));
            }
            for limit in limits {
                all.extend(self.compare_kinds(context, target, limit));
            }
        }
        let p_values: Vec<f64> = all.iter().map(|one| one.p_value).collect();
        for (one, corrected) in all.iter_mut().zip(holm(&p_values)?) {
            one.p_value = corrected;
        }
        all.retain(|one| one.p_value < SIGNIFICANT && one.asking > one.following);
        Ok(all)
    }

    /// The fault points of a target with their trials.
    fn of_target(&self, target: u32) -> impl Iterator<Item = (usize, &Vec<Try>)> {
        let own = self.trials.range((target, 0)..=(target, u32::MAX));
        own.map(|((_, fault), tries)| (*fault as usize, tries))
    }

    /// Both kinds of attack on the cases of a target, within a limit.
    fn compare_kinds(&self, context: &Context, target: u32, limit: Limit) -> Option<Masking> {
        let mut attempts = Vec::new();
        for (fault, tries) in self.of_target(target) {
            let follows = needs(&context.manifest.faults[fault]) == Some(Needs::Gradients);
            attempts.extend(tries.iter().map(|one| (one.case, one.attempt(follows))));
        }
        let BothKinds { cases, asking, following, p_value } = limit.both_kinds(attempts)?;
        Some(Masking {
            target: context.target_name(target).to_owned(),
            norm: limit.norm().to_owned(),
            epsilon: limit.epsilon(),
            cases,
            asking,
            following,
            p_value,
        })
    }
}

impl Try {
    fn attempt(&self, follows: bool) -> Attempt {
        let success = self.success.as_ref();
        Attempt {
            follows,
            distance_inf: success.map(|success| success.distance_inf),
            distance_2: success.map(|success| success.distance_2),
        }
    }
}

/// The tries, of which those that changed the prediction are the events.
fn changed(tries: &[Try]) -> Result<Sample, StatsError> {
    let mut sample = Sample::default();
    for one in tries {
        sample.add(one.draw, one.success.is_some())?;
    }
    Ok(sample)
}

/// The largest perturbation of a gradient-based attack.
fn limit(fault: &ManifestFault) -> Option<Limit> {
    if needs(fault)? != Needs::Gradients {
        return None;
    }
    let epsilon = fault.settings.get("epsilon")?.as_f64()?;
    Limit::new(fault.settings.get("norm")?.as_str()?, epsilon)
}

/// Kaplan and Meier's estimate of the share of predictions that survive N queries; a case whose
/// prediction never changed is censored at the end of its search. Empty for attacks that try once.
fn survival(fault: &ManifestFault, tries: &[Try], precision: &Precision) -> Vec<SurvivingShare> {
    if with_default_settings(fault).is_none_or(|attack| attack.is_one_shot()) {
        return Vec::new();
    }
    let mut durations = Vec::new();
    let mut observed = Vec::new();
    for one in tries {
        let success = one.success.as_ref();
        durations.push(success.map_or(f64::from(one.queries), |success| success.queries));
        observed.push(success.is_some());
    }
    let Ok(data) = Lifetimes::new(durations, observed) else { return Vec::new() };
    let mut shares = Vec::new();
    for step in &kaplan_meier(&data, precision.intervals.level).steps {
        if let Some(share) = step.estimate.value {
            let queries = step.time;
            let low = step.estimate.low;
            let high = step.estimate.high;
            shares.push(SurvivingShare { queries, share, low, high });
        }
    }
    // The curve goes on to the last query, so that readers see how long little changed.
    let end = data.durations().iter().copied().fold(0.0, f64::max);
    let start = SurvivingShare { queries: 0.0, share: 1.0, low: 1.0, high: 1.0 };
    let last = shares.last().copied().unwrap_or(start);
    if end > last.queries {
        shares.push(SurvivingShare { queries: end, ..last });
    }
    shares
}

/// An attack of that name with its default settings.
fn with_default_settings(fault: &ManifestFault) -> Option<Box<dyn Attack>> {
    let plugin = ATTACKS.iter().find(|plugin| plugin.name == fault.name)?;
    (plugin.build)(&plugin.default_settings()).ok()
}

/// What an attack uses of a target.
fn needs(fault: &ManifestFault) -> Option<Needs> {
    with_default_settings(fault).map(|attack| attack.needs())
}

fn needs_name(needs: Needs) -> &'static str {
    match needs {
        Needs::Decisions => "answers",
        Needs::Scores => "scores",
        Needs::Gradients => "gradients",
    }
}

/// The median of the finite values.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 {
        return values.get(half).copied();
    }
    Some(0.5 * (values.get(half)? + values.get(half.checked_sub(1)?)?))
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_middle_of_values() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![f64::NAN]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }
}
