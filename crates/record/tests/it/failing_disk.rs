//! Every call that writes fails in turn: the records after a resume are those of an undisturbed run.

use crate::disk::{REFUSED, TRIALS, campaign, counted, folder, held, run};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;

/// How processes with a failing disk ended, and what came of their runs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ends {
    done: u32,
    refused: u32,
    killed: u32,
    /// Runs that the same command resumed to the records of an undisturbed run.
    resumed: u32,
}

/// Fails every `step`-th call in each of these ways.
fn fail_in_turn(kinds: &[&str], step: usize) -> Ends {
    let undisturbed = folder();
    let wanted = undisturbed.path().join("run");
    campaign(&wanted).unwrap();
    let wanted = held(&wanted);
    let calls = counted();
    let mut ends = Ends::default();
    for kind in kinds {
        let mut ended_well = 0;
        for number in (1..=calls).step_by(step) {
            let dir = folder();
            let path = dir.path().join("run");
            let output = run(&path, (number, kind));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let when = format!("call {number}, {kind}: {:?} {said}", output.status);
            match (output.status.code(), output.status.signal()) {
                (Some(0), _) => ended_well += 1,
                (Some(REFUSED), _) => {
                    assert!(said.contains("refused: "), "{when}");
                    ends.refused += 1;
                }
                (None, Some(9)) => ends.killed += 1,
                _ => panic!("{when}"),
            }
            if let Err(error) = campaign(&path) {
                panic!("{when}: not resumed: {error}");
            }
            assert!(held(&path) == wanted, "{when}: other records");
            let left = fs::read_dir(&path).unwrap();
            let names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let odd: Vec<String> = names.filter(|name| name.ends_with(".new")).collect();
            assert!(odd.is_empty(), "{when}: {odd:?}");
            ends.resumed += 1;
        }
        assert!(ended_well < calls / step as u64, "{kind} has no effect");
        ends.done += ended_well as u32;
    }
    ends
}

#[test]
fn a_disk_that_fails_once_costs_no_record() {
    let ends = fail_in_turn(&["eio", "enospc", "full", "short", "kill", "torn"], 11);
    assert!(ends.refused > 20 && ends.killed > 10, "{ends:?}");
}

/// As `a_disk_that_fails_once_costs_no_record`, with every single call.
#[test]
#[ignore = "takes minutes"]
#[expect(clippy::print_stdout, reason = "for whoever runs it")]
fn a_disk_that_fails_at_any_call_costs_no_record() {
    for kind in ["eio", "enospc", "full", "short", "kill", "torn"] {
        println!("{kind}, {TRIALS} trials: {:?}", fail_in_turn(&[kind], 1));
    }
}
