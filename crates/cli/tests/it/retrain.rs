//! Failure-aware retraining, as users run it.

use crate::folder::{Folder, json};

/// The shipped detector and two small sets, as a user would bring them.
fn brought(name: &str) -> Folder {
    let folder = Folder::new(name);
    let shipped = faultlens::world::MODELS.iter().find(|model| model.name == "detector").unwrap();
    folder.bytes("m.onnx", shipped.onnx).text("m.json", shipped.card);
    let made = folder.run("world export set --signs 0 --scenes 10 --seed 3");
    assert_eq!(made.status, 0, "{}", made.stderr);
    folder
}

const OWN: &str = "retrain --out out --model m.onnx --data set/scenes/train --evaluate \
                   set/scenes/test --seeds 2 --epochs 1 --batch 4 --per-object 3 --rate 0.001";

#[test]
fn an_experiment_is_done_once_and_told_again() {
    let folder = brought("retrain_once");
    let run = folder.run(OWN);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for wanted in ["1 originals alone", "2 originals and failing scenes", "2 − 1", "2 − 3", "10.5"]
    {
        assert!(run.stdout.contains(wanted), "{wanted}: {}", run.stdout);
    }
    assert!(
        run.stderr.contains("seed 2 (2/2)  originals and unchecked scenes: COCO AP"),
        "{}",
        run.stderr
    );
    let page = std::fs::read_to_string(folder.path("out/report.html")).unwrap();
    assert!(page.contains("data:image/png;base64,") && page.contains("line s0 of-many"));
    // The folder alone makes the page again, whatever became of the data.
    std::fs::remove_dir_all(folder.path("set")).unwrap();
    std::fs::remove_file(folder.path("out/report.html")).unwrap();
    let again = folder.run("retrain --out out --json");
    assert_eq!((again.status, again.stderr.as_str()), (0, ""), "{}", again.stderr);
    let told = json(&again.stdout).remove(0);
    assert_eq!((&told["version"], told["seeds"].as_array().unwrap().len()), (&1.into(), 2));
    assert_eq!(told["findings"]["rows"].as_array().unwrap().len(), 9);
    assert!(folder.path("out/report.html").exists());
    // What it leaves can be looked into like any other run.
    let runs = std::fs::read_dir(folder.path("out/seed-1")).unwrap().map(|entry| entry.unwrap());
    let run =
        runs.map(|entry| entry.file_name().into_string().unwrap()).find(|n| n.starts_with("run-"));
    let report = folder.run(&format!("report out/seed-1/{} --json", run.unwrap()));
    assert_eq!(report.status, 0, "{}", report.stderr);
}

#[test]
fn bad_input_is_said() {
    let folder = brought("retrain_wrong");
    for name in ["full", "broken"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    folder.text("full/file", "").text("broken/retraining.json", "{");
    for (args, wanted) in [
        ("retrain --out full --seeds 1", "the folder holds something else"),
        ("retrain --out broken", "cannot read the experiment"),
        ("retrain --out new --scenes 1", "the number of scenes cannot be 1"),
        ("retrain --out new --architecture detectr", "did you mean"),
        ("retrain --out new --architecture lenet --held-out 2", "the task detect cannot use"),
        ("retrain --out new --model m.onnx --data set --evaluate none", "none"),
        ("retrain --out new --model none.onnx --data set --evaluate set", "needs the card"),
        ("retrain --out new --per-object 0", "1..=1000"),
    ] {
        let run = folder.run(args);
        assert_eq!(run.status, 2, "{args}: {}", run.stdout);
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
}
