//! What a part's run has measured, as rows.

use crate::config::DefencePoint;
use crate::machine::machine;
use crate::models::Member;
use crate::part::Part;
use crate::{Choice, Configuration, GridError, Row, Rows};
use cpu_time::ThreadTime;
use faultlens_campaign::config::{Campaign, FaultPoint};
use faultlens_campaign::store::Store;
use faultlens_campaign::{GoldenRecord, Record, Setup};
use faultlens_core::{OutcomeKind, Target};
use faultlens_faults::ATTACKS;
use std::collections::BTreeMap;

/// How often a plain answer is timed; the fastest counts, since others were disturbed.
const ANSWERS: usize = 5;

impl Part<'_> {
    /// Reads the part's run. The campaign must have been run with these members.
    pub fn rows(&self, members: &[Member]) -> Result<Rows, GridError> {
        let store = Store::read(&self.run())?;
        let other = || GridError::OtherStudy { path: self.run() };
        let attacks = &self.study.attacks;
        let told = store.manifest();
        if (told.targets.len(), told.faults.len()) != (members.len(), attacks.len()) {
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
        store.for_each(|record| {
            let (target, attack) = (record.target as usize, record.fault as usize);
            let attack_point = attacks.get(attack).ok_or_else(other)?;
            let sample = names.get(&record.case).ok_or_else(other)?;
            let golden = goldens.get(&(record.target, record.case));
            let number = u32::try_from(target * attacks.len() + attack).map_err(|_| other())?;
            rows.extend(row(&record, number, sample, golden, attack_point));
            Ok::<_, GridError>(())
        })?;
        Ok(Rows { configurations: self.configurations(members, &goldens)?, rows })
    }

    fn configurations(
        &self,
        members: &[Member],
        goldens: &BTreeMap<(u32, u32), GoldenRecord>,
    ) -> Result<Vec<Configuration>, GridError> {
        let times = self.prediction_seconds()?;
        let machine = machine();
        let mut all = Vec::new();
        for ((at, member), prediction_seconds) in (0u32..).zip(members).zip(times) {
            let model = &self.study.models[member.model];
            let judged = || goldens.range((at, 0)..=(at, u32::MAX)).filter_map(|(_, g)| g.correct);
            let (right, benign_samples) =
                (judged().filter(|&right| right).count(), judged().count() as u64);
            all.extend(self.study.attacks.iter().map(|attack| Configuration {
                data: self.data.clone(),
                permutation: self.permutation,
                architecture: model.architecture.clone(),
                layers: member.layers,
                epochs: model.epochs,
                learning_rate: model.learning_rate,
                defence: defence_choice(&self.study.defences, member.defence),
                attack: attack_choice(&self.study.attacks, attack),
                one_shot: is_one_shot(attack),
                training_seconds: member.training_seconds,
                prediction_seconds,
                benign_accuracy: right as f64 / benign_samples.max(1) as f64,
                benign_samples,
                machine: machine.clone(),
            }));
        }
        Ok(all)
    }

    /// By target, the work of a processor for one plain answer.
    fn prediction_seconds(&self) -> Result<Vec<f64>, GridError> {
        let campaign = Campaign::load(&self.campaign_file())?;
        let setup = Setup::open(campaign).map_err(|source| GridError::Setup {
            campaign: self.name.clone(),
            source: Box::new(source),
        })?;
        let image = self.samples.case(0)?.image;
        let time = |subject: &faultlens_campaign::Subject| {
            let once = |_| {
                let clock = ThreadTime::now();
                // What goes wrong here is on record of every trial.
                let _ = subject.ask(&image);
                clock.elapsed().as_secs_f64()
            };
            (0..ANSWERS).map(once).fold(f64::INFINITY, f64::min)
        };
        Ok(setup.targets.iter().map(time).collect())
    }
}

/// What a record says of a sample; nothing where the trial could not be judged.
fn row(
    record: &Record,
    configuration: u32,
    sample: &str,
    golden: Option<&GoldenRecord>,
    attack: &FaultPoint,
) -> Option<Row> {
    let kind = record.outcome.kind();
    if kind == OutcomeKind::Unjudged {
        return None;
    }
    let number = |name: &str| record.extra.get(name).and_then(|text| text.parse::<f64>().ok());
    let hunted = number("cpu_seconds").is_some();
    // A fault that is no attack is over as soon as it is asked about.
    let changed = match hunted {
        true => record.extra.contains_key("first_queries"),
        false => kind == OutcomeKind::Deviated,
    };
    let until = |first: &str, whole: &str| number(if changed { first } else { whole });
    let once = record.micros as f64 / 1e6;
    let rejected = kind == OutcomeKind::Detected;
    let wrong = golden.and_then(|golden| {
        let (truth, answer) = (golden.truth.as_deref()?, record.answer.as_deref());
        if rejected { Some(false) } else { Some(answer? != truth) }
    });
    Some(Row {
        configuration,
        sample: sample.to_owned(),
        changed,
        wrong,
        rejected,
        seconds: until("first_cpu_seconds", "cpu_seconds").unwrap_or(once),
        wall_seconds: until("first_wall_seconds", "wall_seconds").unwrap_or(once),
        queries: number("first_queries").map_or(record.queries.into(), |queries| queries as u64),
        distance: number("distance").unwrap_or_else(|| attack.dose.map_or(0.0, |dose| dose.amount)),
        visual_change: number("visual_change"),
    })
}

/// Whether a fault is over after one question, so that its time is no duration; what does not
/// search is.
fn is_one_shot(point: &FaultPoint) -> bool {
    let plugin = ATTACKS.iter().find(|plugin| plugin.name == point.name);
    let attack = plugin.and_then(|plugin| (plugin.build)(&point.settings).ok());
    attack.is_none_or(|attack| attack.is_one_shot())
}

fn defence_choice(all: &[DefencePoint], at: usize) -> Choice {
    let DefencePoint { name, label, strength, .. } = &all[at];
    let same = all.iter().filter(|other| other.name == *name).map(|other| other.strength);
    let scaled = scaled(*strength, same);
    Choice { name: name.clone(), label: label.clone(), strength: *strength, scaled }
}

fn attack_choice(all: &[FaultPoint], attack: &FaultPoint) -> Choice {
    let strength = |point: &FaultPoint| point.dose.map_or(0.0, |dose| dose.amount);
    let same = all.iter().filter(|other| other.name == attack.name).map(strength);
    Choice {
        name: attack.name.to_owned(),
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

    #[test]
    fn strengths_lie_between_the_ends_of_their_name() {
        let all = [0.1, 0.3, 0.5];
        assert_eq!(all.map(|x| (scaled(x, all.into_iter()) * 100.0).round()), [0.0, 50.0, 100.0]);
        assert_eq!(scaled(0.1, [0.1].into_iter()), 0.0);
    }
}
