//! Records in a form that does not depend on the columns of an export, read, written and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

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

/// Stands between the entries of a cell that holds several.
const NEXT: &str = " | ";

/// A record by column; empty cells are left out.
pub(super) type Cells = BTreeMap<String, String>;

/// The rows of a table, by column; empty cells are left out.
pub(super) fn read(file: &Path) -> Vec<Cells> {
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
pub(super) fn canonical(row: &Cells, served: bool) -> Cells {
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
            // Detections are the same changes as `changes`, for programs.
            "fault" | "dose" | "detections" => {}
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
    let mut measured = Cells::new();
    for (name, text) in &measures {
        if !LEFT_OUT.contains(&name.as_str()) {
            measured.insert(name.clone(), measure(name, text));
        }
    }
    for (column, entries) in [("strata", strata), ("measures", measured)] {
        let entries: Vec<String> =
            entries.iter().map(|(name, text)| format!("{name}={text}")).collect();
        assert!(entries.iter().all(|entry| !entry.contains(NEXT)), "{entries:?}");
        if !entries.is_empty() {
            cells.insert(column.to_owned(), entries.join(NEXT));
        }
    }
    cells
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
pub(super) fn write(file: &Path, records: &[Cells]) {
    let mut table = csv::Writer::from_path(file).unwrap();
    table.write_record(COLUMNS).unwrap();
    for record in records {
        let cell = |column: &&str| record.get(*column).map_or("", String::as_str);
        table.write_record(COLUMNS.iter().map(cell)).unwrap();
    }
    table.flush().unwrap();
}

/// A record whose measures are columns of their own, so that each is compared by itself.
pub(super) fn unfolded(mut record: Cells) -> Cells {
    if let Some(measures) = record.remove("measures") {
        for entry in measures.split(NEXT) {
            let (name, text) = entry.split_once('=').unwrap();
            record.insert(format!("measure {name}"), text.to_owned());
        }
    }
    record
}

/// Where records differ from what is expected, a line for each place.
pub(super) fn differences(expected: &[Cells], records: &[Cells]) -> String {
    let mut lines = String::new();
    if expected.len() != records.len() {
        let wanted = expected.len();
        writeln!(lines, "expected {wanted} records, got {}", records.len()).unwrap();
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
        ("reason", "no_response"),
        ("micros", "17"),
        ("extra", r#"{"confidence":"0.250","cpu_seconds":"1.5","error":"all gone"}"#),
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
