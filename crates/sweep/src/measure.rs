//! What a part's run has measured, as rows.

use crate::config::DefencePoint;
use crate::models::Member;
use crate::part::Part;
use crate::{AND, Choice, Configuration, Row, Rows, SweepError};
use faultlens_core::{OutcomeKind, Setting};
use faultlens_faults::attack::Needs;
use faultlens_faults::{ATTACKS, Attack};
use faultlens_record::GoldenRecord;
use faultlens_record::Record;
use faultlens_record::store::Store;
use faultlens_spec::FaultPoint;
use std::collections::{BTreeMap, BTreeSet};

impl Part<'_> {
    /// Reads the part's run. The campaign must have been run with these members.
    pub fn rows(&self, members: &[Member]) -> Result<Rows, SweepError> {
        let store = Store::read(&self.run())?;
        let other = || SweepError::OtherSweep { path: self.run() };
        let attacks = &self.sweep.attacks;
        let manifest = store.manifest();
        if (manifest.targets.len(), manifest.faults.len()) != (members.len(), attacks.len()) {
            return Err(other());
        }
        let goldens: BTreeMap<(u32, u32), GoldenRecord> = store
            .goldens()?
            .into_iter()
            .map(|golden| ((golden.target, golden.case), golden))
            .collect();
        let names: BTreeMap<u32, String> =
            store.cases()?.into_iter().map(|case| (case.case, case.name)).collect();
        let mut rows = Vec::new();
        let mut lost = 0;
        store.for_each(|record| {
            let target = record.target as usize;
            let attack = record.fault as usize;
            let attack_point = attacks.get(attack).ok_or_else(other)?;
            let sample = names.get(&record.case).ok_or_else(other)?;
            let golden = goldens.get(&(record.target, record.case));
            let number = u32::try_from(target * attacks.len() + attack).map_err(|_| other())?;
            lost += u64::from(is_lost(&record));
            rows.extend(row(&record, number, sample, golden, attack_point));
            Ok::<_, SweepError>(())
        })?;
        let configurations = self.configurations(members, &goldens, &store)?;
        Ok(Rows { name: self.sweep.name.clone(), configurations, rows, lost })
    }

    fn configurations(
        &self,
        members: &[Member],
        goldens: &BTreeMap<(u32, u32), GoldenRecord>,
        store: &Store,
    ) -> Result<Vec<Configuration>, SweepError> {
        let times = self.prediction_seconds(&store.manifest().fingerprint)?;
        let machine = machines(store);
        let mut all = Vec::new();
        for ((at, member), prediction_seconds) in (0u32..).zip(members).zip(times) {
            let model = &self.sweep.models[member.model];
            let judged = || goldens.range((at, 0)..=(at, u32::MAX)).filter_map(|(_, g)| g.correct);
            let right = judged().filter(|&right| right).count();
            let benign_samples = judged().count() as u64;
            all.extend(self.sweep.attacks.iter().map(|attack| Configuration {
                data: self.data.clone(),
                permutation: self.permutation,
                architecture: model.architecture.clone(),
                layers: member.layers,
                epochs: model.epochs,
                learning_rate: model.learning_rate,
                defence: defence_choice(&self.sweep.defences, member.defence),
                attack: attack_choice(&self.sweep.attacks, attack),
                needs: needs(attack).to_owned(),
                norm: norm(attack).map(str::to_owned),
                epsilon: attack.settings.number_if_set("epsilon"),
                one_shot: !has_duration(attack),
                training_seconds: member.training_seconds,
                prediction_seconds,
                benign_accuracy: right as f64 / benign_samples.max(1) as f64,
                benign_samples,
                machine: machine.clone(),
            }));
        }
        Ok(all)
    }
}

/// The machines that worked on a run. Which of them took which time is not on record.
fn machines(store: &Store) -> String {
    let all: BTreeSet<&str> =
        store.sessions().iter().map(|session| session.machine.as_str()).collect();
    all.into_iter().collect::<Vec<_>>().join(AND)
}

/// Whether a trial ended before an attack had measured what it took: it neither changed an answer nor
/// withstood anything.
fn is_lost(record: &Record) -> bool {
    let ended = matches!(record.outcome.kind(), OutcomeKind::Crashed | OutcomeKind::TimedOut);
    ended && record.measures.attack.is_none()
}

/// The row of a sample from its record; nothing where the trial could not be judged or is lost.
fn row(
    record: &Record,
    configuration: u32,
    sample: &str,
    golden: Option<&GoldenRecord>,
    attack: &FaultPoint,
) -> Option<Row> {
    let kind = record.outcome.kind();
    if kind == OutcomeKind::Skipped || is_lost(record) {
        return None;
    }
    let attack_cost = record.measures.attack.as_ref();
    let success = attack_cost.and_then(|cost| cost.success.as_ref());
    let once = record.cost.micros as f64 / 1e6;
    // The time until the first success, or of the whole search without one. A fault that does not
    // search is over as soon as the target has answered.
    let (changed, seconds, wall_seconds) = match (attack_cost, success) {
        (_, Some(success)) => (true, success.first.cpu_seconds, success.first.wall_seconds),
        (Some(cost), None) => (false, cost.cpu_seconds, cost.wall_seconds),
        (None, None) => (kind == OutcomeKind::Changed, once, once),
    };
    let rejected = kind == OutcomeKind::Detected;
    let wrong = golden.and_then(|golden| {
        let truth = golden.truth.as_deref()?;
        let answer = record.answer.as_deref();
        if rejected { Some(false) } else { Some(answer? != truth) }
    });
    Some(Row {
        configuration,
        sample: sample.to_owned(),
        changed,
        wrong,
        rejected,
        seconds,
        wall_seconds,
        queries: success.map_or(record.cost.queries.into(), |success| success.first.queries),
        distance: finite(success.map(|success| success.distance))
            .unwrap_or_else(|| attack.dose.map_or(0.0, |dose| dose.amount)),
        distance_inf: finite(success.map(|success| success.distance_inf)),
        distance_2: finite(success.map(|success| success.distance_2)),
        visual_change: finite(record.measures.visual_change),
    })
}

fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}

/// An attack as it is searched with; nothing for a fault that does not search.
fn searching(point: &FaultPoint) -> Option<Box<dyn Attack>> {
    let plugin = ATTACKS.iter().find(|plugin| plugin.name == point.name)?;
    (plugin.build)(&point.settings).ok()
}

/// What an attack must learn from a model, in the word that reports use.
fn needs(point: &FaultPoint) -> &'static str {
    match searching(point).map(|attack| attack.needs()) {
        Some(Needs::Gradients) => "gradients",
        Some(Needs::Scores) => "scores",
        Some(Needs::Decisions) => "answers",
        None => "",
    }
}

fn norm(point: &FaultPoint) -> Option<&str> {
    match point.settings.get("norm") {
        Some(Setting::Word(word)) => Some(word),
        _ => None,
    }
}

/// Whether the time until a change is how long an answer lasted. A single question has no
/// duration, and `hop_skip_jump` begins with a random image at any distance: its first change says
/// nothing of the sample, unless only those count that people do not notice.
fn has_duration(point: &FaultPoint) -> bool {
    let begins_anywhere = point.name == "hop_skip_jump" && point.settings.get("within").is_none();
    searching(point).is_some_and(|attack| !attack.is_one_shot()) && !begins_anywhere
}

fn defence_choice(all: &[DefencePoint], at: usize) -> Choice {
    let DefencePoint { name, label, strength, .. } = &all[at];
    let same = all.iter().filter(|other| other.name == *name).map(|other| other.strength);
    let scaled = scaled(*strength, same);
    Choice { name: name.clone(), label: label.clone(), strength: *strength, scaled }
}

fn attack_choice(all: &[FaultPoint], attack: &FaultPoint) -> Choice {
    let strength = |point: &FaultPoint| point.dose.map_or(0.0, |dose| dose.amount);
    let named: Vec<&FaultPoint> = all.iter().filter(|other| other.name == attack.name).collect();
    let norms: BTreeSet<Option<&str>> = named.iter().map(|other| norm(other)).collect();
    let name = match norm(attack) {
        Some(norm) if norms.len() > 1 => format!("{} (norm {norm})", attack.name),
        _ => attack.name.to_owned(),
    };
    // Strengths in different norms do not compare.
    let same =
        named.iter().filter(|other| norm(other) == norm(attack)).map(|other| strength(other));
    Choice {
        name,
        label: attack.label.clone(),
        strength: strength(attack),
        scaled: scaled(strength(attack), same),
    }
}

/// A strength between the least (0) and the most (1) of all; 0 where all are the same.
fn scaled(strength: f64, all: impl Iterator<Item = f64>) -> f64 {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = all.fold(ends, |(low, high), x| (low.min(x), high.max(x)));
    if most > least { (strength - least) / (most - least) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sweep;
    use faultlens_core::Outcome;
    use faultlens_record::{AttackCost, AttackSuccess, Cost, FirstSuccess, Measures, TrialId};
    use std::path::Path;

    fn sweep(attacks: &str) -> Sweep {
        let text = format!(
            "sweep: {{data: world:signs, models: [{{architecture: lenet}}], attacks: [{attacks}]}}"
        );
        Sweep::parse(&text, Path::new("s.yaml")).unwrap()
    }

    #[test]
    fn norms_of_an_attack_are_levels_of_their_own() {
        let attacks = sweep(
            "{fault: pgd, norm: inf, epsilon: [0.1, 0.3]}, {fault: pgd, norm: '2', epsilon: [1, 5]},
             {fault: fgm, norm: '2', epsilon: 1}",
        )
        .attacks;
        let limits = |attack: &FaultPoint| {
            let choice = attack_choice(&attacks, attack);
            (choice.name, choice.scaled)
        };
        let wanted = [
            ("pgd (norm inf)", 0.0),
            ("pgd (norm inf)", 1.0),
            ("pgd (norm 2)", 0.0),
            ("pgd (norm 2)", 1.0),
            ("fgm", 0.0),
        ];
        let wanted = wanted.map(|(name, scaled)| (name.to_owned(), scaled));
        assert_eq!(attacks.iter().map(limits).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn durations_are_those_of_searches_that_begin_at_the_sample() {
        for (attack, lasts, wanted) in [
            ("{fault: pgd, epsilon: 0.1}", true, "gradients"),
            ("{fault: fgm, epsilon: 0.1}", false, "gradients"),
            ("{fault: square, epsilon: 0.1}", true, "scores"),
            ("{fault: hop_skip_jump}", false, "answers"),
            ("{fault: hop_skip_jump, within: 0.2}", true, "answers"),
            ("{fault: brightness, severity: 1}", false, ""),
        ] {
            let attacks = sweep(attack).attacks;
            assert_eq!(
                (has_duration(&attacks[0]), needs(&attacks[0])),
                (lasts, wanted),
                "{attack}"
            );
        }
    }

    #[test]
    fn trials_that_end_before_anything_was_measured_have_no_row() {
        let attacks = sweep("{fault: pgd, epsilon: 0.1}").attacks;
        let record = |outcome: Outcome, attack: Option<AttackCost>| Record {
            number: 0,
            trial: TrialId([0; 16]),
            target: 0,
            case: 0,
            fault: 0,
            repeat: 0,
            outcome,
            site: None,
            answer: None,
            score: None,
            cost: Cost { queries: 3, micros: 5 },
            digest: None,
            measures: Measures { attack, ..Measures::default() },
            extra: BTreeMap::new(),
        };
        let failed =
            AttackCost { cpu_seconds: 0.5, wall_seconds: 0.5, gradients: 0, success: None };
        let row_of = |record: &Record| row(record, 0, "a", None, &attacks[0]);
        for outcome in [Outcome::Crashed, Outcome::TimedOut] {
            let lost = record(outcome.clone(), None);
            assert!(is_lost(&lost) && row_of(&lost).is_none());
            let booked = record(outcome, Some(failed.clone()));
            let row = row_of(&booked).unwrap();
            assert!(!is_lost(&booked));
            assert_eq!((row.seconds, row.changed, row.distance_2), (0.5, false, None));
        }
        assert!(!is_lost(&record(Outcome::Unchanged, None)));
        let first = FirstSuccess {
            queries: 2,
            gradients: 0,
            distance: 0.5,
            cpu_seconds: 0.25,
            wall_seconds: 0.25,
        };
        let success = AttackSuccess {
            distance: 0.5,
            distance_inf: 0.5,
            distance_2: f64::INFINITY,
            distance_0: 3.0,
            first,
        };
        let found = AttackCost { success: Some(success), ..failed };
        let row = row_of(&record(Outcome::Changed, Some(found))).unwrap();
        assert_eq!((row.seconds, row.queries, row.distance_2), (0.25, 2, None));
    }

    #[test]
    fn strengths_lie_between_the_ends_of_their_name() {
        let all = [0.1, 0.3, 0.5];
        assert_eq!(all.map(|x| (scaled(x, all.into_iter()) * 100.0).round()), [0.0, 50.0, 100.0]);
        assert_eq!(scaled(0.1, [0.1].into_iter()), 0.0);
    }
}
