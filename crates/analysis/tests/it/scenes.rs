//! Changed scenes.

use crate::sample::{Run, fault, golden};
use faultlens_analysis::{Finding, Recommendation, SceneTotal, Warning};
use faultlens_core::{Bounds, Outcome, Reason};
use faultlens_record::store::{FaultOn, ManifestFault};
use faultlens_record::{
    DetectionDiff, FoundObject, GoldenRecord, GoldenScene, KnownObject, LabelledBox, Relocation,
    SceneChange, SceneObject,
};

const CASES: u32 = 12;

fn insert(placing: &str, label: &str) -> ManifestFault {
    let mut insert = fault("insert_object", "n", 0.0, 10);
    insert.on = FaultOn::Scene;
    insert.label = label.to_owned();
    insert.settings.insert("placing".to_owned(), placing.into());
    insert
}

const BOX: Bounds = Bounds { left: 1.0, top: 2.0, right: 3.0, bottom: 4.0 };

/// One object that is gone.
fn missed(score: f32) -> DetectionDiff {
    let object = LabelledBox { label: "car".to_owned(), score, bounds: BOX };
    DetectionDiff { missed: vec![object], ..DetectionDiff::default() }
}

/// Two targets, objects put close to others and anywhere. The second target finds nothing odd and
/// disagrees with itself about the last case.
fn run() -> Run {
    let mut run = Run::new(&["small", "deep"], CASES, "");
    run.manifest.faults =
        vec![insert("guided", "insert_object"), insert("random", "insert_object placing=random")];
    run.add((0, 0), 10, |_, repeat| repeat < 5);
    run.add((0, 1), 10, |_, repeat| repeat < 1);
    run.add((1, 0), 10, |_, _| false);
    for record in &mut run.records {
        let mut scene = SceneChange { objects_found: 3, ..SceneChange::default() };
        if record.outcome == Outcome::Changed {
            scene.object = Some(SceneObject {
                label: "car".to_owned(),
                id: Some("o1".to_owned()),
                bounds: BOX,
                beside: None,
            });
            // All of them meet at the same place of their case.
            let places = vec![[7.0, 7.0]];
            scene.relocation = Some(Relocation { share: 1.0, places, naturalness: None });
            record.measures.detections = Some(missed(0.9));
        }
        record.measures.scene = Some(scene);
        if record.target == 1 && record.case == CASES - 1 {
            record.measures.scene = None;
            record.outcome = Outcome::Skipped(Reason::GoldenUnstable);
        }
    }
    run
}

#[test]
fn totals_count_images_once() {
    let summary = run().summarised(&[]).unwrap();
    let of = |total: &SceneTotal| {
        let SceneTotal { target, objects, unsteady, scenes, moved, changed, .. } = total;
        (target.clone(), [*objects, *unsteady, *scenes, *moved, changed.events, changed.n])
    };
    let totals: Vec<_> = summary.scenes.totals.iter().map(of).collect();
    let name = |name: &str| Some(name.to_owned());
    // Three objects in each of twelve images, whatever is put into them.
    assert_eq!(totals[0], (name("small"), [36, 0, 240, 12, 72, 240]));
    assert_eq!(totals[1], (name("deep"), [33, 1, 110, 0, 0, 110]));
    assert_eq!(totals[2], (None, [69, 1, 350, 12, 72, 350]));
    assert_eq!(totals.len(), 3);
    assert_eq!(
        summary.scenes.by_fault.iter().map(|one| one.missed).collect::<Vec<_>>(),
        [60, 12, 0]
    );
}

#[test]
fn only_what_is_near_the_least_score_of_all_was_unsure() {
    let advised = |score: f32, scene: Option<GoldenScene>, output: serde_json::Value| {
        let mut run = run();
        run.manifest.targets[0].output = output;
        run.goldens.push(GoldenRecord { scene, ..golden(0, 0, "objects") });
        for record in run.records.iter_mut().filter(|one| one.outcome == Outcome::Changed) {
            record.measures.detections = Some(missed(score));
        }
        let summary = run.summarised(&[]).unwrap();
        summary.recommendations().iter().any(|one| match one {
            Recommendation::RaiseThreshold { target, lost } => {
                assert_eq!((*target, lost.unsure, lost.all), ("small", 72, 72));
                true
            }
            _ => false,
        })
    };
    // Objects that the undisturbed target finds: one of 0.3, one of 0.9.
    let known =
        KnownObject { class: 0, crowd: false, left: 1.0, top: 1.0, width: 5.0, height: 5.0 };
    let object =
        |score, left| FoundObject { class: 0, score, left, top: 1.0, width: 5.0, height: 5.0 };
    let found =
        Some(GoldenScene { known: vec![known], found: vec![object(0.3, 1.0), object(0.9, 20.0)] });
    let described = serde_json::json!({"kind": "detections", "decoder": "yolox"});
    for (score, scene, output, wanted) in [
        (0.9, found.clone(), serde_json::Value::Null, false),
        (0.32, found, serde_json::Value::Null, true),
        (0.9, None, described.clone(), false),
        (0.32, None, described, true),
        (0.9, None, serde_json::Value::Null, false),
    ] {
        let is_advised = advised(score, scene.clone(), output.clone());
        assert_eq!(is_advised, wanted, "{score} {scene:?} {output}");
    }
}

#[test]
fn findings_say_what_changed_scenes_do() {
    let summary = run().summarised(&[]).unwrap();
    let mut changed = Vec::new();
    let mut placements = Vec::new();
    for finding in summary.findings() {
        match finding {
            Finding::ChangedScenes(total) => {
                let target = total.target.as_deref().unwrap();
                changed.push((target, total.changed.events, total.changed.n));
            }
            Finding::Placement(effect) => placements.push(effect),
            _ => {}
        }
    }
    assert_eq!(changed, [("small", 72, 240), ("deep", 0, 110)]);
    let [effect] = &placements[..] else { panic!("{placements:?}") };
    assert_eq!((effect.fault.as_str(), effect.target.as_str()), ("insert_object", "small"));
    assert_eq!((effect.difference.n, effect.guided.value), (12, Some(0.5)));
    assert!(effect.is_significant() && effect.difference.value > Some(0.0), "{effect:?}");
    let unstable = Warning::UnstableTarget { target: "deep".to_owned(), cases: 1 };
    assert_eq!(summary.warnings, [unstable]);
}

#[test]
fn a_stop_rule_does_not_weight_scenes_by_their_outcomes() {
    let mut run = run();
    run.yaml += "stop: {half_width: 0.02, at_most: 1000}\n";
    run.records.retain(|record| record.fault == 0 || record.repeat < 4);
    let summary = run.summarised(&[]).unwrap();
    let total = &summary.scenes.totals[0];
    // The first four repeats, which both have: all of one point and every fourth of the other.
    assert_eq!((total.changed.events, total.changed.n, total.scenes), (60, 96, 168));
}
