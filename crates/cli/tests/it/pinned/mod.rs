//! Behaviour that must not change: small campaigns, one per capability, whose records are kept in
//! `tests/pinned/NAME/expected.csv`.
//!
//! Each pin is a folder with the files that a user would have and a file `commands`, one command
//! line of `faultlens` per line. The commands run in a fresh copy of the folder, and every table
//! that they export must hold the expected records, cell by cell: `records.csv` those of
//! `expected.csv`, `NAME.csv` those of `expected-NAME.csv`. Two kinds of lines are no plain commands:
//!
//! - `serve …` runs beside those that follow, and its address takes the place of `ADDRESS-1`,
//!   `ADDRESS-2` and so on in the campaign;
//! - `table FILE.csv` compares a table that another command has written.
//!
//! `FAULTLENS_PIN=write cargo test` writes the expectations anew; only a change that is meant should
//! make that necessary.
//!
//! Expectations do not have the form of an export but a canonical one, so that columns may move or
//! be split without a change of behaviour. The module `canonical` is the one place that knows both.

mod canonical;

use crate::service::Service;
use canonical::{Cells, canonical, differences, read, unfolded, write};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a test of every pin, so that they run side by side and fail one by one.
macro_rules! pins {
    ($($test:ident: $pin:literal,)*) => {
        /// Every pin, by the name of its folder.
        const PINS: &[&str] = &[$($pin),*];

        $(#[test]
        fn $test() {
            check($pin);
        })*
    };
}

pins! {
    attacks_and_defences: "attacks",
    the_demonstration: "demo",
    faults_in_images_of_a_detector: "detections",
    faults_in_images: "image-faults",
    faults_in_models: "model-faults",
    permanent_and_weighted_faults: "permanent-and-weighted",
    faults_in_a_generator: "pictures",
    human_tolerance: "preserve",
    faults_in_whole_numbers: "quantised",
    retraining: "retraining",
    changed_scenes: "scenes",
    faults_in_images_of_a_segmenter: "segments",
    services: "services",
    services_that_find_objects: "services-objects",
    a_stop_rule: "stop-rule",
    a_sweep: "sweep",
    a_file_of_tensorfi_1: "tensorfi-1",
    a_file_of_tensorfi_2: "tensorfi-2",
    faults_in_text_recognition: "text",
    drawn_strengths: "varied",
}

/// Differences that a failure names; the others are counted.
const NAMED: usize = 20;

/// Runs the commands of a pin and compares all that they export with what is expected.
fn check(pin: &str) {
    let folder = pinned().join(pin);
    let writes = std::env::var("FAULTLENS_PIN").is_ok_and(|what| what == "write");
    let mut written = BTreeSet::new();
    for (name, records) in tables(pin, &folder) {
        let expectation = folder.join(&name);
        // A table that is made twice must be the same both times.
        if writes && written.insert(name.clone()) {
            write(&expectation, &records);
        }
        let expected: Vec<Cells> = read(&expectation).into_iter().map(unfolded).collect();
        let records: Vec<Cells> = records.into_iter().map(unfolded).collect();
        let differences = differences(&expected, &records);
        let named: Vec<&str> = differences.lines().take(NAMED).collect();
        assert!(
            differences.is_empty(),
            "{pin} differs from {name} in {} places:\n{}",
            differences.lines().count(),
            named.join("\n")
        );
    }
}

fn pinned() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pinned")
}

/// Runs the commands of a pin in a fresh copy of its folder; the tables that they leave in
/// canonical form, by the name of the expectation.
fn tables(pin: &str, folder: &Path) -> Vec<(String, Vec<Cells>)> {
    let work = fresh_copy(pin, folder);
    let mut services = Vec::new();
    let mut tables = Vec::new();
    for line in fs::read_to_string(folder.join("commands")).unwrap().lines() {
        let (command, rest) = line.split_once(' ').unwrap();
        let file = work.join(rest.rsplit(' ').next().unwrap());
        if command == "serve" {
            services.push(Service::start(rest));
            fill_in(&work.join("campaign.yaml"), &services);
        } else if command != "table" {
            run(pin, line, &work);
        }
        if ["export", "table"].contains(&command) {
            let rows = read(&file);
            let canonical = rows.iter().map(|row| canonical(row, !services.is_empty()));
            tables.push((expectation(&file), canonical.collect()));
        }
    }
    assert!(!tables.is_empty(), "{pin} compares nothing");
    tables
}

/// A copy of a pin's files in a folder that nothing else uses.
fn fresh_copy(pin: &str, folder: &Path) -> PathBuf {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pinned").join(pin);
    if work.exists() {
        fs::remove_dir_all(&work).unwrap();
    }
    fs::create_dir_all(&work).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), work.join(entry.file_name())).unwrap();
    }
    work
}

/// The name of the file that holds what is expected of a table.
fn expectation(table: &Path) -> String {
    match table.file_name().unwrap().to_str().unwrap() {
        "records.csv" => "expected.csv".to_owned(),
        name => format!("expected-{name}"),
    }
}

fn run(pin: &str, line: &str, work: &Path) {
    let command = Command::new(env!("CARGO_BIN_EXE_faultlens"))
        .current_dir(work)
        .args(line.split(' ').map(|arg| only_match(work, arg)))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&command.stderr);
    assert!(command.status.success(), "{pin}: {line}: {errors}");
}

/// Writes the address of the newest service where the campaign has `ADDRESS-` and its number.
fn fill_in(campaign: &Path, services: &[Service]) {
    let text = fs::read_to_string(campaign).unwrap();
    let place = format!("ADDRESS-{}", services.len());
    let filled = text.replace(&place, &services[services.len() - 1].address);
    assert_ne!(text, filled, "{} has no {place}", campaign.display());
    fs::write(campaign, filled).unwrap();
}

/// An argument as it is, or the only path that it matches where its last part ends with `*`.
fn only_match(work: &Path, arg: &str) -> String {
    let Some(start) = arg.strip_suffix('*') else { return arg.to_owned() };
    let (folder, start) = start.rsplit_once('/').unwrap();
    let entries = fs::read_dir(work.join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let matches: Vec<String> = names.filter(|name| name.starts_with(start)).collect();
    assert_eq!(matches.len(), 1, "{arg} is one of {matches:?}");
    format!("{folder}/{}", matches[0])
}

#[test]
fn every_folder_is_a_pin() {
    let entries = fs::read_dir(pinned()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, PINS);
}
