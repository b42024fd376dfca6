//! `faultlens findings`, `replay` and `promote` on changed scenes, as a user types them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::folder::{Folder, Run, json};
use faultlens::data::Pool;
use serde_json::{Value, json as value};

/// A campaign on scenes in COCO files with a pool of objects from the same scenes.
const SCENES: &str = "
targets: [{name: boxes, model: 'world:detector'}]
cases: {data: coco/scenes/train}
objects: pool
oracle: {name: same_detections, score_band: 0}
output: run
faults:
  - {fault: insert_object, trials: 6}
  - {fault: remove_object, trials: 4}
  - {fault: mirror}
  - {fault: bit_flip, bit: 30, trials: 2}
";

fn done(folder: &Folder, args: &str) -> Run {
    let run = folder.run(args);
    assert_eq!(run.status, 0, "{args}: {}{}", run.stdout, run.stderr);
    run
}

fn refused(folder: &Folder, args: &str, wanted: &[&str]) {
    let run = folder.run(args);
    assert_eq!(run.status, 2, "{args}: {}{}", run.stdout, run.stderr);
    for wanted in wanted {
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
}

fn read(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.path(name)).unwrap()).unwrap()
}

/// Scenes whose categories have numbers of their own, and a pool of their objects.
fn scenes(test: &str) -> Folder {
    let folder = Folder::new(&format!("findings_{test}"));
    done(&folder, "world export coco --signs 0 --scenes 36");
    let path = "coco/scenes/train/instances.json";
    let mut list = read(&folder, path);
    let other = |id: &Value| value!(id.as_i64().unwrap() * 10 + 3);
    for category in list["categories"].as_array_mut().unwrap() {
        category["id"] = other(&category["id"]);
    }
    for annotation in list["annotations"].as_array_mut().unwrap() {
        annotation["category_id"] = other(&annotation["category_id"]);
    }
    folder.text(path, &list.to_string());
    done(&folder, "objects coco/scenes/train --out pool --keep-all");
    folder.text("c.yaml", SCENES);
    folder
}

/// The rows of a run's records, by column.
fn records(folder: &Folder, run: &str) -> Vec<BTreeMap<String, String>> {
    done(folder, &format!("export {run} -o records.csv"));
    let mut table = csv::Reader::from_path(folder.path("records.csv")).unwrap();
    table.deserialize().map(|row| row.unwrap()).collect()
}

/// The first trial of a fault that ended so.
fn trial(folder: &Folder, fault: &str, outcome: &str) -> String {
    let fits = |row: &&BTreeMap<String, String>| row["fault"] == fault && row["outcome"] == outcome;
    records(folder, "run").iter().find(fits).unwrap()["number"].clone()
}

#[test]
fn findings_say_what_was_shown_found_and_changed() {
    let folder = scenes("all");
    done(&folder, "run c.yaml");
    let run = done(&folder, "findings run --out found --label-inserted");
    assert!(run.stderr.contains("left out: ") && run.stderr.contains("inside a model"));
    assert!(run.stderr.contains("that changed the answer or got none"), "{}", run.stderr);
    let listed = read(&folder, "found/findings.json");
    let listed = listed.as_array().unwrap();
    let changed: BTreeSet<String> = records(&folder, "run")
        .iter()
        .filter(|row| row["outcome"] == "changed" && row["fault"] != "bit_flip")
        .map(|row| row["number"].clone())
        .collect();
    let told: BTreeSet<String> = listed.iter().map(|one| one["number"].to_string()).collect();
    assert_eq!(told, changed);
    for one in listed {
        assert_eq!((&one["target"], &one["outcome"]), (&"boxes".into(), &"changed".into()));
        assert!(folder.path("found/images").join(one["image"].as_str().unwrap()).is_file());
        assert!(folder.path("found").join(one["drawn"].as_str().unwrap()).is_file());
        let changes = one["changes"].as_array().unwrap();
        assert!(!changes.is_empty() && one.get("no_answer").is_none(), "{one}");
        for change in changes {
            let elsewhere = ["relabelled", "misplaced"].contains(&change["kind"].as_str().unwrap());
            assert_eq!(change.get("before").is_some(), elsewhere, "{change}");
            assert!(change["box"].as_array().unwrap().len() == 4 && change["score"].is_number());
        }
        let whole = one["fault"].as_str().unwrap().starts_with("mirror");
        assert_eq!(one["position"].is_null(), whole, "{one}");
        assert_eq!(one["object"].is_null(), !one["fault"].to_string().contains("insert_object"));
    }
    assert!(listed.iter().any(|one| one["moved"] == true));
    assert!(listed.iter().any(|one| one["position"].is_null()), "mirrored images are findings");
    let [ours, theirs] = ["found", "coco/scenes/train"]
        .map(|set| read(&folder, &format!("{set}/instances.json"))["categories"].clone());
    assert_eq!(ours, theirs);
    let fewer = done(&folder, "findings run --out few --fault insert_object --count 2");
    assert!(fewer.stderr.contains("of 2 trials") && !fewer.stderr.contains("left out"));
    refused(&folder, "findings run --out x --fault insert_objet", &["no fault", "remove_object"]);
    refused(&folder, "findings run --out found", &["the folder is not empty"]);
}

#[test]
fn replay_pairs_every_object() {
    let folder = scenes("replay");
    done(&folder, "run c.yaml");
    for (fault, word) in [("insert_object", "inserted: "), ("remove_object", "taken out: ")] {
        let number = trial(&folder, fault, "changed");
        let shown = done(&folder, &format!("replay run {number}")).stdout;
        assert!(shown.contains(word) && shown.contains("as before; "), "{shown}");
        assert!(shown.contains("the same as recorded, bit for bit"), "{shown}");
        let told = json(&done(&folder, &format!("replay run {number} --json")).stdout).remove(0);
        let kinds = |kind: &str| {
            told["objects"].as_array().unwrap().iter().filter(|one| one["kind"] == kind).count()
        };
        for kind in ["missed", "spurious", "relabelled", "misplaced"] {
            let said = told["now"]["extra"][kind].as_str().map_or(0, |text| text.parse().unwrap());
            assert_eq!(kinds(kind), said, "{kind} {told}");
            assert_eq!(shown.matches(&format!("\n  {kind} ")).count(), said, "{shown}");
        }
        assert_eq!(kinds("taken away"), usize::from(fault == "remove_object"), "{told}");
    }
}

#[test]
fn replay_of_a_trial_that_asked_nobody_shows_no_answer() {
    let folder = scenes("surplus");
    done(&folder, "run c.yaml");
    let number = trial(&folder, "remove_object", "skipped");
    let shown = done(&folder, &format!("replay run {number}")).stdout;
    let why = "no answer: skipped: the target finds fewer objects than trials were planned";
    assert!(shown.contains(why) && !shown.contains("\n  same "), "{shown}");
    let told = json(&done(&folder, &format!("replay run {number} --json")).stdout).remove(0);
    assert!(told["objects"].is_null() && told["observed"].as_array().unwrap().is_empty(), "{told}");
}

#[test]
fn the_targets_word_stands_for_labels_only_where_no_image_has_any() {
    let folder = scenes("labels");
    folder.text(
        "m.yaml",
        "targets: [{model: 'world:detector'}]\ncases: {data: coco/scenes/train}\noracle: \
         same_detections\nfaults: [{fault: mirror}]\n",
    );
    let path = "coco/scenes/train/instances.json";
    let mut list = read(&folder, path);
    let images = list["images"].as_array().unwrap();
    let bare: BTreeSet<String> = images[..18].iter().map(|image| image["id"].to_string()).collect();
    let names: BTreeSet<String> =
        images[..18].iter().map(|image| image["file_name"].as_str().unwrap().to_owned()).collect();
    for (run, labelled) in [("half", true), ("none", false)] {
        let annotations = list["annotations"].as_array_mut().unwrap();
        annotations.retain(|one| labelled && !bare.contains(&one["image_id"].to_string()));
        folder.text(path, &list.to_string());
        done(&folder, &format!("run m.yaml --output {run}"));
        done(&folder, &format!("findings {run} --out {run}-found --all"));
        let set = read(&folder, &format!("{run}-found/instances.json"));
        let labels = |file: &str| {
            let fits = |image: &&Value| image["file_name"].as_str().unwrap().ends_with(file);
            let image = set["images"].as_array().unwrap().iter().find(fits).unwrap();
            let labels = set["annotations"].as_array().unwrap().iter();
            labels.filter(|one| one["image_id"] == image["id"]).count()
        };
        let mut seen = 0;
        for one in read(&folder, &format!("{run}-found/findings.json")).as_array().unwrap() {
            let found = one["expected"].as_array().unwrap().len();
            if names.contains(one["background"].as_str().unwrap()) {
                seen += found;
                let wanted = if labelled { 0 } else { found };
                assert_eq!(labels(one["image"].as_str().unwrap()), wanted, "{run}: {one}");
            }
        }
        assert!(seen > 0, "{run}");
    }
}

#[test]
fn a_pinned_scene_fails_again_and_needs_the_same_objects() {
    let folder = scenes("pins");
    done(&folder, "run c.yaml");
    for fault in ["insert_object", "remove_object"] {
        let number = trial(&folder, fault, "changed");
        done(&folder, &format!("promote run {number} --name {fault}"));
    }
    let surplus = trial(&folder, "remove_object", "skipped");
    let why =
        ["was not judged", "the target finds fewer objects than trials", "pin one that was judged"];
    refused(&folder, &format!("promote run {surplus}"), &why);
    folder.text("again.yaml", &format!("{SCENES}pinned: pinned.yaml\n"));
    let again = done(&folder, "run again.yaml --output again").stderr;
    for fault in ["insert_object", "remove_object"] {
        assert!(again.contains(&format!("pinned: {fault}: changed\n")), "{again}");
    }
    // Other objects, and none at all: the scene with an object in it is another one.
    let mirrored = "targets: [{name: boxes, model: 'world:detector'}]\ncases: {data: \
                    coco/scenes/train}\noracle: {name: same_detections, score_band: 0}\nfaults: [{fault: mirror}]\npinned: \
                    pinned.yaml\n";
    done(&folder, "objects coco/scenes/train --out fewer");
    let texts = [mirrored.to_owned(), format!("{mirrored}objects: fewer\n")];
    for (at, (text, why)) in
        texts.iter().zip(["the campaign has none", "are not those"]).enumerate()
    {
        folder.text("other.yaml", text);
        let told = done(&folder, &format!("run other.yaml --output other-{at}")).stderr;
        let skipped = told.lines().find(|line| line.starts_with("pinned: insert_object")).unwrap();
        assert!(skipped.contains("skipped") && skipped.contains(why), "{skipped}");
        assert!(skipped.contains("objects:"), "{skipped}");
        assert!(told.contains("pinned: remove_object: changed\n"), "{told}");
    }
}

#[test]
fn a_pool_is_what_it_was_and_gives_no_image_its_own_objects() {
    let folder = scenes("pool");
    done(&folder, "run c.yaml");
    let pool = Pool::open(folder.path("pool")).unwrap();
    let source = |id: &str| &pool.objects.iter().find(|entry| entry.id == id).unwrap().source;
    let mut inserted = 0;
    done(&folder, "findings run --out found --all --fault insert_object");
    for one in read(&folder, "found/findings.json").as_array().unwrap() {
        inserted += 1;
        assert_ne!(source(one["object"].as_str().unwrap()), one["background"].as_str().unwrap());
    }
    assert!(inserted > 20, "{inserted}");
    // A file that is not what it was is noticed before anything is asked.
    let number = trial(&folder, "insert_object", "changed");
    let file = folder.path("pool").join(&pool.objects[0].file);
    let bytes = fs::read(&file).unwrap();
    let commands = ["run c.yaml".to_owned(), format!("replay run {number}")];
    let commands = commands.into_iter().chain(["findings run --out x".to_owned()]);
    let commands: Vec<String> = commands.collect();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    for command in &commands {
        refused(&folder, command, &["the object was changed after the pool was made"]);
    }
    fs::remove_file(&file).unwrap();
    for command in &commands {
        refused(&folder, command, &[&pool.objects[0].file]);
    }
    fs::write(&file, bytes).unwrap();
    done(&folder, &commands[1]);
    // Another pool in its place makes other trials.
    fs::remove_dir_all(folder.path("pool")).unwrap();
    done(&folder, "objects coco/scenes/train --out pool");
    for command in &commands {
        refused(&folder, command, &["the pool of objects is not as it was", "put it back"]);
    }
}
