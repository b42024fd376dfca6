//! `faultlens score`, as a user types it.

use crate::folder::{Folder, json};
use serde_json::Value;
use std::path::Path;

/// Sets of which pycocotools, tidecv and a plain VOC implementation know the numbers.
fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/tests/fixtures/detection");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn set(folder: &Folder, name: &str) {
    folder.text("gt.json", &fixture(&format!("{name}_gt.json")));
    folder.text("dt.json", &fixture(&format!("{name}_dt.json")));
}

fn scored(folder: &Folder, args: &str) -> Value {
    let run = folder.run(&format!("score gt.json dt.json --json {args}"));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    json(&run.stdout).remove(0)
}

fn near(got: &Value, wanted: &Value, what: &str) {
    let (got, wanted) = (got.as_f64().unwrap(), wanted.as_f64().unwrap());
    assert!((got - wanted).abs() < 1e-6, "{what}: {got}, not {wanted}");
}

#[test]
fn numbers_are_those_of_others() {
    let folder = Folder::new("score_small");
    set(&folder, "small");
    let got = scored(&folder, "");
    let wanted = &json(&fixture("expected.json").replace('\n', " "))[0]["small"];
    for (ours, theirs) in [
        ("ap", "AP"),
        ("ap50", "AP50"),
        ("ap75", "AP75"),
        ("ap_small", "APs"),
        ("ap_medium", "APm"),
        ("ap_large", "APl"),
        ("ar1", "AR1"),
        ("ar10", "AR10"),
        ("ar100", "AR100"),
        ("ar_small", "ARs"),
        ("ar_medium", "ARm"),
        ("ar_large", "ARl"),
    ] {
        near(&got[ours], &wanted["pycocotools"][theirs], ours);
    }
    let voc = &wanted["voc_iou50_numpy"];
    near(&got["voc_ap50"], &voc["mAP_area"], "voc_ap50");
    near(&got["voc_ap50_11"], &voc["mAP11"], "voc_ap50_11");
    for class in ["1", "2", "3"] {
        let ours = &got["per_class"][format!("c{class}")];
        near(&ours["ap"], &wanted["pycocotools_per_class_AP"][class], class);
        near(&ours["ap50"], &wanted["pycocotools_per_class_AP50"][class], class);
        near(&ours["ar100"], &wanted["pycocotools_per_class_AR100"][class], class);
        near(&ours["voc_ap50"], &voc["per_class"][class]["ap_area"], class);
        assert_eq!(ours["objects"], voc["per_class"][class]["npos"], "{class}");
        assert_eq!(ours["detections"], voc["per_class"][class]["ndet"], "{class}");
    }
    let tide = &json(&fixture("made.json"))[0]["tide_small"];
    for (kind, error) in tide["errors"].as_object().unwrap() {
        assert_eq!(got["tide"][kind]["count"], error["count"], "{kind}");
        near(&got["tide"][kind]["dap"], &error["dap"], kind);
    }
    near(&got["tide"]["FalsePos"]["dap"], &tide["special"]["FalsePos"], "FalsePos");
    near(&got["tide"]["FalseNeg"]["dap"], &tide["special"]["FalseNeg"], "FalseNeg");
}

#[test]
fn threads_change_nothing_and_what_is_not_there_is_null() {
    let folder = Folder::new("score_crowds");
    set(&folder, "crowds");
    let alone = scored(&folder, "--threads 1");
    assert_eq!(scored(&folder, "--threads 3"), alone);
    assert_eq!(alone["per_class"]["c5"]["ap"], Value::Null);
    assert_eq!(alone["per_class"]["c5"]["objects"], 0);
    let table = folder.run("score gt.json dt.json");
    assert_eq!(table.status, 0, "{}", table.stderr);
    let lines: Vec<Vec<&str>> =
        table.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let cells = |first: &str| lines.iter().find(|line| line.first() == Some(&first)).unwrap();
    let shown = |key: &str| format!("{:.4}", alone[key].as_f64().unwrap());
    let wanted = ["ap", "ap_small", "ap_medium", "ap_large"].map(shown);
    assert_eq!(cells("AP")[1..], wanted, "{}", table.stdout);
    assert_eq!(cells("c5")[1..5], ["–"; 4], "{}", table.stdout);
    assert_eq!(cells("Miss")[1], alone["tide"]["Miss"]["count"].to_string());
}

#[test]
fn nothing_found_is_a_result() {
    let folder = Folder::new("score_nothing");
    set(&folder, "small");
    folder.text("dt.json", "[]");
    let got = scored(&folder, "");
    for key in ["ap", "ap50", "ar100", "voc_ap50", "voc_ap50_11"] {
        assert_eq!(got[key], 0.0, "{key}");
    }
    assert_eq!(got["tide"]["Miss"]["count"], 72);
    folder.text("gt.json", r#"{"images":[{"id":1}],"categories":[{"id":1,"name":"a"}]}"#);
    let run = folder.run("score gt.json dt.json --json");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("the ground truth has no objects, so nothing is scored"),
        "{}",
        run.stderr
    );
    let got = json(&run.stdout).remove(0);
    assert_eq!((&got["ap"], &got["voc_ap50"]), (&Value::Null, &Value::Null));
}

#[test]
fn bad_input_is_told() {
    let folder = Folder::new("score_wrong");
    set(&folder, "small");
    folder.text("words.json", "these are words").text(
        "far.json",
        r#"[{"image_id": 99, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1}]"#,
    );
    std::fs::create_dir(folder.path("folder")).unwrap();
    for (args, wanted) in [
        ("gt.json", "DT.json"),
        ("gt.json none.json", "none.json"),
        ("none.json dt.json", "none.json"),
        ("folder dt.json", "folder"),
        ("dt.json gt.json", "this is a list, as detections are"),
        ("gt.json gt.json", "this is an object, as the ground truth is"),
        ("gt.json words.json", "no list of detections that can be read"),
        ("words.json dt.json", "no COCO ground truth that can be read"),
        ("gt.json far.json", "detection 1 is of image 99, which the ground truth does not have"),
        ("gt.json dt.json --threads 0", "--threads"),
    ] {
        let run = folder.run(&format!("score {args}"));
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}: {}", run.stderr);
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new("score_missing");
    let run = folder.run("score nothing.json dt.json");
    assert_eq!(run.status, 2);
    let wanted = "the ground truth, the first file: cannot read the file: ";
    assert!(run.stderr.contains(wanted) && run.stderr.contains("nothing.json"), "{}", run.stderr);
}
