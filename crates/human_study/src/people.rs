//! The people as a recorded target: a run directory below the study, which `faultlens report` and
//! all that reads runs take like any other.
//!
//! Golden is what most people said of the original, which is settled only when the answers are
//! in; so the run is made anew from the journal each time. Strengths differ from picture to
//! picture, so that the fault points are tenths of visual change.

use crate::error::StudyError;
use crate::journal::Said;
use crate::ledger::{Ledger, name};
use crate::stimulus::{Kind, Stimulus};
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
        fs::rename(&path, &old).map_err(moving())?;
    }
    fs::rename(&new, &path).map_err(moving())?;
    remove(&old)
}

fn remove(dir: &Path) -> Result<(), StudyError> {
    match dir.exists() {
        true => fs::remove_dir_all(dir).map_err(StudyError::io("remove an old run", dir)),
        false => Ok(()),
    }
}

fn write(dir: &Path, study: &Study, ledger: &Ledger) -> Result<(), StudyError> {
    let book = Book::new(study, ledger);
    let mut store = Store::create(dir, &book.manifest(), &book.campaign())?;
    let cases = book.cases();
    let goldens = book.goldens();
    let records = book.records();
    store.write(&Batch { records: &records, goldens: &goldens, cases: &cases })?;
    if book.is_complete() {
        store.mark_complete(false)?;
    }
    Ok(())
}

/// The answers that count, in the order in which a run counts them.
struct Book<'a> {
    study: &'a Study,
    /// Originals: the cases.
    originals: Vec<&'a Stimulus>,
    /// By image, the case.
    numbers: BTreeMap<&'a str, usize>,
    /// By fault and tenth of visual change, the fault point.
    points: BTreeMap<(&'a str, usize), usize>,
    /// By picture, who said what, in the order in which it was said.
    answers: Vec<Vec<(usize, Said)>>,
}

impl<'a> Book<'a> {
    fn new(study: &'a Study, ledger: &Ledger) -> Self {
        let of = |kind| study.stimuli.iter().filter(move |one| one.kind == kind);
        let originals: Vec<&Stimulus> = of(Kind::Original).collect();
        let numbers = originals.iter().enumerate().map(|(at, one)| (one.image.as_str(), at));
        let mut points: BTreeMap<_, _> = of(Kind::Changed).map(|one| (point(one), 0)).collect();
        points.values_mut().enumerate().for_each(|(at, number)| *number = at);
        let mut answers = vec![Vec::new(); study.stimuli.len()];
        for entry in ledger.answers(study).filter(|entry| entry.left_out.is_none()) {
            answers[entry.stimulus].push((entry.who, *entry.said));
        }
        Self { study, numbers: numbers.collect(), originals, points, answers }
    }

    fn said(&self, stimulus: &Stimulus) -> &[(usize, Said)] {
        self.study.find(&stimulus.file).map_or(&[], |at| &self.answers[at])
    }

    /// What most people said of the originals, as `tolerance` counts it too; of a tie, what was
    /// said first.
    fn majorities(&self) -> Vec<Option<usize>> {
        let said = self.originals.iter().enumerate().flat_map(|(case, original)| {
            let answer = move |(_, said): &(usize, Said)| Original {
                image: case as u32,
                answer: said.choice as u32,
                truth: None,
            };
            self.said(original).iter().map(answer)
        });
        let said = Originals::new(said);
        (0..self.originals.len())
            .map(|case| said.majority(case as u32).map(|choice| choice as usize))
            .collect()
    }

    fn word(&self, choice: usize) -> Arc<str> {
        self.study.protocol.choices[choice].as_str().into()
    }

    /// Pictures with a fault, each with its case, point and the number of its first trial.
    fn changed(&self) -> impl Iterator<Item = (&'a Stimulus, usize, usize, u64)> {
        let mut next = 0;
        let changed = self.study.stimuli.iter().filter(|one| one.kind == Kind::Changed);
        changed.filter_map(move |one| {
            let first = next;
            next += self.said(one).len().max(self.study.protocol.answers as usize) as u64;
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
            for (repeat, (who, said)) in self.said(one).iter().enumerate() {
                records.push(Record {
                    number: first + repeat as u64,
                    trial: TrialId::of(&[b"people", one.file.as_bytes(), name(*who).as_bytes()]),
                    target: 0,
                    case: case as u32,
                    fault: fault as u32,
                    repeat: repeat as u32,
                    outcome: match golden {
                        None => Outcome::Skipped(Reason::GoldenFailed),
                        Some(golden) if golden == said.choice => Outcome::Unchanged,
                        Some(_) => Outcome::Changed,
                    },
                    site: None,
                    answer: Some(self.word(said.choice)),
                    score: None,
                    cost: Cost { queries: 1, micros: (said.millis * 1e3) as u64 },
                    digest: Some(said.choice as u64),
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
        let changed = self.study.stimuli.iter().filter(|one| one.kind == Kind::Changed);
        let mut strongest: BTreeMap<&str, &Stimulus> = BTreeMap::new();
        for one in changed {
            let most = strongest.entry(&one.fault).or_insert(one);
            if one.visual_change > most.visual_change {
                *most = one;
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
        let (study, protocol) = (self.study, &self.study.protocol);
        let fingerprint = protocol.fingerprint();
        let changed = study.stimuli.iter().filter(|one| one.kind == Kind::Changed);
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
                .map(|one| self.said(one).len().max(protocol.answers as usize) as u64)
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
