//! The schema beside the parser: in every file of the repository, and key by key in the sections
//! that other crates read.

use crate::validator::faults_of;
use crate::{LEAST, refused, yaml};
use faultlens_spec::{Campaign, schema};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

/// Whether both agree that a file is right, or that it is wrong; says which.
fn verdict(text: &str) -> bool {
    let parsed = Campaign::parse(text, Path::new("a.yaml"));
    let wrong = faults_of(&SCHEMA, &yaml(text));
    match &parsed {
        Ok(_) => assert_eq!(wrong, Vec::<String>::new(), "{text}"),
        Err(error) => assert_ne!(wrong, Vec::<String>::new(), "{text}: {error}"),
    }
    parsed.is_ok()
}

fn with_target(target: &str) -> String {
    LEAST.replace("{model: world:steering}", target)
}

fn with_service(keys: &str) -> String {
    with_target(&format!("{{service: {{provider: kserve, {keys}}}}}"))
}

fn with_input(keys: &str) -> String {
    with_target(&format!("{{model: a.onnx, input: {keys}}}"))
}

fn with_output(keys: &str) -> String {
    with_target(&format!("{{model: a.onnx, output: {keys}}}"))
}

/// Campaign files below a folder.
fn campaigns_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            campaigns_below(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            // Parts of campaigns, which scripts put together, and sweeps stand beside campaigns.
            let text = fs::read_to_string(&path).unwrap();
            let has = |key: &str| text.lines().any(|line| line.starts_with(key));
            if has("targets:") && has("cases:") && has("faults:") {
                files.push(path);
            }
        }
    }
}

#[test]
fn every_campaign_of_the_repository_is_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["docs", "tests/pinned", "crates/cli/src/command"] {
        campaigns_below(&root.join(folder), &mut files);
    }
    assert!(files.len() > 20, "{files:?}");
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        Campaign::parse(&text, &path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(faults_of(&SCHEMA, &yaml(&text)), Vec::<String>::new(), "{}", path.display());
    }
}

/// The examples of the documentation that have targets are valid, with cases and faults added where
/// they leave them out.
#[test]
fn every_campaign_of_the_documentation_is_valid() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut count = 0;
    for entry in fs::read_dir(docs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).unwrap();
        let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
        for block in blocks.filter(|block| block.starts_with("targets:")) {
            let mut text = block.to_owned();
            for line in ["cases: {data: a}", "faults: [{fault: zero}]"] {
                let (key, _) = line.split_once(' ').unwrap();
                if !block.contains(&format!("\n{key}")) {
                    text = format!("{text}\n{line}\n");
                }
            }
            assert!(verdict(&text), "{}: {text}", path.display());
            count += 1;
        }
    }
    assert!(count > 3, "{count}");
}

#[test]
fn parser_and_schema_agree_about_services() {
    for keys in [
        "",
        "task: tensors, endpoint: 'http://127.0.0.1:1', version: 2.0, model: 5",
        "codec: png",
        "codec: {jpeg: 90}",
        "labels: coco",
        "labels: [a, 7]",
        "max_labels: 1000, min_confidence: 1",
        "region: eu, profile: p, certificate: c.pem, tensor: input",
        "limits: {rate: 0.5, concurrency: 256, timeout: 3600, retries: 100, calls: 0, money: 0, \
         price: 0.1, control: 0, lost_retries: 1}",
        "template: {path: /p, headers: {a: b, c: 1}, body: '{}', form: f, answers: a, label: l, \
         score: s, text: t, bounds: [b], corners: shares_with_size, model_version: v}",
        "input: {size: [8, 8]}, output: {kind: logits}",
    ] {
        assert!(verdict(&with_service(keys)), "{keys}");
    }
    for keys in [
        "tasks: labels",
        "task: label",
        "task: [labels]",
        "codec: jpg",
        "codec: jpeg",
        "codec: {jpeg: 0}",
        "codec: {jpeg: 90, png: 1}",
        "codec: {jpeg: 101}",
        "labels: 7",
        "labels: ''",
        "labels: {a: b}",
        "max_labels: 0",
        "max_labels: 1001",
        "max_labels: 2.5",
        "min_confidence: 1.1",
        "endpoint: [a]",
        "region:",
        "limits: {rates: 1}",
        "limits: {rate: 0}",
        "limits: {rate: fast}",
        "limits: {concurrency: 0}",
        "limits: {concurrency: 257}",
        "limits: {timeout: 0}",
        "limits: {timeout: 3601}",
        "limits: {retries: 101}",
        "limits: {retries: -1}",
        "limits: {money: -1}",
        "limits: {control: some}",
        "limits: 3",
        "template: {pth: /p}",
        "template: {corners: pixel}",
        "template: {headers: [a]}",
        "template: {bounds: b}",
        "input: {size: [8, 8], sclae: 1}",
        "output: {kind: logit}",
    ] {
        assert!(!verdict(&with_service(keys)), "{keys}");
    }
    assert!(!verdict(&with_target("{service: {task: labels}}")));
    assert!(!verdict(&with_target("{service: {provider: kserve}, model: a.onnx}")));
    assert!(!verdict(&with_target("{name: a}")));
}

#[test]
fn parser_and_schema_agree_about_inputs() {
    for keys in [
        "{size: [224, 224]}",
        "{size: [1, 8192], resize: stretch, filter: lanczos, antialias: false, channels: bgr, \
         layout: nhwc, scale: 1, mean: [0.5], std: [1, 2, 3], dtype: uint8, alone: true}",
        "{size: [8, 8], resize: centre_crop}",
        "{size: [8, 8], resize: {centre_crop: {share: 0.9}}}",
        "{size: [8, 8], resize: {centre_crop: {}}}",
        "{size: [8, 8], resize: {short_side: 9}}",
        "{size: [8, 8], resize: {letterbox: {pad: 0, align: top_left}}}",
        "{size: [8, 8], resize: none}",
        "{latent: [5, 1, 1]}",
    ] {
        assert!(verdict(&with_input(keys)), "{keys}");
    }
    for keys in [
        "7",
        "{size: 8}",
        "{size: [8]}",
        "{size: [8, 8, 8]}",
        "{size: [0, 8]}",
        "{size: [8, 8193]}",
        "{size: [8.5, 8]}",
        "{size: [8, 8], chanels: rgb}",
        "{size: [8, 8], channels: rbg}",
        "{size: [8, 8], filter: cubic}",
        "{size: [8, 8], layout: hwc}",
        "{size: [8, 8], dtype: f64}",
        "{size: [8, 8], antialias: 1}",
        "{size: [8, 8], antialias:}",
        "{size: [8, 8], scale: big}",
        "{size: [8, 8], mean: 0.5}",
        "{size: [8, 8], mean: []}",
        "{size: [8, 8], std: [1, 1, 1, 1]}",
        "{size: [8, 8], resize: short_side}",
        "{size: [8, 8], resize: crop}",
        "{size: [8, 8], resize: {crop: 1}}",
        "{size: [8, 8], resize: {centre_crop: {share: 0}}}",
        "{size: [8, 8], resize: {centre_crop: {share: 1.5}}}",
        "{size: [8, 8], resize: {centre_crop: {shares: 1}}}",
        "{size: [8, 8], resize: {letterbox: {pad: 256}}}",
        "{size: [8, 8], resize: {letterbox: {align: left}}}",
        "{latent: [0]}",
    ] {
        assert!(!verdict(&with_input(keys)), "{keys}");
    }
}

#[test]
fn parser_and_schema_agree_about_outputs() {
    for keys in [
        "{kind: logits, softmax: true}",
        "{kind: probabilities, name: 495}",
        "{kind: detections, decoder: yolox, threshold: 0.5, overlap: 0.4, scores: s, boxes: b, \
         labels: l, units: pixels}",
        "{kind: segments, layout: nhwc, threshold: -3}",
        "{kind: picture, range: [-1, 1]}",
        "{kind: text, blank: 0, steps_axis: 2}",
        "{kind: values}",
    ] {
        assert!(verdict(&with_output(keys)), "{keys}");
    }
    for keys in [
        "{}",
        "{name: a}",
        "{kind: logit}",
        "{kind: logits, softmx: true}",
        "{kind: logits, softmax: 1}",
        "{kind: logits, softmax:}",
        "{kind: logits, blank: 0}",
        "{kind: text, layout: nhwc}",
        "{kind: detections, units: metres}",
        "{kind: detections, overlap: -1}",
        "{kind: picture, range: [0, 1, 2]}",
        "{kind: picture, range: 1}",
        "{kind: text, steps_axis: 3}",
        "{kind: text, blank: -1}",
    ] {
        assert!(!verdict(&with_output(keys)), "{keys}");
    }
}

#[test]
fn mistakes_in_sections_of_other_crates_have_their_place() {
    for (text, wanted) in [
        (
            with_service("limit: {rate: 1}"),
            "a.yaml:1:40: service has no key \"limit\"; did you mean \"limits\"?",
        ),
        (
            with_service("limits: {rat: 1}"),
            "a.yaml:1:49: limits has no key \"rat\"; did you mean \"rate\"?",
        ),
        (
            with_target("{service: {task: labels}}"),
            "a.yaml:1:21: service needs provider: which provider, by its name; faultlens list \
             services shows them",
        ),
        (
            with_service("task: lables"),
            "a.yaml:1:46: task takes labels, objects, text, faces, moderation, celebrities or \
             tensors, not \"lables\"; did you mean \"labels\"?",
        ),
        (
            with_input("{size: [8, 8], filter: bicubik}"),
            "a.yaml:1:57: filter takes nearest, bilinear, bicubic or lanczos, not \"bicubik\"; did \
             you mean \"bicubic\"?",
        ),
        (
            with_output("{knd: logits}"),
            "a.yaml:1:36: output has no key \"knd\"; did you mean \"kind\"?",
        ),
        (with_output("{name: a}"), "a.yaml:1:35: output needs kind: what its numbers are"),
    ] {
        assert_eq!(refused(&text).lines().next(), Some(wanted));
    }
    // Former names are read, and not recommended.
    let error = refused(&with_service("qqqqqqqqq: 1"));
    assert!(error.contains("known: provider, task, endpoint") && !error.contains("manners"));
}

/// No section is left open, and every key says what it is.
#[test]
fn the_schema_is_closed_and_described() {
    let mut sections = 0;
    check_closed(&SCHEMA, "the file", &mut sections);
    assert!(sections > 100, "{sections}");
}

fn check_closed(schema: &Value, path: &str, sections: &mut usize) {
    match schema {
        Value::Array(list) => list.iter().for_each(|item| check_closed(item, path, sections)),
        Value::Object(keywords) => {
            if let Some(properties) = keywords.get("properties").and_then(Value::as_object)
                && keywords.get("type").is_some_and(|name| name == "object")
            {
                *sections += 1;
                assert_eq!(
                    keywords.get("additionalProperties"),
                    Some(&Value::Bool(false)),
                    "{path}"
                );
                for (key, property) in properties {
                    // A form with one key, such as {short_side: 256}, is described as a whole.
                    let about = property.get("description").or(keywords.get("description"));
                    assert!(about.is_some_and(|about| about != ""), "{path}.{key}");
                }
            }
            assert!(!keywords.contains_key("$ref"), "{path}");
            for (key, value) in keywords {
                // What is one value of a key is no schema.
                if !["default", "enum", "const"].contains(&key.as_str()) {
                    check_closed(value, &format!("{path}.{key}"), sections);
                }
            }
        }
        _ => {}
    }
}
