//! What a run tells while it goes on, and where.

use std::collections::BTreeSet;

use serde_json::Value;

use super::small::{self, TRIALS, done, object, records};
use crate::folder::json;

#[test]
fn every_trial_is_told_once_and_the_end_comes_last() {
    let folder = small::folder("events");
    done(&folder, "run small.yaml --events events.jsonl");
    let events = json(&std::fs::read_to_string(folder.path("events.jsonl")).unwrap());
    assert_eq!(events[0]["event"], "started");
    assert_eq!((&events[0]["planned"], &events[0]["recorded"]), (&TRIALS.into(), &0.into()));
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["ending"]), (&"finished".into(), &"complete".into()));
    let trials: Vec<&Value> = events.iter().filter(|event| event["event"] == "trial").collect();
    assert_eq!((trials.len(), events.len()), (TRIALS, TRIALS + 2));
    let told: BTreeSet<(u64, String)> = trials
        .iter()
        .map(|trial| {
            (trial["number"].as_u64().unwrap(), trial["outcome"].as_str().unwrap().to_owned())
        })
        .collect();
    let recorded: BTreeSet<(u64, String)> = records(&folder, "run")
        .iter()
        .map(|row| (row["number"].parse().unwrap(), row["outcome"].clone()))
        .collect();
    assert_eq!(told, recorded);

    done(&folder, "run small.yaml --events again.jsonl");
    let again = json(&std::fs::read_to_string(folder.path("again.jsonl")).unwrap());
    assert_eq!(again.len(), 2);
    assert_eq!(again[0]["recorded"], TRIALS);
}

#[test]
fn standard_output_has_results_only_and_notes_are_plain_lines() {
    let folder = small::folder("stdout");
    let run = done(&folder, "run small.yaml --json");
    assert_eq!(object(&run)["progress"]["recorded"], TRIALS);
    assert!(
        run.stderr.starts_with(&format!("{TRIALS} trials, recorded in run\n")),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains(&format!("complete: {TRIALS} trials in ")), "{}", run.stderr);
    assert!(!run.stderr.contains(['\r', '\x1b']), "{:?}", run.stderr);
    let text = done(&folder, "run small.yaml").stdout;
    assert!(!text.contains(['\r', '\x1b']) && !text.contains("already recorded"), "{text:?}");
}

#[test]
fn events_on_standard_output_are_all_that_is_there() {
    let folder = small::folder("events_stdout");
    let lines = json(&done(&folder, "run small.yaml --events -").stdout);
    assert_eq!(lines.len(), TRIALS + 2);
    assert_eq!(lines.last().unwrap()["event"], "finished");
    let lines = json(&done(&folder, "run small.yaml --events - --json").stdout);
    assert_eq!((&lines[1]["event"], &lines[2]["version"]), (&"finished".into(), &2.into()));
}

#[test]
fn a_reader_that_leaves_does_not_end_a_run() {
    let folder = small::folder("reader_leaves");
    let run = folder.run_without(|child| drop(child.stderr.take()), "run small.yaml --json");
    assert_eq!(run.status, 0);
    assert_eq!(object(&run)["progress"]["complete"], true);
    assert_eq!(records(&folder, "run").len(), TRIALS);
}

#[test]
fn rounds_are_told_until_the_stop_rule_ends_the_run() {
    let folder = small::folder("rounds");
    let text = small::SMALL.replace(", trials: 10", "").replace(", trials: 2", "");
    folder.text("stop.yaml", &format!("{text}stop: {{half_width: 0.2, at_most: 100}}\n"));
    let run = done(&folder, "run stop.yaml --events events.jsonl --json");
    let events = json(&std::fs::read_to_string(folder.path("events.jsonl")).unwrap());
    let rounds: Vec<&Value> = events.iter().filter(|event| event["event"] == "round").collect();
    assert!(rounds.len() > 1 && rounds.last().unwrap()["open"] == 0, "{rounds:?}");
    assert_eq!(events.last().unwrap()["ending"], "stopped_early");
    assert!(run.stderr.contains("every rate is precise enough"), "{}", run.stderr);
    let progress = &object(&run)["progress"];
    assert_eq!((&progress["stopped_early"], &progress["complete"]), (&true.into(), &true.into()));
    assert!(progress["recorded"].as_u64() < progress["planned"].as_u64(), "{progress}");
    let sharded = folder.run("run stop.yaml --shard 1/2 --output part");
    assert_eq!(sharded.status, 2);
    assert!(sharded.stderr.contains("stop rule"), "{}", sharded.stderr);
}
