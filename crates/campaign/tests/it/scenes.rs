//! Changed scenes: objects come and go, and what else stands there must be found as before.

mod pins;
mod replayed;

use crate::campaigns::{refused, run};
use faultlens_analysis::summarise;
use faultlens_core::{Case, DType, Image, Outcome, OutcomeKind, Reason, Tensor};
use faultlens_engine::onnx::{self, ModelBuilder};
use faultlens_spec::Campaign;
use std::path::Path;
use tempfile::TempDir;

const WORLD: &str = "
targets: [{model: 'world:detector'}]
cases: {data: 'world:scenes:8'}
objects: world:scenes:30
oracle: {name: same_detections, score_band: 0}
faults:
  - {fault: insert_object, placing: [guided, random], per_object: 2, trials: 8}
  - {fault: remove_object, trials: 2}
  - fault: mirror
";

fn sides(text: &str) -> [f32; 4] {
    let sides: Vec<f32> = text.split(' ').map(|side| side.parse().unwrap()).collect();
    sides.try_into().unwrap()
}

#[test]
fn scenes_repeat_bit_for_bit_and_objects_touch_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let one = run(dir.path(), "one", WORLD, 1);
    let two = run(dir.path(), "two", WORLD, 3);
    assert_eq!(one.len(), 8 * (8 + 8 + 2 + 1));
    let mut inserted = 0;
    for (one, two) in one.iter().zip(&two) {
        assert!(one.is_same(two), "{one:?}\n{two:?}");
        let said = |name: &str| one.field(name);
        if one.fault < 2 && one.outcome.kind() != OutcomeKind::Skipped {
            inserted += 1;
            let found: u32 = said("objects_found").unwrap().parse().unwrap();
            assert!(one.repeat < 2 * found, "two trials for every object");
            let [left, top, right, bottom] = sides(&said("object_box").unwrap());
            assert!(left >= 0.0 && top >= 0.0 && right <= 128.0 && bottom <= 128.0);
            assert_eq!(said("beside").is_some(), one.fault == 0);
            if let Some([a, b, c, d]) = said("beside").map(|text| sides(&text)) {
                let beside = left >= c - 0.1 || right <= a + 0.1;
                assert!(beside || top >= d - 0.1 || bottom <= b + 0.1, "{one:?}");
            }
            let natural: f64 = said("naturalness").unwrap().parse().unwrap();
            assert!((0.8..1.0).contains(&natural), "{natural}");
            // What was asked beside the trial itself, the way of the object took.
            assert!(one.cost.queries == 1 || said("moved").is_some());
            assert!(one.cost.queries == 1 || one.outcome == Outcome::Changed);
        }
        let changes = ["missed", "spurious", "relabelled", "misplaced"].map(said);
        let changed = changes.iter().any(Option::is_some);
        assert_eq!(changed, one.outcome == Outcome::Changed, "{one:?}");
    }
    assert!(inserted > 40, "{inserted}");
    let summary = summarise(&dir.path().join("one"), &[]).unwrap();
    assert_eq!((summary.scenes.by_fault.len(), summary.scenes.placements.len()), (3, 1));
    let guided = &summary.scenes.by_fault[0];
    let changed = one.iter().filter(|r| r.fault == 0 && r.outcome == Outcome::Changed).count();
    assert_eq!(guided.changed.events, changed as u64);
    assert!(guided.imprecise <= guided.changed.events && guided.distinct <= guided.changed.events);
    let queries: u64 = one.iter().filter(|r| r.fault == 0).map(|r| u64::from(r.cost.queries)).sum();
    assert_eq!(guided.queries, queries);
}

/// A detector that finds the same boxes of 128×128 pixels in every image.
fn stuck(dir: &Path, name: &str, boxes: &[[f32; 4]]) {
    let n = boxes.len();
    let mut model = ModelBuilder::new(name);
    model.input("image", DType::F32, &["N".into(), 3.into(), 128.into(), 128.into()]);
    for (output, width, values) in [("scores", 1, vec![0.9f32; n]), ("boxes", 4, boxes.concat())] {
        let constant = Tensor::new(vec![1, n, width], values).unwrap();
        let constant = model.initializer(&format!("{output}.constant"), constant);
        model.node("Identity", &[&constant], &[output]);
        model.output(output, DType::F32, &[1.into(), n.into(), width.into()]);
    }
    onnx::write(&model.build(), &dir.join(format!("{name}.onnx"))).unwrap();
}

fn set() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let image = Image::from_rgb(128, 128, vec![90; 128 * 128 * 3]).unwrap();
    let cases = (0..2).map(|at| Case::new(format!("grey-{at}"), image.clone()));
    faultlens_data::write_coco(dir.path().join("grey"), &["sign".to_owned()], cases).unwrap();
    std::fs::write(dir.path().join("labels.txt"), "sign\n").unwrap();
    std::fs::write(dir.path().join("cats.txt"), "cat\n").unwrap();
    dir
}

fn asked(model: &str, labels: &str) -> String {
    format!(
        "targets: [{{model: {model}.onnx, labels: {labels}, input: {{size: [128, 128]}}, output: \
         {{kind: detections, decoder: world}}}}]\ncases: {{data: grey}}\nobjects: \
         world:scenes:20\noracle: same_detections\nfaults: [{{fault: insert_object, trials: 3}}]\n"
    )
}

#[test]
fn odd_detectors_leave_trials_unjudged_with_the_reason() {
    let dir = set();
    let many: Vec<[f32; 4]> = (0..10_000)
        .map(|at| {
            let (x, y) = ((at % 100) as f32, (at / 100) as f32);
            [x, y, x + 0.5, y + 0.5]
        })
        .collect();
    let nan = f32::NAN;
    stuck(dir.path(), "nothing", &[[0.0; 4]; 0]);
    stuck(dir.path(), "nan", &[[nan, 0.0, nan, 9.0]]);
    stuck(dir.path(), "many", &many);
    stuck(dir.path(), "whole", &[[0.0, 0.0, 128.0, 128.0]]);
    stuck(dir.path(), "huge", &[[-3e4, -3e4, 3e4, 3e4]]);
    stuck(dir.path(), "one", &[[20.0, 20.0, 40.0, 40.0]]);
    for (model, labels, wanted) in [
        ("nothing", "labels.txt", Some(Reason::GoldenEmpty)),
        ("nan", "labels.txt", Some(Reason::GoldenNotFinite)),
        ("whole", "labels.txt", Some(Reason::NoRoom)),
        ("huge", "labels.txt", Some(Reason::NoRoom)),
        ("one", "cats.txt", Some(Reason::NoObject)),
        ("one", "labels.txt", None),
        ("many", "labels.txt", Some(Reason::NoRoom)),
    ] {
        let name = format!("{model}-{labels}");
        let records = run(dir.path(), &name, &asked(model, labels), 2);
        assert_eq!(records.len(), 6);
        for record in records {
            match &wanted {
                Some(reason) => assert_eq!(record.outcome, Outcome::Skipped(*reason)),
                // The same answer to every image is as it was.
                None => assert_eq!(record.outcome, Outcome::Unchanged, "{model}"),
            }
        }
    }
}

#[test]
fn attacks_are_held_against_the_answer_at_the_models_size() {
    let dir = set();
    stuck(dir.path(), "one", &[[20.0, 20.0, 40.0, 40.0]]);
    let image = Image::from_rgb(96, 64, vec![90; 96 * 64 * 3]).unwrap();
    let case = Case::new("wide", image);
    faultlens_data::write_coco(dir.path().join("wide"), &["sign".to_owned()], [case]).unwrap();
    let text = asked("one", "labels.txt").replace("data: grey", "data: wide").replace(
        "{fault: insert_object, trials: 3}",
        "{fault: random_noise, epsilon: 0.01, tries: 1}",
    );
    let records = run(dir.path(), "noise", &text, 1);
    let outcomes: Vec<&Outcome> = records.iter().map(|record| &record.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Unchanged], "it finds the same in every image");
}

#[test]
fn campaigns_that_lack_something_are_refused() {
    let dir = set();
    stuck(dir.path(), "one", &[[20.0, 20.0, 40.0, 40.0]]);
    let text = asked("one", "labels.txt");
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    let without = text.replace("objects: world:scenes:20\n", "");
    let error = Campaign::parse(&without, Path::new("a.yaml")).unwrap_err().to_string();
    assert!(error.contains("insert_object puts objects into scenes"), "{error}");
    assert!(error.contains("a.yaml:4:"), "{error}");
    for (text, wanted) in [
        (text.replace("world:scenes:20", "nowhere"), "nowhere is not there; `faultlens objects"),
        (text.replace("world:scenes:20", "empty"), "index.json is missing"),
        (text.replace("world:scenes:20", "grey"), "has an outline"),
    ] {
        let error = refused(dir.path(), &text);
        assert!(error.contains(wanted), "{error}");
    }
    let twice = text.replace("trials: 3", "trials: 3, towards: point");
    let error = Campaign::parse(&twice, Path::new("a.yaml")).unwrap_err().to_string();
    assert!(error.contains("towards_x"), "{error}");
}
