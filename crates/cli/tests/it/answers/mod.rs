//! `faultlens ask` for models that answer with more than scores.

use crate::folder::{Folder, json};
use faultlens::DType;
use faultlens::engine::onnx::{self, ModelBuilder};

/// A folder with one picture, and a model that answers with the picture itself or with its rows.
fn folder(test: &str, colour: [u8; 3]) -> Folder {
    let folder = Folder::new(test);
    let mut model = ModelBuilder::new("same picture");
    let dims = ["N".into(), 3.into(), 8.into(), 8.into()];
    model.input("image", DType::F32, &dims);
    model.node("Identity", &["image"], &["same"]);
    model.node("ReduceMean", &["image"], &["rows"]).attr_ints("axes", &[3]).attr_i("keepdims", 0);
    model.output("same", DType::F32, &dims);
    model.output("rows", DType::F32, &["N".into(), 3.into(), 8.into()]);
    folder.bytes("m.onnx", &onnx::encode(&model.build())).image("a.png", colour);
    folder.text("names.txt", "r\ng\nb\n");
    folder
}

/// The input of [`folder`]'s model, with this said of its output.
fn described(folder: &Folder, output: &str) {
    let input = "input: {size: [8, 8]}\nlabels: names.txt\n";
    folder.text("in.yaml", &format!("{input}{output}\n"));
}

#[test]
fn a_map_of_the_inputs_size_is_read_as_areas() {
    let folder = folder("ask_segments", [0, 204, 51]);
    described(&folder, "");
    let run = folder.run("ask m.onnx a.png --input in.yaml --json");
    let wanted = r#"{"image":"a.png","segments":{"width":8,"height":8,"shares":[{"index":1,"label":"g","share":1.0}]},"finite":true}"#;
    assert_eq!(run.stdout.trim_end(), wanted, "{}", run.stderr);
    assert!(run.stderr.contains("so these are segments"), "{}", run.stderr);
    let table = folder.run("ask m.onnx a.png --input in.yaml").stdout;
    assert!(table.contains("1  g  100.0%  ████████████████████"), "{table}");
}

#[test]
fn a_picture_is_told_by_its_size_and_mean() {
    let folder = folder("ask_picture", [0, 204, 51]);
    described(&folder, "output: {kind: picture}");
    let lines = json(&folder.run("ask m.onnx a.png --input in.yaml --json").stdout);
    let picture = &lines[0]["picture"];
    assert_eq!((&picture["width"], &picture["channels"]), (&8.into(), &3.into()));
    assert!((picture["mean"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-6, "{picture}");
    let told = folder.run("ask m.onnx a.png --input in.yaml").stdout;
    assert_eq!(told, "a.png\n  8×8 picture\n");
}

#[test]
fn letters_are_told_as_text() {
    let folder = folder("ask_text", [255, 0, 0]);
    for (blank, wanted) in [("", "rrrrrrrr"), (", blank: 2", "r"), (", blank: 0", "")] {
        described(&folder, &format!("output: {{name: rows, kind: text, steps_axis: 2{blank}}}"));
        let run = folder.run("ask m.onnx a.png --input in.yaml --json");
        let line = format!("{{\"image\":\"a.png\",\"text\":\"{wanted}\",\"finite\":true}}\n");
        assert_eq!(run.stdout, line, "{}", run.stderr);
    }
}

#[test]
fn the_shipped_detector_tells_what_it_finds_and_where() {
    let folder = Folder::new("ask_objects");
    let export = folder.run("world export data --signs 0 --scenes 5");
    assert_eq!(export.status, 0, "{}", export.stderr);
    let find = |name: &str| name.ends_with(".png");
    let mut scenes = walk(&folder.path("data"));
    scenes.retain(|path| find(path));
    let run = folder.run(&format!("ask world:detector {} --json", scenes.join(" ")));
    assert_eq!(run.status, 0, "{}", run.stderr);
    let lines = json(&run.stdout);
    let objects: Vec<_> = lines.iter().flat_map(|l| l["objects"].as_array().unwrap()).collect();
    assert!(objects.len() >= lines.len() / 2, "{}", run.stdout);
    for object in objects {
        let side = |at: usize| object["box"][at].as_f64().unwrap();
        assert!(side(0) < side(2) && side(1) < side(3), "{object}");
        assert!(side(2) > 0.0 && side(0) < 128.0 && object["score"].as_f64().unwrap() >= 0.3);
        assert!(["car", "sign", "truck"].contains(&object["label"].as_str().unwrap()));
    }
    let none = folder.image("grey.png", [128; 3]).run("ask world:detector grey.png").stdout;
    assert!(none.contains("no object"), "{none}");
}

/// All files below a folder, in order.
fn walk(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: std::path::PathBuf| match path.is_dir() {
        true => walk(&path),
        false => vec![path.display().to_string()],
    };
    let mut files: Vec<String> = entries.flat_map(below).collect();
    files.sort();
    files
}

#[test]
fn a_description_that_does_not_fit_the_output_is_explained() {
    let folder = folder("ask_misfit", [1, 2, 3]);
    for (output, wanted) in [
        (
            "output: {kind: detections}",
            "detections need a decoder; known: faster_rcnn, fastestdet, ssd",
        ),
        ("output: {kind: detections, decoder: yolx}", "did you mean `yolox`?"),
        ("output: {kind: detections, decoder: yolox}", "output `same` is f32 (1, 3, 8, 8), where"),
        ("output: {kind: logits}", "say what it holds with `output: {kind: …}`"),
        ("output: {kind: logits, blank: 0}", "blank is for text, not for logits"),
        ("output: {kind: text, name: same}", "steps_axis says where the steps are"),
        ("output: {kind: segment}", "did you mean `segments`?"),
    ] {
        described(&folder, output);
        let run = folder.run("ask m.onnx a.png --input in.yaml");
        assert_eq!(run.status, 2, "{output}");
        assert!(run.stderr.contains(wanted), "{output}: {}", run.stderr);
    }
}
