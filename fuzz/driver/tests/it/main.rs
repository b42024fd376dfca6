//! The driver finds what does harm, and the project's own corpus does none.

#![expect(clippy::unwrap_used, reason = "tests")]

use faultlens_fuzz::{TARGETS, corpus};
use std::path::PathBuf;
use std::process::{Command, Output};

fn fuzz(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_faultlens-fuzz")).args(args).output().unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn harm_of_every_kind_is_found_and_can_be_replayed() {
    let folder = scratch("trap");
    let failures = folder.to_str().unwrap();
    // The corpus alone: one good input, and one of each kind of harm.
    let run = fuzz(&[
        "run",
        "trap",
        "--inputs",
        "5",
        "--seconds",
        "600",
        "--timeout",
        "2",
        "--failures",
        failures,
    ]);
    let told = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status.code(), Some(1), "{told}");
    let counts: Vec<&str> =
        told.lines().find(|line| line.starts_with("trap")).unwrap().split_whitespace().collect();
    assert_eq!(counts, ["trap", "5", "1", "1", "1", "1"], "{told}");
    assert!(told.contains("as told") && told.contains("-- replay trap"), "{told}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4);

    let panicked = folder.join("trap-1-1");
    let minimised = fuzz(&["minimise", "trap", panicked.to_str().unwrap()]);
    assert!(minimised.status.success(), "{minimised:?}");
    assert_eq!(std::fs::read(&panicked).unwrap(), b"p");
    assert!(!fuzz(&["replay", "trap", panicked.to_str().unwrap()]).status.success());
}

/// Inputs that once did harm lie in the corpus: they are regression tests.
#[test]
fn the_corpus_does_no_harm() {
    for target in TARGETS {
        let corpus = corpus::read(target);
        assert!(!corpus.is_empty(), "{}", target.name);
        if target.name == "onnx" {
            // A thousand models: the tests of the engine run the rest of them.
            let own = corpus.iter().filter(|(path, _)| !path.to_string_lossy().contains("/ops/"));
            own.for_each(|(_, bytes)| (target.run)(bytes));
        } else {
            corpus.iter().for_each(|(_, bytes)| (target.run)(bytes));
        }
    }
}
