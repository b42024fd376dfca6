//! What is wrong is explained: what, where, and what to do.

use super::small::{self, SMALL, done};
use crate::folder::{Folder, Run};

/// Checks that a command was refused with a message for people.
fn assert_explained(run: &Run, wanted: &[&str], what: &str) {
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{what}: {}", run.stderr);
    for wanted in wanted {
        assert!(run.stderr.contains(wanted), "{what}, {wanted}: {}", run.stderr);
    }
    for debug in ["panicked", "RUST_BACKTRACE", "Some(", "Err(", "Error {", "os error 0"] {
        assert!(!run.stderr.contains(debug), "{what}, {debug}: {}", run.stderr);
    }
}

#[test]
fn a_mistake_in_the_file_is_shown_in_its_line() {
    let folder = Folder::new("campaign_mistakes");
    for (right, wrong, wanted) in [
        ("output: run", "outptu: run", &["c.yaml:3:1: ", "did you mean", "output"][..]),
        ("bit_flip", "bit_flp", &["c.yaml:7:", "did you mean \"bit_flip\"?"]),
        ("trials: 10", "trials: ten", &["c.yaml:7:", "whole number"]),
        ("trials: 10", "trials: 0", &["c.yaml:7:"]),
        ("severity: 5", "severity: 9", &["c.yaml:8:", "from 1 to 5"]),
        ("severity: 5", "severty: 5", &["c.yaml:8:", "severity"]),
        ("world:signs-middle", "world:signs-midle", &["c.yaml:4:", "signs-middle"]),
        ("world:signs:4", "world:sings:4", &["c.yaml:5:", "signs"]),
        ("world:signs:4", "world:signs:0", &["c.yaml:5:"]),
        ("signs-middle}]", "signs-middle}", &["c.yaml:"]),
        ("{data: 'world:signs:4'}", "{}", &["c.yaml:5:", "data"]),
        ("faults:", "fault:", &["c.yaml:6:", "faults"]),
        ("name: small", "oracle: same_tpo", &["c.yaml:2:", "did you mean \"same_top\"?"]),
        ("name: small", "guards: [golden]", &["c.yaml:2:", "golden_correct"]),
        ("name: small", "seed: -1", &["c.yaml:2:"]),
    ] {
        assert!(SMALL.contains(right));
        folder.text("c.yaml", &SMALL.replacen(right, wrong, 1));
        for command in ["run", "plan"] {
            let run = folder.run(&format!("{command} c.yaml"));
            assert_explained(&run, wanted, wrong);
            assert!(run.stderr.starts_with("error: c.yaml:"), "{}", run.stderr);
        }
    }
    assert!(!folder.path("run").exists(), "nothing was begun");
}

#[test]
fn what_is_no_campaign_file_is_refused() {
    let folder = Folder::new("campaign_no_file");
    folder.text("empty.yaml", "").bytes("bytes.yaml", &[0xff, 0xfe, 0, 1]);
    for (file, wanted) in [
        ("gone.yaml", "No such file"),
        ("empty.yaml", "faultlens init"),
        ("bytes.yaml", "UTF-8"),
        (".", "a campaign is a file"),
    ] {
        assert_explained(&folder.run(&format!("run {file}")), &[wanted, file], file);
    }
}

#[test]
fn models_and_images_that_cannot_be_opened_are_named() {
    let folder = Folder::new("campaign_inputs");
    folder.text("text.onnx", "this is no model").bytes("empty.onnx", b"");
    std::fs::create_dir(folder.path("nothing")).unwrap();
    for (right, wrong, wanted) in [
        ("world:signs-middle", "gone.onnx", &["target gone", "gone.onnx"][..]),
        ("world:signs-middle", "text.onnx", &["target text", "text.onnx"]),
        ("world:signs-middle", "empty.onnx", &["target empty", "empty.onnx"]),
        ("world:signs-middle", "nothing", &["target nothing"]),
        ("'world:signs:4'", "nothing", &["cases: ", ": nothing"]),
        ("'world:signs:4'", "gone", &["cases: ", "gone"]),
        ("'world:signs:4'", "text.onnx", &["cases: ", "text.onnx"]),
        (
            "in: outputs",
            "operators: [Conf]",
            &["has nothing of kind or name", "did you mean \"Conv\"?"],
        ),
        ("output: run", "pinned: gone.yaml", &["pinned trials", "gone.yaml"]),
        ("output: run", "pinned: text.onnx", &["pinned trials", "text.onnx"]),
    ] {
        assert!(SMALL.contains(right));
        folder.text("c.yaml", &SMALL.replacen(right, wrong, 1));
        assert_explained(&folder.run("run c.yaml"), wanted, wrong);
    }
}

#[test]
fn nonsense_among_pins_is_explained() {
    let folder = small::folder("pins");
    folder.text("small.yaml", &format!("{SMALL}pinned: pins.yaml\n"));
    for (pins, wanted) in [
        ("just text\n", "pins.yaml"),
        ("- {name: a, targt: b}\n", "targt"),
        ("- {name: a}\n", "target"),
        ("{\n", "pins.yaml"),
    ] {
        folder.text("pins.yaml", pins);
        assert_explained(
            &folder.run("run small.yaml"),
            &["pinned trials", wanted, "pins.yaml"],
            pins,
        );
    }
    assert!(!folder.path("run").exists(), "nothing was begun");
    // A pin that speaks of what is not there any more says nothing, and that is said.
    folder.text("pins.yaml", "- {name: old, target: gone, case: a, index: 0, pixels: '0', fault: bit_flip, settings: {}, stream: '0', was: changed}\n");
    let run = done(&folder, "run small.yaml");
    assert!(run.stderr.contains("pinned: old: skipped"), "{}", run.stderr);
    let check = folder.run("check run");
    assert_eq!(check.status, 3);
    assert!(check.stdout.contains("the campaign has no target gone"), "{}", check.stdout);
}

#[test]
fn directories_of_something_else_are_left_alone() {
    let folder = small::finished("directories");
    folder.text("other.yaml", &SMALL.replace("severity: 5", "severity: 4"));
    std::fs::create_dir(folder.path("photos")).unwrap();
    folder.text("photos/mine.txt", "precious");
    let before = std::fs::read(folder.path("run/manifest.json")).unwrap();
    for (args, wanted) in [
        ("run small.yaml --output photos", &["holds something else (mine.txt)", ": photos"][..]),
        ("run other.yaml --output run", &["of another campaign", "name a new directory", ": run"]),
        ("run small.yaml --output small.yaml", &["small.yaml"]),
        ("run small.yaml --output small.yaml/run", &["small.yaml/run"]),
        ("run small.yaml --events gone/events.jsonl", &["cannot write gone/events.jsonl"]),
        ("merge run --output photos", &["holds something else", ": photos"]),
        ("report photos", &["this is no run directory", ": photos"]),
        ("report gone", &["this is no run directory", ": gone"]),
        ("check photos", &["this is no run directory", ": photos"]),
        ("compare run photos", &["this is no run directory", ": photos"]),
        ("export photos -o x.csv", &["this is no run directory", ": photos"]),
        ("replay photos 1", &["this is no run directory", ": photos"]),
        ("replay run 100000", &["\"100000\"", "give its number", ": run"]),
        ("replay run xyz", &["\"xyz\"", "give its number"]),
        ("promote run 100000", &["\"100000\"", "give its number"]),
        ("report run --by severty", &["did you mean \"severity\"?"]),
        ("report run --format pdf", &["possible values"]),
        ("report run -o gone/report.html", &["cannot write gone/report.html"]),
        ("export run -o gone/x.csv", &["cannot write the CSV file", "gone/x.csv"]),
        ("export run -o gone/x.parquet", &["gone/x.parquet"]),
        ("run small.yaml --threads 0", &["a whole number from 1"]),
    ] {
        assert_explained(&folder.run(args), wanted, args);
    }
    assert_eq!(std::fs::read_dir(folder.path("photos")).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(folder.path("photos/mine.txt")).unwrap(), "precious");
    assert_eq!(std::fs::read(folder.path("run/manifest.json")).unwrap(), before);
    assert!(!folder.path("x.csv").exists() && !folder.path("pinned.yaml").exists());
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = small::finished("read_only");
    std::fs::create_dir(folder.path("closed")).unwrap();
    let mode = |name: &str, mode| {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("closed", 0o555);
    // Whoever may do everything cannot be refused.
    if std::fs::write(folder.path("closed/probe"), "").is_ok() {
        return;
    }
    let run = folder.run("run small.yaml --output closed/run");
    assert_explained(&run, &["cannot be written to", "closed/run"], "a new run");
    mode("run", 0o555);
    let report = folder.run("report run");
    assert_explained(&report, &["cannot write run/report.html"], "a report");
    // Looking needs no writing.
    done(&folder, "report run --json");
    done(&folder, "check run --json");
    mode("run", 0o755);
}

#[test]
fn a_manifest_without_targets_or_faults_breaks_nothing() {
    let folder = small::finished("without_targets");
    done(&folder, "run small.yaml -o other");
    let manifest = std::fs::read_to_string(folder.path("run/manifest.json")).unwrap();
    for key in ["targets", "faults", "classes"] {
        let mut mangled: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        mangled[key] = serde_json::json!([]);
        folder.text("run/manifest.json", &mangled.to_string());
        for command in [
            "report run",
            "report run --format markdown",
            "report run --format junit",
            "report run --json",
            "report run --by target",
            "check run",
            "compare run other",
            "compare other run",
            "compare run run --json",
            "export run -o x.csv",
            "export run -o x.parquet",
            "findings run --out found --all",
            "replay run 3",
            "promote run 3 --to pins.yaml",
            "protect run",
            "merge run -o merged",
            "run small.yaml -o run",
        ] {
            // A panic ends with 101.
            let run = folder.run(command);
            assert!((0..4).contains(&run.status), "{key}: {command}: {}", run.stderr);
            let _ = std::fs::remove_dir_all(folder.path("merged"));
            let _ = std::fs::remove_dir_all(folder.path("found"));
            folder.text("run/manifest.json", &mangled.to_string());
        }
    }
}

#[test]
fn variables_with_values_that_mean_nothing_are_refused() {
    let folder = Folder::new("campaign_variables");
    let run = |variable: &str, value: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_faultlens"));
        command.current_dir(folder.path("")).env(variable, value).args(["list", "guards"]);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for isa in ["nonsense", "AVX2", "avx2 "] {
        let (status, told) = run("FAULTLENS_ISA", isa);
        assert_eq!(status, Some(2), "{isa}: {told}");
        let wanted = format!("FAULTLENS_ISA is {isa:?}; it takes one of avx512, avx2, portable");
        assert!(told.contains(&wanted), "{told}");
    }
    for isa in ["avx512", "avx2", "portable", ""] {
        assert_eq!(run("FAULTLENS_ISA", isa).0, Some(0), "{isa}");
    }
    for gib in ["much", "-1", "0", "NaN"] {
        let (status, told) = run("FAULTLENS_INFERENCE_GIB", gib);
        let wanted = format!("FAULTLENS_INFERENCE_GIB is {gib:?}; it takes a number of GiB");
        assert!(status == Some(2) && told.contains(&wanted), "{told}");
    }
    for gib in ["16", "0.5", ""] {
        assert_eq!(run("FAULTLENS_INFERENCE_GIB", gib).0, Some(0), "{gib}");
    }
}

#[test]
fn a_dash_stands_for_standard_output() {
    let folder = small::finished("dash");
    let page = done(&folder, "report run -o -").stdout;
    assert!(
        page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"),
        "{page:.80}"
    );
    let plain = done(&folder, "report run --format markdown").stdout;
    assert_eq!(done(&folder, "report run --format markdown -o -").stdout, plain);
    assert_eq!(
        done(&folder, "report run --json -o -").stdout,
        done(&folder, "report run --json").stdout
    );
    assert!(!folder.path("-").exists());
}
