//! Records drawn from their numbers, with what databases get wrong in them.

use faultlens_core::Bounds;
use faultlens_core::{Outcome, Reason, Seed, Stream};
use faultlens_record::store::{
    Batch, CaseRecord, FaultOn, MANIFEST_VERSION, Manifest, ManifestFault, ManifestTarget, Store,
    StoreError,
};
use faultlens_record::{
    Cost, DetectionDiff, FoundObject, GoldenRecord, GoldenScene, KnownObject, LabelledBox,
    Measures, ModelValue, NamedValue, Record, Site, TrialId,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub(crate) const CASES: u32 = 20;

pub(crate) fn manifest() -> Manifest {
    let target = |name: &str| ManifestTarget {
        name: name.to_owned(),
        model: format!("{name}.onnx"),
        sha256: "00".repeat(32),
        input: serde_json::json!({"size": [32, 32]}),
        output: serde_json::Value::Null,
        classes: vec!["stop".to_owned(), "yield".to_owned()],
        traits: BTreeMap::new(),
        defences: Vec::new(),
        origin: name.to_owned(),
        service: None,
    };
    let fault = |name: &str, severity: f64, on| ManifestFault {
        name: name.to_owned(),
        label: format!("{name} {severity}"),
        spec: format!("{name}(severity={severity})"),
        settings: serde_json::Map::from_iter([("severity".to_owned(), severity.into())]),
        axis: Some("severity".to_owned()),
        amount: Some(severity),
        trials: 5,
        on,
    };
    let faults =
        vec![fault("brightness", 3.0, FaultOn::Image), fault("bit_flip", 0.5, FaultOn::Model)];
    Manifest {
        version: MANIFEST_VERSION,
        faultlens: "0.1.0".to_owned(),
        fingerprint: "f00df00df00d".to_owned(),
        name: "signs".to_owned(),
        base: "campaigns".to_owned(),
        seed: u64::MAX,
        created: "2026-01-01T00:00:00Z".to_owned(),
        machine: "x86_64, 2 cores".to_owned(),
        threads: 2,
        planned: 2_000_000,
        shard: None,
        oracle: "same_top".to_owned(),
        guards: vec!["golden_correct".to_owned()],
        confidence: 0.95,
        interval: "wilson".to_owned(),
        requirements: Vec::new(),
        targets: vec![target("small"), target("large")],
        data: "world".to_owned(),
        classes: vec!["stop".to_owned()],
        cases: CASES.into(),
        faults,
        stop: None,
        tolerances: BTreeMap::new(),
        objects: None,
    }
}

/// Any bits, and often the ones that databases get wrong.
fn number(stream: &mut Stream) -> f64 {
    match stream.below(8) {
        0 => f64::NAN,
        1 => f64::from_bits(0xfff0_0000_0000_0001),
        2 => f64::NEG_INFINITY,
        3 => -0.0,
        4 => 3.0,
        5 => f64::from_bits(stream.next_u64()),
        _ => f64::from(f32::from_bits(stream.next_u32())),
    }
}

fn word(stream: &mut Stream) -> String {
    let words = ["stop", "", "a\0b", "'; --", "größer, \"als\"\n", "nan", "7"];
    (*stream.pick(&words).unwrap()).to_owned()
}

fn site(stream: &mut Stream) -> Site {
    let (value, operator) = (word(stream), word(stream));
    let layer = stream.next_u32() % 3;
    let place = ModelValue {
        value,
        operator,
        kind: "Conv".to_owned(),
        position: 2 * layer,
        layer,
        layer_name: format!("conv{layer}"),
    };
    let before = number(stream);
    let bit = stream.chance(0.8).then(|| stream.next_u32() % 40);
    let flipped = f32::from_bits((before as f32).to_bits() ^ (1 << (bit.unwrap_or(0) % 32)));
    let after = if stream.chance(0.5) { f64::from(flipped) } else { number(stream) };
    let element = stream.next_u64() >> (8 + stream.below(56));
    Site { place: Arc::new(place), element, bit, before, after }
}

fn outcome(stream: &mut Stream) -> Outcome {
    let reason =
        stream.pick(&[Reason::NoSite, Reason::GoldenWrong, Reason::UnsupportedAnswer]).unwrap();
    let all = [
        Outcome::Unchanged,
        Outcome::Changed,
        Outcome::Detected,
        Outcome::Crashed,
        Outcome::TimedOut,
        Outcome::Skipped(*reason),
    ];
    stream.pick(&all).unwrap().clone()
}

pub(crate) fn scene() -> GoldenScene {
    let box_of = |class, crowd| KnownObject {
        class,
        crowd,
        left: 3.0,
        top: 0.1,
        width: 10.0,
        height: f32::MAX,
    };
    let score = 0.123_456_7;
    let found =
        FoundObject { class: 1, score, left: 3.0, top: 1.5, width: 10.0, height: f32::INFINITY };
    GoldenScene { known: vec![box_of(1, false), box_of(usize::MAX, true)], found: vec![found] }
}

pub(crate) fn golden(target: u32, case: u32) -> GoldenRecord {
    let mut stream = Seed::new(1).at(target.into()).at(case.into()).stream();
    let answer = stream.chance(0.9).then(|| word(&mut stream).into());
    GoldenRecord {
        target,
        case,
        score: stream.chance(0.9).then(|| f32::from_bits(stream.next_u32())),
        correct: stream.pick(&[None, Some(true), Some(false)]).copied().unwrap(),
        positive: stream.pick(&[None, Some(true), Some(false)]).copied().unwrap(),
        truth: None,
        digest: answer.is_some().then(|| stream.next_u64()),
        scene: stream.chance(0.3).then(scene),
        error: answer.is_none().then(|| word(&mut stream)),
        answer,
    }
}

/// Numbers of every kind, infinite ones included.
fn measures(stream: &mut Stream) -> Measures {
    let mut number = || f64::from_bits(stream.next_u64());
    let values =
        [number(), number(), number()].map(|value| if value.is_nan() { 0.1 } else { value });
    let bounds = Bounds { left: values[0] as f32, top: f32::INFINITY, right: 0.1, bottom: -0.0 };
    let label = word(stream);
    let object = LabelledBox { label: label.clone(), score: 0.1 + values[1] as f32, bounds };
    let missed = vec![object; stream.below(30)];
    Measures {
        visual_change: Some(values[0]),
        strengths: vec![NamedValue { name: label.clone().into(), value: values[1] }],
        rank: Some(stream.next_u64()),
        confidence: Some(values[2] as f32),
        positive: Some(stream.chance(0.5)),
        error: Some(label),
        oracle: Some(NamedValue { name: "deviation".into(), value: f64::NEG_INFINITY }),
        detections: Some(DetectionDiff { missed, ..DetectionDiff::default() }),
        found: Some(Vec::new()),
        ..Measures::default()
    }
}

/// The record of a number; always the same.
pub(crate) fn record(number: u64) -> Record {
    let stream = &mut Seed::new(2).at(number).stream();
    let (target, case) = (stream.next_u32() % 2, stream.next_u32() % CASES);
    let golden = golden(target, case);
    // An answer that is golden in all, or in all but one of answer, score and digest.
    let (same, wide) = (stream.chance(0.4), stream.chance(0.1));
    Record {
        number,
        trial: TrialId::of(&[&number.to_le_bytes()]),
        target,
        case,
        fault: stream.next_u32() % 2,
        repeat: if wide { u32::MAX } else { stream.next_u32() % 5 },
        outcome: outcome(stream),
        site: stream.chance(0.6).then(|| site(stream)),
        answer: if same && !stream.chance(0.1) {
            golden.answer
        } else {
            stream.chance(0.8).then(|| word(stream).into())
        },
        score: if same && !stream.chance(0.1) {
            golden.score
        } else {
            Some(f32::from_bits(stream.next_u32()))
        },
        cost: Cost {
            queries: if wide { u32::MAX } else { 1 },
            micros: if wide { u64::MAX } else { stream.next_u64() % 100_000 },
        },
        digest: if same { golden.digest } else { stream.chance(0.8).then(|| stream.next_u64()) },
        measures: if stream.chance(0.5) { measures(stream) } else { Measures::default() },
        extra: (0..stream.below(3)).map(|_| (word(stream), word(stream))).collect(),
    }
}

pub(crate) fn case(case: u32) -> CaseRecord {
    let stream = &mut Seed::new(3).at(case.into()).stream();
    let light = if stream.chance(0.5) { "day" } else { "night" };
    CaseRecord {
        case,
        name: format!("{} {case}", word(stream)),
        label: stream.chance(0.8).then(|| "stop".to_owned()),
        strata: BTreeMap::from([("light".to_owned(), light.to_owned())]),
        width: 32,
        height: 48,
        digest: Some(stream.next_u64()),
        error: stream.chance(0.2).then(|| "truncated".to_owned()),
    }
}

pub(crate) fn goldens() -> Vec<GoldenRecord> {
    (0..2).flat_map(|target| (0..CASES).map(move |case| golden(target, case))).collect()
}

/// All of a record as text that shows every bit: NaN is not equal to itself.
pub(crate) fn exact(record: &Record) -> String {
    let bits = record.site.as_ref().map(|site| (site.before.to_bits(), site.after.to_bits()));
    format!("{record:?} {bits:x?} {:x?}", record.score.map(f32::to_bits))
}

pub(crate) fn exact_goldens(goldens: &[GoldenRecord]) -> Vec<String> {
    let exact = |golden: &GoldenRecord| format!("{golden:?} {:x?}", golden.score.map(f32::to_bits));
    goldens.iter().map(exact).collect()
}

/// A run with all cases and golden answers, and the records of these numbers.
pub(crate) fn written(dir: &Path, numbers: impl IntoIterator<Item = u64>) -> Store {
    written_as(dir, &manifest(), numbers)
}

pub(crate) fn written_as(
    dir: &Path,
    manifest: &Manifest,
    numbers: impl IntoIterator<Item = u64>,
) -> Store {
    let mut store = Store::create(dir, manifest, "name: signs\n").unwrap();
    let cases: Vec<_> = (0..CASES).map(case).collect();
    store.write(&Batch { cases: &cases, goldens: &goldens(), records: &[] }).unwrap();
    let records: Vec<_> = numbers.into_iter().map(record).collect();
    records.chunks(64).for_each(|records| put(&mut store, records));
    store
}

pub(crate) fn put(store: &mut Store, records: &[Record]) {
    store.write(&Batch { records, ..Batch::default() }).unwrap();
}

pub(crate) fn all(store: &Store) -> Vec<String> {
    let mut all = Vec::new();
    let each = |record| {
        all.push(exact(&record));
        Ok::<_, StoreError>(())
    };
    store.for_each(each).unwrap();
    all
}

pub(crate) fn expected(numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    numbers.into_iter().map(|number| exact(&record(number))).collect()
}
