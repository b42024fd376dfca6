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
//! be split without a change of behaviour. [`canonical`] is the one place that knows both forms.

#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

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

/// The columns of an expectation, in their order.
const COLUMNS: &[&str] = &[
    "number",
    "trial",
    "target",
    "case",
    "label",
    "strata",
    "fault",
    "dose",
    "repeat",
    "outcome",
    "reason",
    "operator",
    "kind",
    "value",
    "position",
    "layer",
    "layer_name",
    "element",
    "bit",
    "before",
    "after",
    "golden",
    "golden_score",
    "golden_correct",
    "answer",
    "score",
    "queries",
    "digest",
    "measures",
];

/// What differs from run to run: times, and what they were measured on.
const LEFT_OUT: &[&str] = &[
    "cpu_seconds",
    "first_cpu_seconds",
    "first_wall_seconds",
    "machine",
    "micros",
    "prediction_seconds",
    "seconds",
    "training_seconds",
    "wall_seconds",
];

/// Measures that are compared to six decimals.
const SIX_DECIMALS: &[&str] = &[
    "distance",
    "distance_2",
    "distance_inf",
    "first_distance",
    "moved_naturalness",
    "naturalness",
    "similarity",
    "truth_score",
    "truth_score_before",
    "visual_change",
    "voc_ap",
];

/// Names of measures in exports that expectations have under another name.
const RENAMED: &[(&str, &str)] = &[("belief", "confidence"), ("likeness", "similarity")];

/// Reasons that exports have in words, and their codes.
const REASONS: &[(&str, &str)] = &[
    ("the case cannot be read", "case_unreadable"),
    ("the target does not answer the undisturbed image", "golden_failed"),
    ("the undisturbed answer is not finite", "golden_not_finite"),
    ("the undisturbed answer names nothing", "golden_empty"),
    ("the undisturbed answer is wrong", "golden_wrong"),
    ("no answer came", "no_response"),
    ("the case has no label", "no_label"),
    ("the target has nothing that the fault could change", "no_site"),
    ("the pool has no object of a label that the target finds", "no_object"),
    ("nothing in the scene leaves room for the change", "no_room"),
    ("the undisturbed answer is what the attack wants, or cannot become it", "no_attack_goal"),
    ("nobody knows how much of the fault people tolerate", "no_tolerance"),
    ("no strength that was drawn has the wanted visual change", "strength_not_found"),
    ("the change is more than people tolerate", "outside_tolerance"),
    ("the target finds too few objects for so many trials", "too_few_objects"),
    ("the target disagrees with itself about the undisturbed image", "golden_unstable"),
    ("nobody can tell how much the image is changed", "visual_change_unknown"),
    ("the oracle cannot judge this kind of answer", "unsupported_answer"),
];

/// Stands between the entries of a cell that holds several.
const NEXT: &str = " | ";

/// Differences that a failure names; the others are counted.
const NAMED: usize = 20;

/// A record by column; empty cells are left out.
type Cells = BTreeMap<String, String>;

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
            services.push(Service::new(line));
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

/// A model behind a wire format; it ends with the test.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn new(command: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_faultlens"))
            .args(command.split(' '))
            .args(["--port", "0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap();
        Self { child, address: started["address"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
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

/// The rows of a table, by column; empty cells are left out.
fn read(file: &Path) -> Vec<Cells> {
    let mut table = csv::Reader::from_path(file).unwrap();
    let rows = table.deserialize::<Cells>().map(|row| {
        let mut cells = row.unwrap();
        cells.retain(|_, cell| !cell.is_empty());
        cells
    });
    rows.collect()
}

/// A row of an export in the form of expectations:
///
/// - `fault` is the fault with its settings, `dose` what it is measured by and how much it is;
/// - `strata` has the case's strata, and `measures` all that was measured beyond the columns:
///   `name=value`, sorted by name. Whatever column is not known here is a measure;
/// - `reason` is a code;
/// - times are left out. So are identities of trials where services are asked, since they hold
///   the services' addresses, and the words of errors, which are for people.
fn canonical(row: &Cells, served: bool) -> Cells {
    let mut cells = Cells::new();
    let mut strata = Cells::new();
    let mut measures = Cells::new();
    for (column, cell) in row {
        let cell = cell.clone();
        match column.as_str() {
            "trial" if served => {}
            "fault_label" => {
                cells.insert("fault".to_owned(), cell);
            }
            "dose_axis" => {
                cells.insert("dose".to_owned(), format!("{cell}={}", row["dose"]));
            }
            "fault" | "dose" => {}
            "extra" => measures.extend(serde_json::from_str::<Cells>(&cell).unwrap()),
            column if column.starts_with("setting.") => {}
            column if COLUMNS.contains(&column) => {
                cells.insert(column.to_owned(), cell);
            }
            column => {
                let (kind, name) = match column.strip_prefix("stratum.") {
                    Some(name) => (&mut strata, name),
                    None => (&mut measures, column),
                };
                kind.insert(name.to_owned(), cell);
            }
        }
    }
    if let Some(reason) = cells.get_mut("reason") {
        *reason = renamed(REASONS, reason).to_owned();
    }
    let measures = measures.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())).map(
        |(name, text)| {
            let name = renamed(RENAMED, name);
            (name.to_owned(), measure(name, text))
        },
    );
    let several = [("strata", strata), ("measures", measures.collect())];
    for (column, entries) in several {
        let entries: Vec<String> =
            entries.iter().map(|(name, text)| format!("{name}={text}")).collect();
        assert!(entries.iter().all(|entry| !entry.contains(NEXT)), "{entries:?}");
        if !entries.is_empty() {
            cells.insert(column.to_owned(), entries.join(NEXT));
        }
    }
    cells
}

fn renamed<'a>(names: &[(&str, &'a str)], name: &'a str) -> &'a str {
    names.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// A measure as text that does not depend on whether it was exported as a number.
fn measure(name: &str, text: &str) -> String {
    match text.parse::<f64>() {
        _ if name == "error" => "yes".to_owned(),
        Ok(number) if !number.is_finite() => text.to_owned(),
        Ok(number) if SIX_DECIMALS.contains(&name) => format!("{number:.6}"),
        Ok(number) => number.to_string(),
        Err(_) => text.to_owned(),
    }
}

/// Writes records in canonical form.
fn write(file: &Path, records: &[Cells]) {
    let mut table = csv::Writer::from_path(file).unwrap();
    table.write_record(COLUMNS).unwrap();
    for record in records {
        let cell = |column: &&str| record.get(*column).map_or("", String::as_str);
        table.write_record(COLUMNS.iter().map(cell)).unwrap();
    }
    table.flush().unwrap();
}

/// A record whose measures are columns of their own, so that each is compared by itself.
fn unfolded(mut record: Cells) -> Cells {
    if let Some(measures) = record.remove("measures") {
        for entry in measures.split(NEXT) {
            let (name, text) = entry.split_once('=').unwrap();
            record.insert(format!("measure {name}"), text.to_owned());
        }
    }
    record
}

/// Where records differ from what is expected, a line for each place.
fn differences(expected: &[Cells], records: &[Cells]) -> String {
    let mut lines = String::new();
    if expected.len() != records.len() {
        let (wanted, got) = (expected.len(), records.len());
        writeln!(lines, "expected {wanted} records, got {got}").unwrap();
    }
    for (row, (wanted, got)) in expected.iter().zip(records).enumerate() {
        let columns: BTreeSet<&String> = wanted.keys().chain(got.keys()).collect();
        for column in columns {
            let texts = [wanted, got].map(|cells| cells.get(column).map_or("", String::as_str));
            if texts[0] != texts[1] {
                let [wanted, got] = texts;
                writeln!(lines, "record {row}: {column}: expected `{wanted}`, got `{got}`")
                    .unwrap();
            }
        }
    }
    lines
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

#[test]
fn every_difference_is_found_and_named() {
    let record = |cells: &[(&str, &str)]| -> Cells {
        cells.iter().map(|(name, cell)| ((*name).to_owned(), (*cell).to_owned())).collect()
    };
    let export = record(&[
        ("number", "4"),
        ("trial", "0a"),
        ("fault", "fog"),
        ("fault_label", "fog severity=2"),
        ("setting.severity", "2.0"),
        ("dose_axis", "severity"),
        ("dose", "2.0"),
        ("stratum.light", "day"),
        ("reason", "no answer came"),
        ("micros", "17"),
        ("extra", r#"{"belief":"0.250","cpu_seconds":"1.5","error":"all gone"}"#),
        ("visual_change", "0.12345678"),
    ]);
    let expected = record(&[
        ("number", "4"),
        ("trial", "0a"),
        ("fault", "fog severity=2"),
        ("dose", "severity=2.0"),
        ("strata", "light=day"),
        ("reason", "no_response"),
        ("measures", "confidence=0.25 | error=yes | visual_change=0.123457"),
    ]);
    assert_eq!(canonical(&export, false), expected);
    assert!(!canonical(&export, true).contains_key("trial"));
    let expected = [unfolded(expected)];
    assert_eq!(differences(&expected, &expected), "");
    let mut other = expected[0].clone();
    other.insert("measure confidence".to_owned(), "0.5".to_owned());
    other.remove("dose");
    let lines = differences(&expected, &[other.clone(), other]);
    assert_eq!(
        lines,
        "expected 1 records, got 2\n\
         record 0: dose: expected `severity=2.0`, got ``\n\
         record 0: measure confidence: expected `0.25`, got `0.5`\n"
    );
}
