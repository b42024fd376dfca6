//! `faultlens train` and `faultlens world` as users run them, each time in a fresh folder.

use crate::folder::{Folder, json};
use faultlens::data::DataSet;
use image::{Rgb, RgbImage};

/// Twenty dark and twenty bright images in two class folders.
fn shades(test: &str) -> Folder {
    let folder = Folder::new(test);
    for (class, base) in [("bright", 150u8), ("dark", 40)] {
        std::fs::create_dir_all(folder.path(&format!("set/{class}"))).unwrap();
        for at in 0..20u8 {
            let image = RgbImage::from_pixel(8, 8, Rgb([base + 3 * at, base, base + at]));
            image.save(folder.path(&format!("set/{class}/{at}.png"))).unwrap();
        }
    }
    folder
}

#[test]
fn train_writes_a_model_that_can_be_asked_and_its_card() {
    let folder = shades("train_card");
    let args = "train mlp:8 --data set --epochs 8 --batch 4 --seed 3 --json";
    let run = folder.run(&format!("{args} -o m.onnx --threads 2"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    let card = &json(&run.stdout)[0];
    assert_eq!(card["scores"][0]["value"], 1.0, "{card}");
    assert_eq!(card["classes"][0], "bright");
    assert_eq!(card["measured_on"], "set, 4 of 40 cases held out");
    let command = card["command"].as_str().unwrap();
    assert!(
        command.contains("train mlp:8 --data set") && command.contains("--seed 3"),
        "{command}"
    );
    assert!(run.stderr.contains("epoch   8/8  loss"), "{}", run.stderr);
    let beside = std::fs::read_to_string(folder.path("m.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&beside).unwrap(), *card);

    let asked = folder.run("ask m.onnx set/dark/3.png --json");
    assert_eq!(asked.status, 0, "{}", asked.stderr);
    assert_eq!(json(&asked.stdout)[0]["ranking"][0]["label"], "dark");
    let note = "\n# the model's own metadata describes the input\n";
    assert!(asked.stderr.contains(note), "{}", asked.stderr);

    let again = folder.run(&format!("{args} -o n.onnx --threads 1"));
    assert_eq!(again.status, 0, "{}", again.stderr);
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("m.onnx"), bytes("n.onnx"));
}

#[test]
fn train_says_what_is_wrong() {
    let folder = shades("train_wrong");
    std::fs::create_dir_all(folder.path("gap/none")).unwrap();
    std::fs::create_dir_all(folder.path("gap/one")).unwrap();
    folder.image("gap/one/a.png", [1, 2, 3]);
    std::fs::create_dir_all(folder.path("others/a")).unwrap();
    folder.image("others/a/a.png", [1, 2, 3]);
    let cases = [
        ("train convnot --data set -o m.onnx", "did you mean \"convnet\""),
        ("train mlp:8 --data sets -o m.onnx", "sets"),
        ("train mlp:8 --data gap -o m.onnx", "none"),
        ("train mlp:8 --data world:sings -o m.onnx", "signs and scenes"),
        ("train mlp:8 --data set -o nowhere/m.onnx", "no folder nowhere"),
        ("train pilotnet --data set -o m.onnx", "pilotnet learns the task regress, and the case"),
        ("train dcgan --data set -o m.onnx", "this architecture cannot be trained alone: dcgan"),
        (
            "train dcgan --data set --task classify -o m.onnx",
            "this architecture cannot be trained alone: dcgan",
        ),
        ("train mlp:8 --data set --augment flop -o m.onnx", "did you mean flip?"),
        ("train unet:4,2 --data set --augment flip -o m.onnx", "leave it out"),
        ("train unet:4,2 --data set --size 16x16 -o m.onnx", "as large as the images (8x8)"),
        ("train mlp:8 --data set --epochs 100001 -o m.onnx", "at most 100000"),
        ("train mlp:8 --data set --momentum 1 -o m.onnx", "from 0 up to below 1"),
        ("train mlp:8 --data set --test ./set -o m.onnx", "the same set as --data"),
        (
            "train mlp:8 --data set --test others -o m.onnx",
            "class 0 is \"a\" there, but \"bright\" here",
        ),
        ("train mlp:8 --data world:signs:300000 -o m.onnx", "from 1 to 200000"),
        ("train detector --data set --task detect -o m.onnx", "no case has objects"),
        ("train mlp:8 --data set -o m.json", "needs another name, such as m.onnx"),
        ("train mlp:8 --data set --rate 1e30 --decay 0 -o m.onnx", "lower the learning rate"),
        ("train unet:4,2 --data set -o m.onnx", "labelled pixels"),
    ];
    for (args, part) in cases {
        let run = folder.run(args);
        assert_eq!(run.status, 2, "{args}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{args}: {}", run.stderr);
    }
    assert!(!folder.path("m.onnx").exists());
}

/// Images of 8×8 pixels with these labels, as MNIST's files.
fn idx(folder: &Folder, part: &str, labels: &[u8]) {
    let count = [0, 0, 0, labels.len() as u8];
    let pixels = labels.iter().flat_map(|&label| [80 * label; 64]).collect::<Vec<u8>>();
    let images = [&[0, 0, 8, 3][..], &count, &[0, 0, 0, 8], &[0, 0, 0, 8], &pixels].concat();
    folder.bytes(&format!("digits/{part}-images-idx3-ubyte"), &images);
    let labels = [&[0, 0, 8, 1][..], &count, labels].concat();
    folder.bytes(&format!("digits/{part}-labels-idx1-ubyte"), &labels);
}

#[test]
fn parts_of_a_set_are_used_even_where_a_class_is_missing() {
    let folder = Folder::new("train_parts");
    std::fs::create_dir_all(folder.path("digits")).unwrap();
    idx(&folder, "train", &[0, 1, 2, 0, 1, 2, 0, 1, 2]);
    let args = "train mlp:8 --data digits --grey --epochs 1 --batch 4 --json -o m.onnx";
    // No part to test with: the same set must not serve as one, and some cases are held out.
    let same = folder.run(&format!("{args} --test digits"));
    assert!(same.stderr.contains("the same set as --data"), "{}", same.stderr);
    let held_out = json(&folder.run(args).stdout)[0]["measured_on"].clone();
    assert_eq!(held_out, "digits, 1 of 9 cases held out");
    // The part to test with lacks the last class.
    idx(&folder, "t10k", &[0, 1, 1]);
    for args in [args, &format!("{args} --test ./digits")] {
        let run = folder.run(args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let card = &json(&run.stdout)[0];
        assert_eq!(card["measured_on"], "digits, part test");
        assert_eq!((&card["scores"][0]["n"], &card["classes"][2]), (&3.into(), &"2".into()));
    }
    // It has one that training does not know.
    idx(&folder, "t10k", &[0, 1, 3]);
    let run = folder.run(args);
    assert!(run.stderr.contains("class 3 is \"3\" there, but none here"), "{}", run.stderr);
}

#[test]
fn list_wins_over_other_arguments() {
    let folder = shades("train_list");
    let run = folder.run("train mlp:8 --data set -o m.onnx --list");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("resnet18"), "{}", run.stdout);
    assert!(!folder.path("m.onnx").exists());
}

#[test]
fn a_model_is_not_lost_with_the_reader_or_with_a_broken_test_image() {
    let folder = shades("train_kept");
    let run = folder.run_without(
        |child| drop(child.stderr.take()),
        "train mlp:8 --data set --epochs 1 -o m.onnx",
    );
    assert_eq!(run.status, 0);
    assert!(folder.path("m.onnx").exists() && folder.path("m.json").exists());

    // The second test image cannot be read: found after the training, and the model is there.
    for class in ["bright", "dark"] {
        std::fs::create_dir_all(folder.path(&format!("test/{class}"))).unwrap();
        folder.image(&format!("test/{class}/a.png"), [90; 3]);
    }
    folder.text("test/dark/b.png", "no image");
    let old = std::fs::read(folder.path("m.onnx")).unwrap();
    let run = folder.run("train mlp:9 --data set --test test --epochs 1 -o m.onnx");
    assert_eq!(run.status, 2, "{}", run.stderr);
    for part in ["will be replaced: m.onnx", "m.onnx is written, but cannot", "b.png"] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    assert_ne!(std::fs::read(folder.path("m.onnx")).unwrap(), old);
    assert!(!folder.path("m.json").exists(), "the card of the model before is gone");

    // The first is tried before the training.
    folder.text("test/bright/a.png", "no image");
    let run = folder.run("train mlp:9 --data set --test test --epochs 1 -o n.onnx");
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(!run.stderr.contains("epoch") && run.stderr.contains("a.png"), "{}", run.stderr);
}

#[test]
fn some_cases_are_drawn_evenly() {
    let folder = shades("train_cases");
    let run = folder.run("train mlp:8 --data set --epochs 1 --cases 10 --json -o m.onnx");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("10 cases to train on"), "{}", run.stderr);
    let command = json(&run.stdout)[0]["command"].as_str().unwrap().to_owned();
    assert!(command.contains("--cases 10"), "{command}");
}

#[test]
fn an_unreadable_image_stops_or_is_left_out() {
    let folder = shades("train_unreadable");
    folder.text("set/dark/broken.png", "no image");
    let stopped = folder.run("train mlp:8 --data set --epochs 1 -o m.onnx");
    assert_eq!(stopped.status, 2);
    assert!(stopped.stderr.contains("broken.png"), "{}", stopped.stderr);
    let skipped = folder.run("train mlp:8 --data set --epochs 1 --skip-unreadable -o m.onnx");
    assert_eq!(skipped.status, 0, "{}", skipped.stderr);
    assert!(skipped.stderr.contains("left out"), "{}", skipped.stderr);
}

#[test]
fn world_export_can_be_read_back() {
    let folder = Folder::new("world_export");
    let run = folder.run("world export out --signs 70 --scenes 10");
    assert_eq!(run.status, 0, "{}", run.stderr);
    for (set, signs, scenes) in [("train", 70, 10), ("test", 14, 2)] {
        let found = DataSet::open(folder.path(&format!("out/signs/{set}"))).unwrap();
        assert_eq!((found.len(), found.classes.len()), (signs, 14), "{set}");
        let found = DataSet::open(folder.path(&format!("out/scenes/{set}"))).unwrap();
        assert_eq!((found.len(), found.classes.len()), (scenes, 3), "{set}");
    }
    let scenes = DataSet::open(folder.path("out/scenes/train")).unwrap();
    let objects: usize = (0..10).map(|at| scenes.case(at).unwrap().objects.len()).sum();
    assert!(objects > 5, "{objects}");
    let again = folder.run("world export out");
    assert_eq!(again.status, 2);
    assert!(again.stderr.contains("new or empty"), "{}", again.stderr);
    for (few, wanted) in [("--signs 69", "0 or at least 70"), ("--scenes 4", "0 or at least 5")] {
        let run = folder.run(&format!("world export few {few}"));
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains(wanted), "{}", run.stderr);
    }
}

#[test]
fn shipped_models_are_listed_and_asked() {
    let folder = Folder::new("world_models");
    let listed = folder.run("world models --json");
    assert_eq!(listed.status, 0, "{}", listed.stderr);
    let names: Vec<String> =
        json(&listed.stdout).iter().map(|c| c["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    assert_eq!(folder.run("world export w --signs 70 --scenes 0").status, 0);
    let stop = folder.path("w/signs/train/stop");
    let crop = std::fs::read_dir(stop).unwrap().next().unwrap().unwrap().path();
    let asked = folder.run(&format!("ask world:signs-deep {} --json", crop.display()));
    assert_eq!(asked.status, 0, "{}", asked.stderr);
    assert_eq!(json(&asked.stdout)[0]["ranking"][0]["label"], "stop");
    let wrong = folder.run("ask world:signs-dep crop.png");
    assert!(wrong.stderr.contains("did you mean signs-deep"), "{}", wrong.stderr);
}

#[test]
fn world_show_draws_sheets() {
    let folder = Folder::new("world_show");
    let run = folder.run("world show out");
    assert_eq!(run.status, 0, "{}", run.stderr);
    for name in ["signs.png", "scenes.png", "truths.png", "answers.png"] {
        let sheet = image::open(folder.path(&format!("out/{name}"))).unwrap();
        assert!(sheet.width() > 300, "{name}");
    }
}
