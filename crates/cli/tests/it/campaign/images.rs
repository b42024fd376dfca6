//! Campaigns on a user's own model and images.

use faultlens::engine::onnx::{self, ModelBuilder};
use faultlens::{DType, Tensor};

use super::small::{done, object, records};
use crate::folder::Folder;

/// Two flips of the highest exponent bit per case, which change many answers.
const MINE: &str = "
name: mine
output: run
targets: [{model: m.onnx, input: {size: [8, 8], scale: 0.0078125}, labels: names.txt}]
cases: {data: set}
faults: [{fault: bit_flip, bit: 30, trials: 30}, {fault: brightness, severity: 5}]
";
/// Hostile where HTML is not escaped.
const HOSTILE: &str = "<img src=x onerror=alert(1)>";
const SCRIPT: &str = "<script>alert(1)</script>";

/// A model that answers with the colour of an image, and a set of images by colour.
fn colours(test: &str, classes: [&str; 3]) -> Folder {
    let folder = Folder::new(&format!("campaign_{test}"));
    let mut model = ModelBuilder::new("colour");
    model.input("image", DType::F32, &["N".into(), 3.into(), 8.into(), 8.into()]);
    model.node("GlobalAveragePool", &["image"], &["mean"]).name("pool");
    model.node("Flatten", &["mean"], &["colour"]).name("flatten");
    let weight = vec![1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let weight = model.initializer("weight", Tensor::new(vec![3, 3], weight).unwrap());
    model.node("MatMul", &["colour", &weight], &["logits"]).name("weigh");
    model.output("logits", DType::F32, &["N".into(), 3.into()]);
    folder.bytes("m.onnx", &onnx::encode(&model.build()));
    folder.text("names.txt", &format!("{}\n", classes.join("\n"))).text("mine.yaml", MINE);
    for (at, class) in classes.into_iter().enumerate() {
        std::fs::create_dir_all(folder.path(&format!("set/{class}"))).unwrap();
        for shade in [100, 120] {
            let mut colour = [10; 3];
            colour[at] = shade;
            folder.image(&format!("set/{class}/{shade}.png"), colour);
        }
    }
    folder
}

#[test]
fn an_image_that_cannot_be_decoded_leaves_its_trials_unjudged() {
    let folder = colours("undecodable", ["red", "green", "blue"]);
    folder.text("set/green/120.png", "this is no image");
    // Two targets meet the image.
    let target = MINE.lines().find_map(|line| line.strip_prefix("targets: [")).unwrap();
    let second = target.replacen("m.onnx", "m.onnx, name: twin", 1);
    let both = format!("{}, {second}", target.trim_end_matches(']'));
    folder.text("mine.yaml", &MINE.replace(target, &both));
    let run = done(&folder, "run mine.yaml --json");
    let warnings: Vec<&str> =
        run.stderr.lines().filter(|line| line.starts_with("warning: case ")).collect();
    let [warning] = warnings[..] else { panic!("one warning is wanted: {}", run.stderr) };
    assert!(warning.contains("skipped") && warning.ends_with("set/green/120.png"), "{warning}");
    let summary = object(&run);
    assert_eq!(summary["progress"]["complete"], true);
    assert_eq!(summary["overall"]["rate"]["n"], 2 * 5 * 31);
    assert_eq!(summary["overall"]["skipped"]["case_unreadable"], 2 * 31);
    assert!(summary["warnings"].to_string().contains("120.png"), "{}", summary["warnings"]);
    let rows = records(&folder, "run");
    let skipped = rows.iter().filter(|row| row["outcome"] == "skipped");
    assert!(skipped.map(|row| &row["label"]).eq(vec!["green"; 2 * 31]));

    let number = &rows.iter().find(|row| row["outcome"] == "skipped").unwrap()["number"];
    let replay = folder.run(&format!("replay run {number}"));
    assert_eq!(replay.status, 2);
    assert!(replay.stderr.contains("nothing to repeat"), "{}", replay.stderr);
    assert!(replay.stderr.contains("120.png"), "{}", replay.stderr);
}

/// A PNG on which its decoder panics: its palette is no multiple of three bytes long.
const PALETTE: &[u8] = include_bytes!("../../../../data/tests/fixtures/hostile/palette.png");

#[test]
fn an_image_on_which_the_decoder_panics_is_skipped_by_name() {
    let folder = colours("decoder_panics", ["red", "green", "blue"]);
    folder.bytes("set/green/120.png", PALETTE);
    // The second time the run is resumed, with nothing left to do.
    for _ in 0..2 {
        let run = done(&folder, "run mine.yaml --json");
        let summary = object(&run);
        assert_eq!(summary["overall"]["skipped"]["case_unreadable"], 31);
        let warnings = summary["warnings"].to_string();
        assert!(warnings.contains("green/120.png") && warnings.contains("damaged"), "{warnings}");
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    }
    folder.text("in.yaml", "input: {size: [8, 8], scale: 0.0078125}\n");
    let ask = folder.run("ask m.onnx set/green/120.png --input in.yaml");
    assert_eq!(ask.status, 2, "{}", ask.stderr);
    assert!(ask.stderr.contains("120.png") && ask.stderr.contains("damaged"), "{}", ask.stderr);
    assert!(!ask.stderr.contains("panicked"), "{}", ask.stderr);
}

#[test]
fn names_from_outside_are_escaped_in_the_report() {
    let folder = colours("escape", ["red", HOSTILE, "blue"]);
    folder.text("names.txt", &format!("red\n{HOSTILE}\n{SCRIPT}\n"));
    folder.text("mine.yaml", &MINE.replace("name: mine", &format!("name: '{SCRIPT}'")));
    let run = done(&folder, "run mine.yaml --json");
    // It is there to be shown: as a class of cases, and as an answer.
    assert!(run.stdout.contains(HOSTILE) && run.stdout.contains(SCRIPT), "{}", run.stdout);
    let html = std::fs::read_to_string(folder.path("run/report.html")).unwrap();
    assert!(!html.contains("<img src=x") && !html.contains("<script>alert"), "not escaped");
    let named = html.replace("&#60;", "&lt;").replace("&#62;", "&gt;");
    assert!(
        named.contains("&lt;img src=x") && named.contains("&lt;script&gt;alert(1)"),
        "not shown"
    );
    let xml = done(&folder, "report run --format junit").stdout;
    assert!(!xml.contains(SCRIPT) && xml.contains("&lt;script&gt;"), "{xml}");
}

#[test]
fn a_run_is_replayed_from_any_folder() {
    let folder = colours("replay_elsewhere", ["red", "green", "blue"]);
    done(&folder, "run mine.yaml");
    let elsewhere = std::process::Command::new(env!("CARGO_BIN_EXE_faultlens"))
        .current_dir(folder.path("set"))
        .args(["replay", "../run", "7"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&elsewhere.stderr);
    assert_eq!(elsewhere.status.code(), Some(0), "{stderr}");
}

#[test]
fn models_and_data_that_changed_are_noticed() {
    let folder = colours("changed", ["red", "green", "blue"]);
    done(&folder, "run mine.yaml");
    let model = std::fs::read(folder.path("m.onnx")).unwrap();
    let mut other = model.clone();
    // One of the weights: 1 becomes 1.5.
    let at = model.windows(4).rposition(|bytes| bytes == 1f32.to_le_bytes()).unwrap();
    other[at + 2] ^= 0x40;
    folder.bytes("m.onnx", &other);
    for args in ["run mine.yaml", "replay run 3", "promote run 3"] {
        let run = folder.run(args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}: {}", run.stderr);
        assert!(run.stderr.contains("is not as it was when the run began"), "{}", run.stderr);
    }
    folder.bytes("m.onnx", &model);
    done(&folder, "replay run 3");
    folder.image("set/blue/100.png", [1, 2, 3]);
    // Trials of that image cannot be repeated, those of the next one can.
    let first = folder.run("replay run 0");
    assert_eq!((first.status, first.stdout.as_str()), (2, ""), "{}", first.stderr);
    assert!(
        first.stderr.contains("the image of case blue/100.png is not as it was"),
        "{}",
        first.stderr
    );
    done(&folder, "replay run 31");
}

/// Defences of a target are weighed under attacks as under image faults.
#[test]
fn defences_are_weighed_under_attacks() {
    let folder = Folder::new("defended_attacks");
    let text = "targets: [{model: world:signs-shallow}, {name: squeezed, model: world:signs-shallow, \
                defences: [{name: bit_depth_reduction, bits: 4}]}]\n\
                cases: {data: 'world:signs:12'}\nfaults: [{fault: fgm, epsilon: 0.03}]\n";
    folder.text("attack.yaml", text);
    let run = folder.run("run attack.yaml --json --output run");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let summary = crate::folder::json(&run.stdout).remove(0);
    let rows = summary["benefits"][0]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["fault"]), (1, &"fgm".into()), "{summary}");
    assert_eq!(rows[0]["changed"]["n"], 12);
}
