//! Files of TensorFI, run as they are, each in a fresh folder.

use std::collections::{BTreeMap, BTreeSet};

use crate::folder::{Folder, Run, json};
use serde_json::Value;

/// 15 operators of 7 kinds: 3 blocks of Conv, BatchNormalization, Relu and MaxPool, and a head of
/// GlobalAveragePool, Flatten and Gemm. 4 layers; 11 trainable variables.
const MODEL: &str = "world:signs-shallow";

fn run(folder: &Folder, args: &str) -> Run {
    folder.run(&format!("run --tensorfi conf.yaml --model {MODEL} --cases world:signs:3 {args}"))
}

/// The trials of a file: 3 cases with 8 trials each.
fn trials(test: &str, conf: &str) -> Vec<Value> {
    let folder = Folder::new(&format!("tensorfi_{test}"));
    folder.text("conf.yaml", conf);
    let run = run(&folder, "--trials 8 --events events.jsonl");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let events = std::fs::read_to_string(folder.path("events.jsonl")).unwrap();
    let mut trials = json(&events);
    trials.retain(|event| event["event"] == "trial");
    assert_eq!(trials.len(), 24, "{conf}");
    trials
}

/// How many elements each trial changed.
fn hits(trials: &[Value]) -> BTreeSet<u64> {
    let hits = |trial: &Value| match &trial["extra"]["hits"] {
        Value::String(hits) => hits.parse().unwrap(),
        _ if trial["site"].is_null() => 0,
        _ => 1,
    };
    trials.iter().map(hits).collect()
}

/// The values of a key of the sites.
fn sites(trials: &[Value], key: &str) -> BTreeSet<String> {
    trials.iter().map(|trial| trial["site"][key].to_string()).collect()
}

#[test]
fn version_1_hits_as_many_operators_as_its_mode_says() {
    let first = |test: &str, rest: &str| {
        trials(test, &format!("TensorFaultType: Rand-element\nSeed: 0\n{rest}"))
    };
    let every = first("every", "InjectMode: errorRate\nOps: [ALL = 1.0]\n");
    assert_eq!(hits(&every), [15].into());
    let named = first("named", "InjectMode: errorRate\nOps: [ALL = 0.0, RELU = 1.0]\n");
    assert_eq!(hits(&named), [3].into());
    let skipped = first("skipped", "InjectMode: errorRate\nOps: [RELU = 1.0]\nSkipCount: 1\n");
    assert_eq!(hits(&skipped), [2].into());
    let kinds = first("kinds", "InjectMode: dynamicInstance\nOps: [ALL = 1.0]\n");
    assert_eq!(hits(&kinds), [7].into());
    let one = first("one", "InjectMode: oneFaultPerRun\nOps: [RELU = 1.0, CONV2D = 1.0]\n");
    assert_eq!(hits(&one), [1].into());
    let kinds = sites(&one, "kind");
    assert_eq!(kinds, ["\"Conv\"", "\"Relu\""].map(str::to_owned).into());
    // A new instance for each trial, not one per process.
    assert!(sites(&one, "operator").len() > 2);
}

#[test]
fn version_1_hits_whole_tensors() {
    let rest = "InjectMode: oneFaultPerRun\nOps: [MATMUL = 1.0]\n";
    let flips = trials("tensor", &format!("TensorFaultType: bitFlip-tensor\n{rest}"));
    // The 14 scores of the only matrix product.
    assert_eq!(hits(&flips), [14].into());
}

#[test]
fn version_2_hits_states_for_all_cases_and_outputs_for_one() {
    let second = |test: &str, target: &str, mode: &str, rest: &str| {
        trials(test, &format!("Target: {target}\nMode: {mode}\n{rest}"))
    };
    let flip = "Type: bitflips\nAmount: 1\nBit: 5\n";
    let states = second("states", "layer_states", "single", flip);
    assert_eq!((hits(&states), sites(&states, "bit")), ([1].into(), ["5".to_owned()].into()));
    let mut places: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for trial in &states {
        let repeat = trial["repeat"].as_u64().unwrap();
        let place = format!("{} {}", trial["site"]["value"], trial["site"]["element"]);
        places.entry(repeat).or_default().insert(place);
    }
    assert!(places.len() == 8 && places.values().all(|of| of.len() == 1), "{places:?}");

    let every = second("variables", "layer_state", "multiple", "Type: random\nAmount: 2\n");
    assert_eq!(hits(&every), [2 * 11].into());
    let outputs = second("layers", "layer_outputs", "multiple", flip);
    assert_eq!(hits(&outputs), [4].into());
    let one = second("layer", "layer_outputs", "single", "Type: bitflips\nAmount: 3\nBit: N\n");
    assert_eq!(hits(&one), [3].into());
    assert!(sites(&one, "layer").len() > 1 && sites(&one, "bit").len() > 1);
}

#[test]
fn the_run_keeps_a_campaign_that_runs_by_itself() {
    let folder = Folder::new("tensorfi_kept");
    folder.text("conf.yaml", "TensorFaultType: Zero\nOps:\n  - CONV2D = 1.0\n  - LRN = 1.0\n");
    let first = run(&folder, "--trials 2");
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(first.stderr.contains("note: nothing is hit for LRN"), "{}", first.stderr);
    let again = run(&folder, "--trials 2");
    assert!(again.stderr.contains("6 already recorded in runs/conf"), "{}", again.stderr);

    let kept = std::fs::read_to_string(folder.path("runs/conf/campaign.yaml")).unwrap();
    assert!(kept.contains("guards: [golden_correct]"), "{kept}");
    let init = format!("init --tensorfi conf.yaml {MODEL} world:signs:3 --trials 2 -o mine.yaml");
    assert_eq!(folder.run(&init).status, 0);
    assert_eq!(std::fs::read_to_string(folder.path("mine.yaml")).unwrap(), kept);
    let mine = folder.run("run mine.yaml --output runs/conf");
    assert!(mine.stderr.contains("6 already recorded in runs/conf"), "{}", mine.stderr);
    // Who reads the results may leave; the campaign is written all the same.
    let deaf = folder
        .run_without(|child| drop(child.stdout.take()), &init.replace("mine.yaml", "again.yaml"));
    assert_eq!(deaf.status, 0, "{}", deaf.stderr);
    assert!(folder.path("again.yaml").exists());
    let replay = folder.run("replay runs/conf 3");
    assert_eq!(replay.status, 0, "{}", replay.stderr);
}

#[test]
fn labels_that_the_model_does_not_know_make_no_answer_wrong() {
    let folder = Folder::new("tensorfi_unlabelled");
    folder.text("conf.yaml", "TensorFaultType: Zero\nOps: [ALL = 1.0]\n");
    for (class, colour) in [("cats", [200, 30, 30]), ("dogs", [30, 30, 200])] {
        std::fs::create_dir_all(folder.path(&format!("photos/{class}"))).unwrap();
        folder.image(&format!("photos/{class}/a.png"), colour);
    }
    let init = folder.run(&format!("init --tensorfi conf.yaml {MODEL} photos"));
    assert_eq!(init.status, 0, "{}", init.stderr);
    let text = std::fs::read_to_string(folder.path("campaign.yaml")).unwrap();
    assert!(
        !text.contains("guards") && text.contains("labels of the cases are not known"),
        "{text}"
    );
}

#[test]
fn what_the_model_does_not_tell_is_said() {
    let folder = Folder::new("tensorfi_input");
    folder.text("conf.yaml", "TensorFaultType: Zero\nOps: [ALL = 1.0]\n");
    let input = "input: {size: [48, 48]}\noutput: {kind: values}\n";
    folder.text("input.yaml", input);
    let run = run(&folder, "--input input.yaml --trials 1 --sample 2");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("2 trials, recorded in runs/conf"), "{}", run.stderr);
    let kept = std::fs::read_to_string(folder.path("runs/conf/campaign.yaml")).unwrap();
    assert!(kept.contains("\"kind\": \"values\"") && kept.contains("same_values"), "{kept}");
    let wrong = folder.run("run small.yaml --input input.yaml");
    assert_eq!(wrong.status, 2, "{}", wrong.stderr);
}

#[test]
fn bad_files_and_arguments_are_refused() {
    let folder = Folder::new("tensorfi_wrong");
    for (conf, wanted) in [
        ("TensorFaultTyp: Zero\nOps: [ALL = 1.0]\n", "did you mean \"TensorFaultType\"?"),
        ("TensorFaultType: Zero\nOps:\n  - ALL = 1.5\n", "conf.yaml:3:5: ALL takes a probability"),
        ("TensorFaultType: Zero\nOps:\n  - CONV3D = 1\n", "did you mean \"CONV2D\"?"),
        ("TensorFaultType: Zero\nOps:\n  - LRN = 1\n", "the model has none of these operators"),
        ("TensorFaultType: Zero\nOps:\n", "Ops names no operator"),
        ("Target: layer_states\nMode: single\nType: zeros\nAmount: -1\n", "conf.yaml:4:9: Amount"),
    ] {
        folder.text("conf.yaml", conf);
        let run = run(&folder, "");
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{conf}");
        assert!(run.stderr.contains(wanted), "{conf}{}", run.stderr);
        assert!(!folder.path("runs").exists());
        let init = folder.run(&format!("init --tensorfi conf.yaml {MODEL} world:signs:3"));
        assert!(init.status == 2 && !folder.path("campaign.yaml").exists(), "{}", init.stderr);
    }
    for (args, wanted) in [
        ("run", "<CAMPAIGN>"),
        ("run --tensorfi conf.yaml", "--model"),
        ("run conf.yaml --tensorfi conf.yaml --model m --cases c", "cannot be used with"),
        ("run conf.yaml --trials 3", "--tensorfi"),
        ("run --tensorfi none.yaml --model m --cases c", "cannot read the TensorFI file none.yaml"),
        ("run --tensorfi . --model m --cases c", "--tensorfi takes a file"),
    ] {
        let run = folder.run(args);
        assert_eq!(run.status, 2, "{args}");
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
}
