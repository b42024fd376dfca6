//! The people as a recorded target: a run directory below the study, which `faultlens report` and
//! all that reads runs take like any other.
//!
//! Golden is the majority's answer to the original, which is settled only when the answers are
//! in; so the run is made anew from the journal each time. Strengths differ from picture to
//! picture, so that the fault points are tenths of visual change.

use crate::error::StudyError;
use crate::journal::TimedChoice;
use crate::ledger::{Ledger, name};
use crate::stimulus::{Stimulus, StimulusKind};
use crate::study::Study;
use faultlens_core::{Outcome, Reason};
use faultlens_record::store::{
    Batch, CaseRecord, FaultOn, MANIFEST_VERSION, Manifest, ManifestFault, ManifestTarget, Store,
    timestamp,
};
use faultlens_record::{Cost, GoldenRecord, Measures, Record, TrialId};
use faultlens_stats::tolerance::{Original, Originals};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The run directory below the study.
pub const RUN: &str = "run";
const AXIS: &str = "visual_change";
const TENTHS: usize = 10;

/// Puts the answers that count into the run below the study.
pub(crate) fn record(study: &Study, ledger: &Ledger) -> Result<(), StudyError> {
    let path = study.dir.join(RUN);
    let new = study.dir.join("run.new");
    let old = study.dir.join("run.old");
    let moving = || StudyError::io("replace the run", &path);
    for leftover in [&new, &old] {
        remove(leftover)?;
    }
    write(&new, study, ledger)?;
    if path.exists() {
        faultlens_files::rename(&path, &old).map_err(moving())?;
    }
    faultlens_files::rename(&new, &path).map_err(moving())?;
    remove(&old)
}

fn remove(dir: &Path) -> Result<(), StudyError> {
    if !dir.exists() {
        return Ok(());
    }
    fs::remove_dir_all(dir).map_err(StudyError::io("remove an old run", dir))
}

fn write(dir: &Path, study: &Study, ledger: &Ledger) -> Result<(), StudyError> {
    let people = RecordedPeople::new(study, ledger);
    let mut store = Store::create(dir, &people.manifest(), &people.campaign())?;
    let cases = people.cases();
    let goldens = people.goldens();
    let records = people.records();
    store.write(&Batch { records: &records, goldens: &goldens, cases: &cases })?;
    if people.is_complete() {
        store.mark_complete(false)?;
    }
    Ok(())
}

/// The answers that count, in the order in which a run counts them.
struct RecordedPeople<'a> {
    study: &'a Study,
    /// Originals: the cases.
    originals: Vec<&'a Stimulus>,
    /// By image, the case.
    numbers: BTreeMap<&'a str, usize>,
    /// By fault and tenth of visual change, the fault point.
    points: BTreeMap<(&'a str, usize), usize>,
    /// By picture, who answered what, in the order of the answers.
    answers: Vec<Vec<(usize, TimedChoice)>>,
}

impl<'a> RecordedPeople<'a> {
    fn new(study: &'a Study, ledger: &Ledger) -> Self {
        let mut originals = Vec::new();
        let mut points = BTreeMap::new();
        for one in &study.stimuli {
            match one.kind {
                StimulusKind::Original => originals.push(one),
                StimulusKind::Changed => {
                    points.insert(point(one), 0);
                }
                StimulusKind::Easy => {}
            }
        }
        let numbers = originals.iter().enumerate().map(|(at, one)| (one.image.as_str(), at));
        points.values_mut().enumerate().for_each(|(at, number)| *number = at);
        let mut answers = vec![Vec::new(); study.stimuli.len()];
        for entry in ledger.answers(study).filter(|entry| entry.left_out.is_none()) {
            answers[entry.stimulus].push((entry.who, *entry.answer));
        }
        Self { study, numbers: numbers.collect(), originals, points, answers }
    }

    fn answers_to(&self, stimulus: &Stimulus) -> &[(usize, TimedChoice)] {
        self.study.find(&stimulus.file).map_or(&[], |at| &self.answers[at])
    }

    /// The majority's answer to each original, counted as `tolerance` does; of a tie, the one that
    /// was given first.
    fn majorities(&self) -> Vec<Option<usize>> {
        let mut answers = Vec::new();
        for (case, original) in self.originals.iter().enumerate() {
            for (_, answer) in self.answers_to(original) {
                answers.push(Original {
                    image: case as u32,
                    answer: answer.choice as u32,
                    truth: None,
                });
            }
        }
        let answers = Originals::new(answers);
        (0..self.originals.len())
            .map(|case| answers.majority(case as u32).map(|choice| choice as usize))
            .collect()
    }

    fn word(&self, choice: usize) -> Arc<str> {
        self.study.protocol.choices[choice].as_str().into()
    }

    /// Pictures with a fault, each with its case, point and the number of its first trial.
    fn changed(&self) -> impl Iterator<Item = (&'a Stimulus, usize, usize, u64)> {
        let mut next = 0;
        let changed = self.study.stimuli.iter().filter(|one| one.kind == StimulusKind::Changed);
        changed.filter_map(move |one| {
            let first = next;
            next += self.answers_to(one).len().max(self.study.protocol.answers as usize) as u64;
            let case = *self.numbers.get(one.image.as_str())?;
            Some((one, case, *self.points.get(&point(one))?, first))
        })
    }

    fn is_complete(&self) -> bool {
        let wanted = self.study.protocol.answers as usize;
        self.study.wanted().all(|at| self.answers[at].len() >= wanted)
    }

    fn cases(&self) -> Vec<CaseRecord> {
        let cases = self.originals.iter().enumerate().map(|(at, one)| CaseRecord {
            case: at as u32,
            name: one.image.clone(),
            label: Some(one.truth.clone()),
            strata: BTreeMap::new(),
            width: one.width,
            height: one.height,
            digest: None,
            error: None,
        });
        cases.collect()
    }

    fn goldens(&self) -> Vec<GoldenRecord> {
        let goldens = self.originals.iter().zip(self.majorities()).enumerate();
        let goldens = goldens.map(|(at, (one, majority))| GoldenRecord {
            target: 0,
            case: at as u32,
            answer: majority.map(|choice| self.word(choice)),
            score: None,
            correct: majority.map(|choice: usize| self.study.protocol.choices[choice] == one.truth),
            positive: None,
            truth: Some(one.truth.as_str().into()),
            digest: majority.map(|choice| choice as u64),
            scene: None,
            error: majority.is_none().then(|| "nobody has answered the original".to_owned()),
        });
        goldens.collect()
    }

    fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        let goldens = self.majorities();
        for (one, case, fault, first) in self.changed() {
            let golden = goldens[case];
            for (repeat, (who, answer)) in self.answers_to(one).iter().enumerate() {
                records.push(Record {
                    number: first + repeat as u64,
                    trial: TrialId::of(&[b"people", one.file.as_bytes(), name(*who).as_bytes()]),
                    target: 0,
                    case: case as u32,
                    fault: fault as u32,
                    repeat: repeat as u32,
                    outcome: match golden {
                        None => Outcome::Skipped(Reason::GoldenFailed),
                        Some(golden) if golden == answer.choice => Outcome::Unchanged,
                        Some(_) => Outcome::Changed,
                    },
                    site: None,
                    answer: Some(self.word(answer.choice)),
                    score: None,
                    cost: Cost { queries: 1, micros: (answer.millis * 1e3) as u64 },
                    digest: Some(answer.choice as u64),
                    measures: Measures {
                        visual_change: Some(one.visual_change),
                        ..Measures::default()
                    },
                    extra: BTreeMap::from([
                        ("participant".to_owned(), name(*who)),
                        ("settings".to_owned(), one.settings.clone()),
                    ]),
                });
            }
        }
        records
    }

    /// The campaign that people were asked in. They cannot be asked again by a command.
    fn campaign(&self) -> String {
        let changed = self.study.stimuli.iter().filter(|one| one.kind == StimulusKind::Changed);
        let mut strongest: BTreeMap<&str, &Stimulus> = BTreeMap::new();
        for one in changed {
            let so_far = strongest.entry(&one.fault).or_insert(one);
            if one.visual_change > so_far.visual_change {
                *so_far = one;
            }
        }
        let faults: Vec<String> = strongest
            .values()
            .map(|one: &&Stimulus| {
                format!("{{fault: {}, {}}}", one.fault, one.settings.replace('=', ": "))
            })
            .collect();
        format!(
            "# Answers of people, collected by `faultlens people`: to be read, not to be run again.\n\
             # Strengths differ from picture to picture; these are the strongest.\n\
             name: people\n\
             targets: [{{name: people, model: people}}]\n\
             cases: {{data: ../pictures}}\n\
             faults: [{}]\n\
             oracle: same_top\n",
            faults.join(", ")
        )
    }

    fn manifest(&self) -> Manifest {
        let study = self.study;
        let protocol = &study.protocol;
        let fingerprint = protocol.fingerprint();
        let changed = study.stimuli.iter().filter(|one| one.kind == StimulusKind::Changed);
        Manifest {
            version: MANIFEST_VERSION,
            faultlens: env!("CARGO_PKG_VERSION").to_owned(),
            fingerprint: fingerprint.clone(),
            name: "people".to_owned(),
            base: study.dir.join(RUN).display().to_string(),
            seed: protocol.seed,
            created: timestamp(SystemTime::now()),
            machine: "people".to_owned(),
            threads: 1,
            planned: changed
                .map(|one| self.answers_to(one).len().max(protocol.answers as usize) as u64)
                .sum(),
            shard: None,
            oracle: "same_top (k=1)".to_owned(),
            guards: Vec::new(),
            confidence: 0.95,
            interval: "wilson".to_owned(),
            requirements: Vec::new(),
            targets: vec![ManifestTarget {
                name: "people".to_owned(),
                model: "people".to_owned(),
                sha256: fingerprint,
                input: serde_json::json!({"shown_ms": protocol.shown_ms}),
                output: serde_json::Value::Null,
                classes: protocol.choices.to_vec(),
                traits: BTreeMap::new(),
                defences: Vec::new(),
                origin: "people".to_owned(),
                service: None,
            }],
            data: protocol.data.clone(),
            classes: protocol.choices.to_vec(),
            cases: self.originals.len() as u64,
            faults: self.points.keys().map(|&point| self.fault(point)).collect(),
            stop: None,
            tolerances: BTreeMap::new(),
            objects: None,
        }
    }

    fn fault(&self, (fault, tenth): (&str, usize)) -> ManifestFault {
        // The middle of the tenth stands for it.
        let amount = (2 * tenth + 1) as f64 / (2 * TENTHS) as f64;
        let label = format!("{fault} {AXIS}={amount}");
        ManifestFault {
            name: fault.to_owned(),
            spec: label.clone(),
            label,
            settings: serde_json::Map::from_iter([(AXIS.to_owned(), amount.into())]),
            axis: Some(AXIS.to_owned()),
            amount: Some(amount),
            trials: self.study.protocol.answers,
            on: FaultOn::Image,
        }
    }
}

/// Fault and tenth of visual change.
fn point(stimulus: &Stimulus) -> (&str, usize) {
    let tenth = (stimulus.visual_change * TENTHS as f64) as usize;
    (&stimulus.fault, tenth.min(TENTHS - 1))
}
