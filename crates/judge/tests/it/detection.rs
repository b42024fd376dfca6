//! Detection metrics against pycocotools, tidecv and a plain VOC implementation;
//! `fixtures/detection/make_detection.py` says where the values come from.

use faultlens_judge::{
    ClassScores, CocoSummary, Rect, Scene, ScoredBox, TideKind, TruthBox, coco_scores, tide,
    voc_average_precision,
};
use serde_json::Value;

const NEAR: f64 = 1e-9;

/// A set of the fixtures, with classes from 0.
fn scenes(known: &str, found: &str) -> Vec<Scene> {
    let known = json(known);
    let found = json(found);
    let mut scenes = vec![Scene::default(); known["images"].as_array().unwrap().len()];
    for known in known["annotations"].as_array().unwrap() {
        scenes[place(known)].objects.push(TruthBox {
            class: class(known),
            rect: rect(known),
            area: known["area"].as_f64().unwrap(),
            crowd: known["iscrowd"] == 1,
            difficult: false,
        });
    }
    for found in found.as_array().unwrap() {
        let score = found["score"].as_f64().unwrap();
        let found_here = &mut scenes[place(found)].detections;
        found_here.push(ScoredBox { class: class(found), rect: rect(found), score });
    }
    scenes
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn place(entry: &Value) -> usize {
    entry["image_id"].as_u64().unwrap() as usize - 1
}

fn class(entry: &Value) -> usize {
    entry["category_id"].as_u64().unwrap() as usize - 1
}

fn rect(entry: &Value) -> Rect {
    let side = |at: usize| entry["bbox"][at].as_f64().unwrap();
    Rect { left: side(0), top: side(1), width: side(2), height: side(3) }
}

fn small() -> Vec<Scene> {
    scenes(
        include_str!("../fixtures/detection/small_gt.json"),
        include_str!("../fixtures/detection/small_dt.json"),
    )
}

fn crowds() -> Vec<Scene> {
    scenes(
        include_str!("../fixtures/detection/crowds_gt.json"),
        include_str!("../fixtures/detection/crowds_dt.json"),
    )
}

fn made() -> Value {
    json(include_str!("../fixtures/detection/made.json"))
}

fn near(got: Option<f64>, wanted: &Value, what: &str) {
    let same = match (got, wanted.as_f64()) {
        (Some(got), Some(wanted)) => (got - wanted).abs() < NEAR,
        (got, wanted) => got.is_none() && wanted.is_none(),
    };
    assert!(same, "{what}: {got:?}, not {wanted}");
}

fn same_summary(classes: &[ClassScores], wanted: &Value) {
    let got = CocoSummary::of(classes);
    for (name, got) in [
        ("AP", got.ap),
        ("AP50", got.ap50),
        ("AP75", got.ap75),
        ("APs", got.ap_small),
        ("APm", got.ap_medium),
        ("APl", got.ap_large),
        ("AR1", got.ar1),
        ("AR10", got.ar10),
        ("AR100", got.ar100),
        ("ARs", got.ar_small),
        ("ARm", got.ar_medium),
        ("ARl", got.ar_large),
    ] {
        near(got, &wanted[name], name);
    }
}

fn mean_at(classes: &[ClassScores], iou: usize) -> Option<f64> {
    let each: Vec<f64> = classes.iter().filter_map(|class| class.ap_at(iou)).collect();
    Some(each.iter().sum::<f64>() / each.len() as f64)
}

#[test]
fn equals_pycocotools() {
    let wanted = json(include_str!("../fixtures/detection/expected.json"));
    let wanted = &wanted["small"];
    let classes = coco_scores(&small(), 3, 1);
    same_summary(&classes, &wanted["pycocotools"]);
    for (at, class) in classes.iter().enumerate() {
        let key = (at + 1).to_string();
        near(class.ap(0), &wanted["pycocotools_per_class_AP"][&key], &key);
        near(class.ap_at(0), &wanted["pycocotools_per_class_AP50"][&key], &key);
        near(class.ar(0), &wanted["pycocotools_per_class_AR100"][&key], &key);
    }
    for (at, iou) in (50..100).step_by(5).enumerate() {
        let key = (f64::from(iou) / 100.0).to_string();
        near(mean_at(&classes, at), &wanted["pycocotools_per_iou_AP"][&key], &key);
    }
}

#[test]
fn equals_pycocotools_where_there_are_crowds() {
    let wanted = &made()["coco"];
    let classes = coco_scores(&crowds(), 5, 1);
    same_summary(&classes, &wanted["summary"]);
    for (at, class) in classes.iter().enumerate() {
        near(class.ap(0), &wanted["ap"][at], "ap");
        near(class.ap_at(0), &wanted["ap50"][at], "ap50");
        near(class.ar(0), &wanted["ar100"][at], "ar100");
    }
    for at in 0..10 {
        near(mean_at(&classes, at), &wanted["per_iou"][at], "per_iou");
    }
}

#[test]
fn threads_change_nothing() {
    let scenes = crowds();
    let alone = coco_scores(&scenes, 5, 1);
    for threads in [0, 2, 3, 64] {
        assert_eq!(coco_scores(&scenes, 5, threads), alone, "{threads}");
    }
}

#[test]
fn equals_a_plain_voc_implementation() {
    let wanted = json(include_str!("../fixtures/detection/expected.json"));
    let wanted = &wanted["small"]["voc_iou50_numpy"]["per_class"];
    let scenes = small();
    for class in 0..3 {
        let wanted = &wanted[(class + 1).to_string()];
        let got = voc_average_precision(&scenes, class, 0.5);
        near(got.map(|got| got.all_points), &wanted["ap_area"], "area");
        near(got.map(|got| got.eleven_points), &wanted["ap11"], "11 points");
    }
}

#[test]
fn equals_tidecv() {
    let made = made();
    let mut plain = crowds();
    for scene in &mut plain {
        scene.objects.retain(|known| !known.crowd);
        scene.detections.retain(|found| found.class < 4);
    }
    for (scenes, wanted) in [(small(), &made["tide_small"]), (plain, &made["tide"])] {
        let got = tide(&scenes);
        near(got.ap50, &wanted["ap50"], "ap50");
        for (kind, error) in TideKind::ALL.into_iter().zip(got.errors) {
            let wanted = &wanted["errors"][kind.name()];
            assert_eq!(wanted["count"], error.count, "{}", kind.name());
            near(Some(error.dap), &wanted["dap"], kind.name());
        }
        near(Some(got.false_positives.dap), &wanted["special"]["FalsePos"], "false positives");
        near(Some(got.false_negatives.dap), &wanted["special"]["FalseNeg"], "false negatives");
    }
}
