//! Runs that are interrupted go on, and end with the same records.

use std::time::{Duration, Instant};

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

/// How many trials the events of a process report.
fn reported_trials(events: &str) -> u64 {
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
    assert!(notes.contains("recorded trials are kept"), "{notes}");
    assert!(events().ends_with("{\"ending\":\"interrupted\",\"event\":\"finished\"}\n"));

    // Nothing is left in a log, and the run can be looked at.
    let files = std::fs::read_dir(folder.path("run")).unwrap();
    let mut left = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(!left.any(|name| name.ends_with("-wal") || name.ends_with(".new")));
    let progress = object(&done(&folder, "report run --json"))["progress"].clone();
    let recorded = progress["recorded"].as_u64().unwrap();
    let planned = progress["planned"].as_u64().unwrap();
    assert!(recorded > 0 && recorded < planned, "{progress}");
    assert_eq!((recorded, &progress["complete"]), (reported_trials(&events()), &false.into()));

    let again = done(&folder, "run long.yaml --events events.jsonl");
    let counted = format!("{planned} trials {recorded} already recorded in run\n");
    assert!(again.stderr.replace(',', "").contains(&counted), "{}", again.stderr);
    assert_eq!(reported_trials(&events()), planned - recorded);
    done(&folder, "run long.yaml --output whole");
    assert_same(&records(&folder, "run"), &records(&folder, "whole"), "after SIGTERM");
}

#[test]
fn a_terminal_that_closes_ends_a_run_cleanly_and_nohup_outlives_it() {
    let folder = long("hang_up", LONG);
    // A terminal that closes may send the signal twice, and whatever is written to it is lost.
    let run = Beside::start_unread(&folder, "run long.yaml --events events.jsonl");
    wait_for_trials(&folder, "events.jsonl");
    run.signal("HUP");
    run.signal("HUP");
    assert_eq!(run.wait(), Some(130));
    let events = std::fs::read_to_string(folder.path("events.jsonl")).unwrap();
    assert!(events.ends_with("{\"ending\":\"interrupted\",\"event\":\"finished\"}\n"));
    let recorded = object(&done(&folder, "report run --json"))["progress"]["recorded"].clone();
    assert_eq!(recorded, reported_trials(&events));

    // Events of its own, since those of the run before say nothing about this one.
    let command = "run long.yaml --events again.jsonl";
    let run = Beside::start_without_hang_up(&folder, command, "notes.txt");
    wait_for_trials(&folder, "again.jsonl");
    run.signal("HUP");
    assert_eq!(run.wait(), Some(0));
    done(&folder, "run long.yaml --output whole");
    assert_same(&records(&folder, "run"), &records(&folder, "whole"), "after SIGHUP");
}

/// After how many of the trials that are left a run is killed. Multiples of the golden ratio modulo
/// 1 are a low-discrepancy sequence: the kills are the same each time, and any number of them is
/// spread evenly.
fn kill_after(kill: u32, left: u64) -> u64 {
    let position = (f64::from(kill) * 0.618_033_988_75).fract();
    (position * 0.9 * left as f64) as u64
}

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on() {
    let kills: u32 = std::env::var("FAULTLENS_KILLS").map_or(3, |text| text.parse().unwrap());
    let folder = long("kill", LONG);
    done(&folder, "run long.yaml --output whole");
    let wanted = records(&folder, "whole");
    let planned = wanted.len() as u64;
    let mut killed = 0;
    for kill in 0..kills {
        // A fresh file each time: it lists the trials of this process alone.
        let events = format!("events-{kill}.jsonl");
        let trials = kill_after(kill, planned - recorded_trials(&folder));
        let when = format!("kill {kill} after {trials} more trials");
        let run = Beside::start(&folder, &format!("run long.yaml --events {events}"), "notes.txt");
        // The first kill, after no trial, meets the run while it starts.
        wait_for(&folder, &events, trials);
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

/// As `a_run_that_is_killed_at_any_moment_goes_on`, at random times instead of after a number of
/// trials, until so many processes were killed in the middle of their work: prints the counts.
#[test]
#[ignore = "takes minutes; FAULTLENS_KILLS sets how many"]
#[expect(clippy::print_stdout, reason = "for whoever runs it")]
fn a_run_that_is_killed_at_random_times_goes_on() {
    let kills: u32 = std::env::var("FAULTLENS_KILLS").map_or(100, |text| text.parse().unwrap());
    let folder = long("random_kill", LONG);
    let start = Instant::now();
    done(&folder, "run long.yaml --output whole");
    let whole = start.elapsed();
    let wanted = records(&folder, "whole");
    let mut stream = faultlens::Seed::new(11).stream();
    let mut killed = 0;
    let mut completed = 0;
    let mut before_it_was_a_run = 0;
    while killed < kills {
        let run = Beside::start(&folder, "run long.yaml", "notes.txt");
        std::thread::sleep(whole.mul_f64(0.5 * stream.uniform()));
        killed += u32::from(run.kill());
        if !folder.path("run/manifest.json").exists() {
            before_it_was_a_run += 1;
            continue;
        }
        let verified = object(&done(&folder, "verify run --replay 0 --json"));
        if verified["complete"] == true {
            completed += 1;
            assert_same(&records(&folder, "run"), &wanted, "after kills");
            std::fs::remove_dir_all(folder.path("run")).unwrap();
        }
    }
    done(&folder, "run long.yaml");
    assert_same(&records(&folder, "run"), &wanted, "after all kills");
    println!(
        "{killed} kills, {before_it_was_a_run} before there was a run; {} runs completed, all with \
         the records of an undisturbed one",
        completed + 1
    );
}

/// How many trials the run directory has, where there is one.
fn recorded_trials(folder: &Folder) -> u64 {
    if !folder.path("run/manifest.json").exists() {
        return 0;
    }
    let report = object(&done(folder, "report run --json"));
    report["progress"]["recorded"].as_u64().unwrap()
}

/// Waits until a process has reported so many trials, or has reported its end.
fn wait_for(folder: &Folder, events: &str, trials: u64) {
    let start = Instant::now();
    loop {
        // No test of speed: it only keeps a process that died from hanging the test.
        assert!(start.elapsed() < Duration::from_secs(600), "{trials} trials are not reported");
        let text = std::fs::read_to_string(folder.path(events)).unwrap_or_default();
        if reported_trials(&text) >= trials || text.contains("\"event\":\"finished\"") {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
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
