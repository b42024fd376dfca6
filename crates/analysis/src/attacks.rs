//! How attacks fared: how many answers they changed, and what it took them.

use super::attribute::Context;
use super::masking::{Attempt, BothKinds, Limit};
use super::summary::{Attacked, Masking, Standing};
use super::tally::Precision;
use faultlens_core::OutcomeKind;
use faultlens_faults::attack::Needs;
use faultlens_faults::{ATTACKS, Attack};
use faultlens_record::Record;
use faultlens_record::store::{FaultOn, ManifestFault};
use faultlens_stats::survival::{Lifetimes, Step, kaplan_meier};
use faultlens_stats::{Estimate, StatsError, holm};
use std::collections::{BTreeMap, BTreeSet};

/// How sure it must be that gradients mislead.
const SURE: f64 = 0.05;

/// Trials of attacks.
#[derive(Default)]
pub(super) struct Attacks {
    /// By target and fault.
    trials: BTreeMap<(u32, u32), Vec<Try>>,
}

/// One attacked case.
struct Try {
    case: u32,
    rejected: bool,
    queries: u32,
    /// What it took until the answer changed.
    first: Option<First>,
    /// `None` where no change was found.
    distance_inf: Option<f64>,
    distance_2: Option<f64>,
}

struct First {
    queries: f64,
    seconds: f64,
    distance: f64,
}

impl Attacks {
    pub(super) fn add(&mut self, context: &Context, record: &Record) {
        let fault = context.manifest.faults.get(record.fault as usize);
        let judged = record.outcome.kind() != OutcomeKind::Skipped;
        if fault.is_none_or(|fault| fault.on != FaultOn::Attack) || !judged {
            return;
        }
        let attack = record.measures.attack.as_ref();
        let success = attack.and_then(|attack| attack.success.as_ref());
        let first = success.map(|success| First {
            queries: success.first.queries as f64,
            seconds: success.first.cpu_seconds,
            distance: success.distance,
        });
        let one = Try {
            case: record.case,
            queries: record.cost.queries,
            // An answer that is not finite is detected too, but was not rejected.
            rejected: record.outcome.kind() == OutcomeKind::Detected
                && record.measures.error.is_some(),
            first,
            distance_inf: success.map(|success| success.distance_inf),
            distance_2: success.map(|success| success.distance_2),
        };
        self.trials.entry((record.target, record.fault)).or_default().push(one);
    }

    /// By target and attack, how it fared.
    pub(super) fn told(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Attacked>, StatsError> {
        let told = |(&(target, fault), tries): (&(u32, u32), &Vec<Try>)| {
            let (found, n) = (tries.iter().filter(|one| one.first.is_some()), tries.len());
            let middle = |of: fn(&First) -> f64| {
                median(tries.iter().filter_map(|one| one.first.as_ref()).map(of).collect())
            };
            let fault = &context.manifest.faults[fault as usize];
            Ok(Attacked {
                target: context.manifest.targets[target as usize].name.clone(),
                attack: fault.label.clone(),
                needs: needs(fault).map_or("", word).to_owned(),
                changed: precision.rate(found.count() as u64, n as u64)?,
                rejected: tries.iter().filter(|one| one.rejected).count() as u64,
                queries: middle(|first| first.queries),
                distance: middle(|first| first.distance),
                cpu_seconds: middle(|first| first.seconds),
                standing: standing(fault, tries, precision),
            })
        };
        self.trials.iter().map(told).collect()
    }

    /// Where attacks that only ask change more answers than those that follow gradients, by no
    /// larger changes: gradients mislead there, and what follows them says too little.
    pub(super) fn masked(&self, context: &Context) -> Result<Vec<Masking>, StatsError> {
        let mut all = Vec::new();
        for target in 0..context.manifest.targets.len() as u32 {
            let limits: BTreeSet<Limit> = self
                .of(target)
                .filter_map(|(fault, _)| limit(&context.manifest.faults[fault]))
                .collect();
            for limit in limits {
                all.extend(self.beside(context, target, limit));
            }
        }
        let p_values: Vec<f64> = all.iter().map(|one| one.p_value).collect();
        for (one, corrected) in all.iter_mut().zip(holm(&p_values)?) {
            one.p_value = corrected;
        }
        all.retain(|one| one.p_value < SURE && one.asking > one.following);
        Ok(all)
    }

    fn of(&self, target: u32) -> impl Iterator<Item = (usize, &Vec<Try>)> {
        let own = self.trials.iter().filter(move |((own, _), _)| *own == target);
        own.map(|((_, fault), tries)| (*fault as usize, tries))
    }

    /// Both kinds of attack on the cases of a target, within a limit.
    fn beside(&self, context: &Context, target: u32, limit: Limit) -> Option<Masking> {
        let attempts = self.of(target).flat_map(|(fault, tries)| {
            let follows = needs(&context.manifest.faults[fault]) == Some(Needs::Gradients);
            tries.iter().map(move |one| (one.case, one.attempt(follows)))
        });
        let BothKinds { cases, asking, following, p_value } = limit.both_kinds(attempts)?;
        let target = context.manifest.targets[target as usize].name.clone();
        let (norm, epsilon) = (limit.norm().to_owned(), limit.epsilon());
        Some(Masking { target, norm, epsilon, cases, asking, following, p_value })
    }
}

impl Try {
    fn attempt(&self, follows: bool) -> Attempt {
        let Self { distance_inf, distance_2, .. } = *self;
        Attempt { follows, distance_inf, distance_2 }
    }
}

/// How far an attack that follows gradients may go.
fn limit(fault: &ManifestFault) -> Option<Limit> {
    let follows = needs(fault)? == Needs::Gradients;
    let epsilon = fault.settings.get("epsilon")?.as_f64().filter(|_| follows)?;
    Limit::new(fault.settings.get("norm")?.as_str()?, epsilon)
}

/// The share of answers that stand after so many questions; nothing for a single shot.
fn standing(fault: &ManifestFault, tries: &[Try], precision: &Precision) -> Vec<Standing> {
    if usual(fault).is_none_or(|attack| attack.is_one_shot()) {
        return Vec::new();
    }
    let asked =
        |one: &Try| one.first.as_ref().map_or(f64::from(one.queries), |first| first.queries);
    let durations: Vec<f64> = tries.iter().map(asked).collect();
    let observed = tries.iter().map(|one| one.first.is_some()).collect();
    let Ok(data) = Lifetimes::new(durations, observed) else { return Vec::new() };
    let curve = kaplan_meier(&data, precision.intervals.level);
    let step = |step: &Step| {
        let Estimate { value, low, high, .. } = step.estimate;
        Some(Standing { queries: step.time, share: value?, low, high })
    };
    let mut standing: Vec<Standing> = curve.steps.iter().filter_map(step).collect();
    // Where the search ended, so that attacks that changed little are seen to have gone on.
    let end = data.durations().iter().copied().fold(0.0, f64::max);
    let last = standing.last().copied();
    let last = last.unwrap_or(Standing { queries: 0.0, share: 1.0, low: 1.0, high: 1.0 });
    if end > last.queries {
        standing.push(Standing { queries: end, ..last });
    }
    standing
}

/// An attack of that name with its usual settings.
fn usual(fault: &ManifestFault) -> Option<Box<dyn Attack>> {
    let plugin = ATTACKS.iter().find(|plugin| plugin.name == fault.name)?;
    (plugin.build)(&plugin.default_settings()).ok()
}

/// What an attack must learn from a target.
fn needs(fault: &ManifestFault) -> Option<Needs> {
    usual(fault).map(|attack| attack.needs())
}

fn word(needs: Needs) -> &'static str {
    match needs {
        Needs::Decisions => "answers",
        Needs::Scores => "scores",
        Needs::Gradients => "gradients",
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() % 2 {
        1 => values.get(half).copied(),
        _ => Some(0.5 * (values.get(half)? + values.get(half.checked_sub(1)?)?)),
    }
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
