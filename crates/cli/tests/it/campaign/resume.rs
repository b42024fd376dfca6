//! Runs that are interrupted go on, and end with the same records.

use std::time::SystemTime;

use super::small::{self, Beside, SMALL, assert_same, done, object, records, wait_for_trials};
use crate::folder::Folder;

/// Trials of each case and bit: long enough to be interrupted in the middle.
const LONG: u64 = 2_500;
/// So long that no test waits for the end.
const ENDLESS: u64 = 500_000;

/// The small campaign with many more flips, as `long.yaml`.
fn long(test: &str, trials: u64) -> Folder {
    let folder = small::folder(test);
    folder.text("long.yaml", &SMALL.replace("trials: 10", &format!("trials: {trials}")));
    folder
}

/// How many trials a run has told of.
fn told(events: &str) -> u64 {
    events.matches("\"event\":\"trial\"").count() as u64
}

#[test]
fn a_terminated_run_is_left_clean_and_goes_on() {
    let folder = long("terminate", LONG);
    let events = || std::fs::read_to_string(folder.path("events.jsonl")).unwrap();
    let run = Beside::start(&folder, "run long.yaml --events events.jsonl", "notes.txt");
    wait_for_trials(&folder, "events.jsonl");
    assert_eq!(run.terminate(), Some(130));
    let notes = std::fs::read_to_string(folder.path("notes.txt")).unwrap();
    assert!(notes.contains("what was recorded is safe"), "{notes}");
    assert!(events().ends_with("{\"ending\":\"interrupted\",\"event\":\"finished\"}\n"));

    // Nothing is left in a log, and the run can be looked at.
    let files = std::fs::read_dir(folder.path("run")).unwrap();
    let mut left = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(!left.any(|name| name.ends_with("-wal") || name.ends_with(".new")));
    let progress = object(&done(&folder, "report run --json"))["progress"].clone();
    let number = |key: &str| progress[key].as_u64().unwrap();
    let (recorded, planned) = (number("recorded"), number("planned"));
    assert!(recorded > 0 && recorded < planned, "{progress}");
    assert_eq!((recorded, &progress["complete"]), (told(&events()), &false.into()));

    let again = done(&folder, "run long.yaml --events events.jsonl");
    assert!(again.stderr.contains("on record already"), "{}", again.stderr);
    assert_eq!(told(&events()), planned - recorded);
    done(&folder, "run long.yaml --output whole");
    assert_same(&records(&folder, "run"), &records(&folder, "whole"), "after SIGTERM");
}

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on() {
    let kills: u32 = std::env::var("FAULTLENS_KILLS").map_or(3, |text| text.parse().unwrap());
    let folder = long("kill", LONG);
    let started = SystemTime::now();
    done(&folder, "run long.yaml --output whole");
    let whole = started.elapsed().unwrap();
    let wanted = records(&folder, "whole");
    let mut killed = 0;
    for at in 0..kills {
        let nanos = SystemTime::UNIX_EPOCH.elapsed().unwrap().subsec_nanos();
        let delay = whole.mul_f64(f64::from(nanos % 1000) / 2000.0);
        let when = format!("kill {at} after {delay:?}");
        let run = Beside::start(&folder, "run long.yaml", "notes.txt");
        std::thread::sleep(delay);
        killed += u32::from(run.kill());
        let notes = std::fs::read_to_string(folder.path("notes.txt")).unwrap();
        assert!(!notes.contains("error"), "{when}: {notes}");
        // In the first moments there is no run yet; whatever is there later can be looked at.
        let report = folder.run("report run --json");
        let begun = folder.path("run/manifest.json").exists();
        assert_eq!(report.status, if begun { 0 } else { 2 }, "{when}: {}", report.stderr);
        if begun && object(&report)["progress"]["complete"] == true {
            assert_same(&records(&folder, "run"), &wanted, &when);
            std::fs::remove_dir_all(folder.path("run")).unwrap();
        }
    }
    assert!(killed > 0, "every run ended before it could be killed");
    done(&folder, "run long.yaml");
    assert_same(&records(&folder, "run"), &wanted, "after all kills");
}

#[test]
fn a_second_process_on_the_same_run_is_refused() {
    let folder = long("second", ENDLESS);
    let args = "run long.yaml --events events.jsonl --threads 1";
    let first = Beside::start(&folder, args, "notes.txt");
    wait_for_trials(&folder, "events.jsonl");
    let second = Beside::start(&folder, "run long.yaml", "refused.txt");
    assert_eq!(second.wait(), Some(2));
    let wanted = format!("error: another process works on this run (pid {}): run\n", first.id());
    assert_eq!(std::fs::read_to_string(folder.path("refused.txt")).unwrap(), wanted);
    // Looking at it is allowed.
    let report = object(&done(&folder, "report run --json"));
    assert_eq!(report["progress"]["complete"], false);
    let check = folder.run("check run");
    assert!(check.stderr.contains("the run is not complete"), "{}", check.stderr);
    assert_eq!(first.terminate(), Some(130));
}
