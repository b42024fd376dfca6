//! Runs made by hand.

use faultlens_analysis::{AnalysisError, Summary, summarise};
use faultlens_core::Outcome;
use faultlens_record::store::{
    Batch, CaseRecord, FaultOn, MANIFEST_VERSION, Manifest, ManifestFault, ManifestTarget, Store,
};
use faultlens_record::{Cost, GoldenRecord, Measures, Record, TrialId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// A run to be written.
pub(crate) struct Run {
    pub(crate) yaml: String,
    pub(crate) manifest: Manifest,
    pub(crate) cases: Vec<CaseRecord>,
    pub(crate) goldens: Vec<GoldenRecord>,
    pub(crate) records: Vec<Record>,
    pub(crate) complete: bool,
}

/// The campaign file that goes with the manifest; what is added to it ends it.
const YAML: &str = "
targets: [{model: a.onnx, name: small}]
cases: {data: 'world:signs:4'}
";
const FAULTS: &str = "faults:
  - {fault: bit_flip, bit: [30, 31]}
  - {fault: brightness, severity: 5}
";

/// A fault point; one that draws nothing has one trial of each case.
pub(crate) fn fault(name: &str, axis: &str, amount: f64, trials: u32) -> ManifestFault {
    ManifestFault {
        name: name.to_owned(),
        label: format!("{name} {axis}={amount}"),
        spec: format!("{name}({axis}={amount})"),
        settings: serde_json::Map::new(),
        axis: Some(axis.to_owned()),
        amount: Some(amount),
        trials,
        on: FaultOn::Image,
    }
}

fn target(name: &str) -> ManifestTarget {
    ManifestTarget {
        name: name.to_owned(),
        model: format!("{name}.onnx"),
        sha256: "00".repeat(32),
        input: serde_json::Value::Null,
        output: serde_json::Value::Null,
        classes: Vec::new(),
        traits: BTreeMap::new(),
        defences: Vec::new(),
        origin: name.to_owned(),
        service: None,
    }
}

fn manifest(targets: &[&str], cases: u32) -> Manifest {
    Manifest {
        version: MANIFEST_VERSION,
        faultlens: "0.1.0".to_owned(),
        fingerprint: "f00d".to_owned(),
        name: "signs".to_owned(),
        base: String::new(),
        seed: 1,
        created: "2026-01-01T00:00:00Z".to_owned(),
        machine: String::new(),
        threads: 1,
        planned: 0,
        shard: None,
        oracle: "same_top".to_owned(),
        guards: Vec::new(),
        confidence: 0.95,
        interval: "wilson".to_owned(),
        requirements: Vec::new(),
        targets: targets.iter().map(|name| target(name)).collect(),
        data: "world".to_owned(),
        classes: Vec::new(),
        cases: cases.into(),
        faults: vec![
            fault("bit_flip", "bit", 30.0, 1000),
            fault("bit_flip", "bit", 31.0, 1000),
            fault("brightness", "severity", 5.0, 1),
        ],
        stop: None,
        tolerances: BTreeMap::new(),
        objects: None,
    }
}

fn case(case: u32) -> CaseRecord {
    CaseRecord {
        case,
        name: format!("image {case}"),
        label: Some("stop".to_owned()),
        strata: BTreeMap::new(),
        width: 32,
        height: 32,
        digest: Some(u64::from(case)),
        error: None,
    }
}

pub(crate) fn golden(target: u32, case: u32, answer: &str) -> GoldenRecord {
    GoldenRecord {
        target,
        case,
        answer: Some(answer.into()),
        score: None,
        correct: None,
        positive: None,
        truth: None,
        digest: Some(0),
        scene: None,
        error: None,
    }
}

impl Run {
    /// A complete run without a trial; `more` goes into the campaign file.
    pub(crate) fn new(targets: &[&str], cases: u32, more: &str) -> Self {
        Self {
            yaml: format!("{YAML}{FAULTS}{more}\n"),
            manifest: manifest(targets, cases),
            cases: (0..cases).map(case).collect(),
            goldens: Vec::new(),
            records: Vec::new(),
            complete: true,
        }
    }

    /// Adds trials of every case; `deviates` says which by case and repeat.
    pub(crate) fn add(
        &mut self,
        (target, fault): (u32, u32),
        repeats: u32,
        deviates: impl Fn(u32, u32) -> bool,
    ) {
        for case in 0..self.cases.len() as u32 {
            for repeat in 0..repeats {
                let deviates = deviates(case, repeat);
                let outcome = if deviates { Outcome::Changed } else { Outcome::Unchanged };
                let number = self.records.len() as u64;
                self.records.push(Record {
                    number,
                    trial: TrialId::of(&[&number.to_le_bytes()]),
                    target,
                    case,
                    fault,
                    repeat,
                    outcome,
                    site: None,
                    answer: None,
                    score: None,
                    cost: Cost { queries: 1, micros: 1 },
                    digest: None,
                    measures: Measures::default(),
                    extra: BTreeMap::new(),
                });
            }
        }
    }

    /// Writes it below the directory.
    pub(crate) fn write(&self, dir: &TempDir, name: &str) -> PathBuf {
        let path = dir.path().join(name);
        // Trials are planned as far as they are added, or more where a test says so.
        let added = self.records.iter().map(|record| record.number + 1).max().unwrap_or(0);
        let planned = added.max(self.manifest.planned);
        let manifest = Manifest { planned, ..self.manifest.clone() };
        let mut store = Store::create(&path, &manifest, &self.yaml).unwrap();
        store.write(&Batch { cases: &self.cases, goldens: &self.goldens, records: &[] }).unwrap();
        for records in self.records.chunks(4096) {
            store.write(&Batch { records, ..Batch::default() }).unwrap();
        }
        if self.complete {
            // A stop rule leaves out trials in the middle.
            store.mark_complete((self.records.len() as u64) < planned).unwrap();
        }
        path
    }

    /// Writes it and reads what it says.
    pub(crate) fn summarised(&self, by: &[&str]) -> Result<Summary, AnalysisError> {
        let dir = tempfile::tempdir().unwrap();
        let by: Vec<String> = by.iter().map(|name| (*name).to_owned()).collect();
        summarise(&self.write(&dir, "run"), &by)
    }
}
