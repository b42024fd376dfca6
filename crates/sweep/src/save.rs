//! Rows as files: JSON for us, CSV for everybody.

use crate::file::replace;
use crate::{Configuration, Row, Rows, SweepError};
use std::fs;
use std::path::Path;

/// The file that rows are read from again.
const JSON: &str = "rows.json";

/// Rows of a million samples have a few hundred megabytes; what is larger is something else.
const MOST_BYTES: u64 = 1 << 30;

/// The columns of the CSV file.
const COLUMNS: [&str; 34] = [
    "data",
    "permutation",
    "architecture",
    "layers",
    "epochs",
    "learning_rate",
    "defence",
    "defence_label",
    "defence_strength",
    "defence_scaled",
    "attack",
    "attack_label",
    "attack_strength",
    "attack_scaled",
    "needs",
    "norm",
    "epsilon",
    "one_shot",
    "training_seconds",
    "prediction_seconds",
    "benign_accuracy",
    "benign_samples",
    "machine",
    "sample",
    "changed",
    "wrong",
    "rejected",
    "seconds",
    "wall_seconds",
    "queries",
    "distance",
    "distance_inf",
    "distance_2",
    "visual_change",
];

/// Reads the rows that [`save_rows`] wrote into a folder.
pub fn load_rows(folder: &Path) -> Result<Rows, SweepError> {
    let path = folder.join(JSON);
    let wrong = |error: &dyn std::fmt::Display| {
        let why = error.to_string();
        SweepError::Unread { why, path: path.clone() }
    };
    let size = fs::metadata(&path).map_err(|error| wrong(&error))?.len();
    if size > MOST_BYTES {
        return Err(wrong(&"it is larger than any sweep"));
    }
    let bytes = fs::read(&path).map_err(|error| wrong(&error))?;
    serde_json::from_slice(&bytes).map_err(|error| wrong(&error))
}

/// Whether a folder holds a sweep's rows.
pub fn has_rows(folder: &Path) -> bool {
    folder.join(JSON).is_file()
}

/// Writes `rows.json` and `rows.csv` into a folder; the CSV file has a line for each attacked
/// sample with all that is known of its configuration, so that `survive` can read it.
pub fn save_rows(rows: &Rows, folder: &Path) -> Result<(), SweepError> {
    let failed = |error: &dyn std::fmt::Display| SweepError::Rows(error.to_string());
    let json = serde_json::to_vec(rows).map_err(|error| failed(&error))?;
    replace(&folder.join(JSON), &json, "write the rows")?;
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS).map_err(|error| failed(&error))?;
    for row in &rows.rows {
        if let Some(configuration) = rows.configurations.get(row.configuration as usize) {
            let line = line(configuration, row);
            table.write_record(line).map_err(|error| failed(&error))?;
        }
    }
    let bytes = table.into_inner().map_err(|error| failed(&error))?;
    replace(&folder.join("rows.csv"), &bytes, "write the rows")
}

fn line(configuration: &Configuration, row: &Row) -> [String; COLUMNS.len()] {
    let c = configuration;
    let flag = |yes: bool| u8::from(yes).to_string();
    let number = |known: Option<f64>| known.map(|number| number.to_string()).unwrap_or_default();
    [
        c.data.clone(),
        c.permutation.to_string(),
        c.architecture.clone(),
        c.layers.to_string(),
        c.epochs.to_string(),
        c.learning_rate.to_string(),
        c.defence.name.clone(),
        c.defence.label.clone(),
        c.defence.strength.to_string(),
        c.defence.scaled.to_string(),
        c.attack.name.clone(),
        c.attack.label.clone(),
        c.attack.strength.to_string(),
        c.attack.scaled.to_string(),
        c.needs.clone(),
        c.norm.clone().unwrap_or_default(),
        number(c.epsilon),
        flag(c.one_shot),
        c.training_seconds.to_string(),
        c.prediction_seconds.to_string(),
        c.benign_accuracy.to_string(),
        c.benign_samples.to_string(),
        c.machine.clone(),
        row.sample.clone(),
        flag(row.changed),
        row.wrong.map(flag).unwrap_or_default(),
        flag(row.rejected),
        row.seconds.to_string(),
        row.wall_seconds.to_string(),
        row.queries.to_string(),
        row.distance.to_string(),
        number(row.distance_inf),
        number(row.distance_2),
        number(row.visual_change),
    ]
}
