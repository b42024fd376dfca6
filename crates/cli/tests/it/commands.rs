//! The `faultlens` command as users run it, each time in a fresh folder.

use crate::folder::{Folder, json};
use faultlens::engine::onnx::{self, ModelBuilder};
use faultlens::{DType, Tensor};
use serde_json::Value;

/// Files of models, which only these tests need.
trait Models {
    fn model(&self, name: &str, model: &ModelBuilder) -> &Self;
}

impl Models for Folder {
    fn model(&self, name: &str, model: &ModelBuilder) -> &Self {
        self.bytes(name, &onnx::encode(&model.build()))
    }
}

/// Answers with an image's mean red, green and blue.
fn mean_colour(side: usize) -> ModelBuilder {
    let mut model = ModelBuilder::new("mean colour");
    model.input("image", DType::F32, &["N".into(), 3.into(), side.into(), side.into()]);
    model.node("GlobalAveragePool", &["image"], &["mean"]).name("pool");
    model.node("Flatten", &["mean"], &["colour"]).name("flatten");
    model.output("colour", DType::F32, &["N".into(), 3.into()]);
    model
}

/// As [`mean_colour`], then weighed by a 3×3 matrix.
fn weighed_colour(weight: [f32; 9]) -> ModelBuilder {
    let mut model = ModelBuilder::new("weighed colour");
    model.input("image", DType::F32, &["N".into(), 3.into(), 8.into(), 8.into()]);
    model.node("GlobalAveragePool", &["image"], &["mean"]).name("pool");
    model.node("Flatten", &["mean"], &["colour"]).name("flatten");
    let weight = Tensor::new(vec![3, 3], weight.to_vec()).unwrap();
    let weight = model.initializer("weight", weight);
    model.node("MatMul", &["colour", &weight], &["logits"]).name("weigh");
    model.output("logits", DType::F32, &["N".into(), 3.into()]);
    model
}

const IDENTITY: [f32; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// Pixels of 64 and 128 become 0.5 and 1 exactly.
const PLAIN_8: &str = "input: {size: [8, 8], scale: 0.0078125}\n";

#[test]
fn ask_gives_one_line_of_json_per_image() {
    let folder = Folder::new("ask_json");
    folder.model("m.onnx", &weighed_colour(IDENTITY));
    folder.image("red.png", [128, 64, 0]).image("blue.png", [0, 64, 128]);
    folder.text("in.yaml", &format!("{PLAIN_8}labels: names.txt\n"));
    folder.text("names.txt", "red\ngreen\nblue\n");
    let args = "ask m.onnx red.png blue.png --input in.yaml --top 2 --json";
    let run = folder.run(args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let lines = json(&run.stdout);
    assert_eq!(lines.len(), 2);
    let red = r#"{"image":"red.png","ranking":[{"index":0,"label":"red","score":1.0},{"index":1,"label":"green","score":0.5}]}"#;
    assert_eq!(run.stdout.lines().next(), Some(red));
    assert_eq!(lines[1]["ranking"][0]["label"], "blue");
    assert_eq!(folder.run(&format!("{args} --threads 1")).stdout, run.stdout);
}

#[test]
fn ask_shows_a_table_and_says_what_it_guessed() {
    let folder = Folder::new("ask_table");
    folder.model("m.onnx", &mean_colour(224)).image("green.png", [0, 255, 0]);
    let run = folder.run("ask m.onnx green.png");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("green.png\n  1  1   2.4"), "{}", run.stdout);
    for wanted in ["short_side: 256", "# guessed values: ", "# guessed output: ", "kind: logits"] {
        assert!(run.stderr.contains(wanted), "{}", run.stderr);
    }
}

#[test]
fn what_ask_shows_can_be_given_to_it() {
    let folder = Folder::new("ask_again");
    folder.model("m.onnx", &mean_colour(224)).image("a.png", [10, 200, 30]);
    let first = folder.run("ask m.onnx a.png");
    folder.text("shown.yaml", &first.stderr);
    let second = folder.run("ask m.onnx a.png --input shown.yaml");
    assert_eq!((second.status, second.stdout), (0, first.stdout), "{}", second.stderr);
    assert!(!second.stderr.contains("guessed"), "{}", second.stderr);
}

#[test]
fn one_bad_image_does_not_stop_the_others() {
    let folder = Folder::new("bad_image");
    folder.model("m.onnx", &weighed_colour(IDENTITY)).image("ok.png", [255, 0, 0]);
    folder.text("in.yaml", PLAIN_8).text("empty.png", "").text("text.png", "no image");
    let png = std::fs::read(folder.path("ok.png")).unwrap();
    folder.bytes("half.png", &png[..png.len() / 2]);
    let run = folder
        .run("ask m.onnx empty.png text.png half.png . gone.png ok.png --input in.yaml --json");
    assert_eq!(run.status, 2);
    let lines = json(&run.stdout);
    assert_eq!(lines.len(), 6);
    for (line, wanted) in lines.iter().zip(["empty", "no PNG", "truncated", "directory", "No such"])
    {
        let error = line["error"].as_str().unwrap();
        assert!(error.contains(wanted), "{error}");
        assert!(run.stderr.contains(error), "{}", run.stderr);
    }
    assert_eq!(lines[5]["ranking"][0]["index"], 0);
}

#[test]
fn broken_models_are_explained() {
    let folder = Folder::new("bad_model");
    folder.model("m.onnx", &weighed_colour(IDENTITY)).image("a.png", [1, 2, 3]);
    let bytes = std::fs::read(folder.path("m.onnx")).unwrap();
    folder.bytes("half.onnx", &bytes[..bytes.len() / 2]).bytes("empty.onnx", b"");
    folder.text("text.onnx", "this is no model, it only looks like one");
    for model in ["gone.onnx", "half.onnx", "empty.onnx", "text.onnx", "."] {
        for args in [format!("ask {model} a.png"), format!("inspect {model}")] {
            let run = folder.run(&args);
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}");
            assert!(run.stderr.starts_with("error: cannot load the model"), "{}", run.stderr);
            assert!(
                run.stderr.contains(model) && run.stderr.lines().count() == 1,
                "{}",
                run.stderr
            );
        }
    }
}

#[test]
fn weights_outside_the_models_folder_are_not_read() {
    let folder = Folder::new("outside");
    folder.text("secret.bin", "0123456789abcdef0123456789abcdef0123");
    std::fs::create_dir(folder.path("models")).unwrap();
    let mut proto = weighed_colour(IDENTITY).build();
    let weight = &mut proto.graph.as_mut().unwrap().initializer[0];
    let location = onnx::StringStringEntryProto {
        key: "location".into(),
        value: "../secret.bin".into(),
        ..Default::default()
    };
    weight.raw_data = Default::default();
    weight.float_data = Default::default();
    weight.external_data = vec![location];
    weight.data_location = 1;
    folder.bytes("models/m.onnx", &onnx::encode(&proto));
    let run = folder.run("inspect models/m.onnx");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("../secret.bin"), "{}", run.stderr);
}

#[test]
fn a_description_that_does_not_fit_is_explained() {
    let folder = Folder::new("misfit");
    let mut four = ModelBuilder::new("four channels");
    let dims = ["N".into(), 4.into(), 8.into(), 8.into()];
    four.input("image", DType::F32, &dims);
    four.node("Relu", &["image"], &["y"]);
    four.output("y", DType::F32, &dims);
    folder.model("four.onnx", &four).model("m.onnx", &weighed_colour(IDENTITY));
    folder.image("a.png", [1, 2, 3]).text("rgb.yaml", PLAIN_8);
    folder.text("grey.yaml", "input: {size: [8, 8], channels: grey}\n");
    folder.text("slip.yaml", "input:\n  size: [8, 8]\n  chanels: bgr\n");
    folder.text("output.yaml", "input: {size: [8, 8]}\noutput: {name: logit, kind: logits}\n");
    for (args, wanted) in [
        ("ask four.onnx a.png", "no axis has the 1 or 3 channels"),
        ("ask four.onnx a.png --input rgb.yaml", "takes f32 (N, 4, 8, 8): correct channels"),
        ("ask m.onnx a.png --input grey.yaml", "correct channels or layout"),
        ("ask m.onnx a.png", "may take 0..255, 0..1 or normalised"),
        ("ask m.onnx a.png --input slip.yaml", "line 3, column 3; did you mean `channels`?"),
        ("ask m.onnx a.png --input gone.yaml", "gone.yaml"),
        ("ask m.onnx a.png --input output.yaml", "did you mean `logits`?"),
        ("ask m.onnx a.png --input rgb.yaml --labels a.png", "as text"),
        ("ask m.onnx a.png --top 0", "a whole number from 1"),
        ("ask m.onnx", "required"),
        ("asc m.onnx", "unrecognized"),
    ] {
        let run = folder.run(args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}");
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
}

#[test]
fn scores_that_are_no_numbers_survive_json() {
    let folder = Folder::new("nan");
    let weight = [f32::NAN, 0.0, 0.0, 0.0, 3e38, 0.0, 0.0, 3e38, -1.0];
    folder.model("m.onnx", &weighed_colour(weight)).image("a.png", [255, 255, 255]);
    folder.text("in.yaml", "input: {size: [8, 8], scale: 1}\n");
    let run = folder.run("ask m.onnx a.png --input in.yaml --json");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let ranking = &json(&run.stdout)[0]["ranking"];
    assert_eq!((&ranking[0]["index"], &ranking[0]["score"]), (&1.into(), &"inf".into()));
    assert_eq!((&ranking[2]["index"], &ranking[2]["score"]), (&0.into(), &"NaN".into()));
}

#[test]
fn regression_values_keep_their_order() {
    let folder = Folder::new("values");
    folder.model("m.onnx", &weighed_colour(IDENTITY)).image("a.png", [64, 0, 128]);
    folder.text("in.yaml", &format!("{PLAIN_8}output: {{kind: values}}\n"));
    let run = folder.run("ask m.onnx a.png --input in.yaml --json");
    assert_eq!(run.stdout, "{\"image\":\"a.png\",\"values\":[0.5,0.0,1.0]}\n", "{}", run.stderr);
}

#[test]
fn inspect_counts_what_is_inside() {
    let folder = Folder::new("inspect");
    folder.model("m.onnx", &weighed_colour(IDENTITY));
    let run = folder.run("inspect m.onnx --json");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let survey = &json(&run.stdout)[0];
    for (pointer, wanted) in [
        ("/opset", Value::from(17)),
        ("/inputs/0/shape", serde_json::json!(["N", 3, 8, 8])),
        ("/inputs/0/dtype", "f32".into()),
        ("/outputs/0/name", "logits".into()),
        ("/layers", 1.into()),
        ("/parameters", 9.into()),
        ("/macs", 9.into()),
        ("/operators/0/name", "pool".into()),
        ("/operators/0/type", "GlobalAveragePool".into()),
        ("/operators/0/outputs/0/shape", serde_json::json!([1, 3, 1, 1])),
        ("/operators/2/macs", 9.into()),
        ("/operator_types/0/count", 1.into()),
        ("/sites/operator_outputs/elements", 9.into()),
        ("/sites/operator_outputs/bits", 288.into()),
        ("/sites/weights/elements", 9.into()),
        ("/not_run", Value::Null),
    ] {
        assert_eq!(survey.pointer(pointer), Some(&wanted), "{pointer}: {}", run.stdout);
    }
    let error = survey["input_guess"]["error"].as_str().unwrap();
    assert!(error.contains("describe it in an input file"), "{error}");
    assert!(folder.run("inspect m.onnx").stdout.contains("where faults can be injected"));
}

#[test]
fn inspect_needs_a_size_where_the_model_takes_any() {
    let folder = Folder::new("inspect_size");
    let mut model = ModelBuilder::new("any size");
    model.input("image", DType::F32, &["N".into(), 3.into(), "H".into(), "W".into()]);
    model.node("Relu", &["image"], &["y"]);
    model.output("y", DType::F32, &["N".into(), 3.into(), "H".into(), "W".into()]);
    folder.model("m.onnx", &model);
    let without = folder.run("inspect m.onnx");
    assert_eq!(without.status, 0);
    assert!(without.stderr.contains("--size"), "{}", without.stderr);
    assert!(without.stdout.contains("(N, 3, H, W)"), "{}", without.stdout);
    let with = folder.run("inspect m.onnx --size 6x5 --json");
    let shape = &json(&with.stdout)[0]["operators"][0]["outputs"][0]["shape"];
    assert_eq!(shape, &serde_json::json!([1, 3, 6, 5]));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = Folder::new("pipe");
    folder.model("m.onnx", &weighed_colour(IDENTITY));
    let run = folder.run_without(|child| drop(child.stdout.take()), "inspect m.onnx");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}
