//! How attacks fared: how many answers they changed, and what it took them.

use super::attribute::Context;
use super::summary::{Attacked, Masking, Standing};
use super::tally::Precision;
use crate::record::Record;
use crate::store::{FaultOn, ManifestFault};
use faultlens_core::OutcomeKind;
use faultlens_faults::attack::Needs;
use faultlens_faults::{ATTACKS, Attack};
use faultlens_stats::survival::{Lifetimes, Step, kaplan_meier};
use faultlens_stats::{Estimate, StatsError, holm, mcnemar_exact};
use std::collections::{BTreeMap, BTreeSet};

/// How sure it must be that gradients mislead.
const SURE: f64 = 0.05;

/// Rounding of recorded distances.
const ROUNDING: f64 = 1e-5;

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
    distance_inf: f64,
    distance_2: f64,
}

struct First {
    queries: f64,
    seconds: f64,
    distance: f64,
}

impl Attacks {
    pub(super) fn add(&mut self, context: &Context, record: &Record) {
        let fault = context.manifest.faults.get(record.fault as usize);
        let judged = record.outcome.kind() != OutcomeKind::Unjudged;
        if fault.is_none_or(|fault| fault.on != FaultOn::Attack) || !judged {
            return;
        }
        let number = |name: &str| record.extra.get(name).and_then(|text| text.parse::<f64>().ok());
        let first = number("first_queries").map(|queries| First {
            queries,
            seconds: number("first_cpu_seconds").unwrap_or(0.0),
            distance: number("distance").unwrap_or(f64::NAN),
        });
        let one = Try {
            case: record.case,
            queries: record.queries,
            // What gave itself away by numbers that are none was answered.
            rejected: record.outcome.kind() == OutcomeKind::Detected
                && record.extra.contains_key("error"),
            first,
            distance_inf: number("distance_inf").unwrap_or(f64::INFINITY),
            distance_2: number("distance_2").unwrap_or(f64::INFINITY),
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
                .filter_map(|(fault, _)| Limit::of(&context.manifest.faults[fault]))
                .collect();
            for limit in limits {
                all.extend(self.pairs(context, target, limit));
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

    /// The cases that either kind of attack changed within a limit, case by case.
    fn pairs(&self, context: &Context, target: u32, limit: Limit) -> Option<Masking> {
        let mut cases: BTreeMap<u32, [Option<bool>; 2]> = BTreeMap::new();
        for (fault, tries) in self.of(target) {
            let follows = needs(&context.manifest.faults[fault])? == Needs::Gradients;
            for one in tries {
                let changed = one.first.is_some() && limit.allows(one);
                let own = &mut cases.entry(one.case).or_default()[usize::from(follows)];
                *own = Some(own.unwrap_or(false) || changed);
            }
        }
        let pairs: Vec<(bool, bool)> =
            cases.values().filter_map(|[asking, following]| (*asking).zip(*following)).collect();
        let count =
            |of: fn(&(bool, bool)) -> bool| pairs.iter().filter(|pair| of(pair)).count() as u64;
        let (only_asking, only_following) =
            (count(|pair| pair.0 && !pair.1), count(|pair| pair.1 && !pair.0));
        (!pairs.is_empty()).then(|| Masking {
            target: context.manifest.targets[target as usize].name.clone(),
            norm: limit.norm().to_owned(),
            epsilon: limit.epsilon(),
            cases: pairs.len() as u64,
            asking: count(|pair| pair.0),
            following: count(|pair| pair.1),
            p_value: mcnemar_exact(only_asking, only_following),
        })
    }
}

/// How far an attack that follows gradients may go; as bits, so that equal limits are one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    Infinity(u64),
    Two(u64),
}

impl Limit {
    fn of(fault: &ManifestFault) -> Option<Self> {
        let follows = needs(fault)? == Needs::Gradients;
        let epsilon = fault.settings.get("epsilon")?.as_f64().filter(|_| follows)?.to_bits();
        match fault.settings.get("norm")?.as_str()? {
            "inf" => Some(Self::Infinity(epsilon)),
            "2" => Some(Self::Two(epsilon)),
            _ => None,
        }
    }

    fn epsilon(self) -> f64 {
        match self {
            Self::Infinity(bits) | Self::Two(bits) => f64::from_bits(bits),
        }
    }

    fn norm(self) -> &'static str {
        match self {
            Self::Infinity(_) => "inf",
            Self::Two(_) => "2",
        }
    }

    fn allows(self, one: &Try) -> bool {
        let distance = match self {
            Self::Infinity(_) => one.distance_inf,
            Self::Two(_) => one.distance_2,
        };
        distance <= self.epsilon() * (1.0 + ROUNDING) + ROUNDING
    }
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
    (plugin.build)(&plugin.usual()).ok()
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
