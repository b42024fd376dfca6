//! The file in which an experiment's results are kept, with the findings beside them.

use crate::file::replace_json;
use crate::{RetrainError, Retraining, findings};
use faultlens_analysis::retraining::VERSION;
use serde_json::json;
use std::fs;
use std::path::Path;

/// The file in an experiment's folder.
const FILE: &str = "retraining.json";

/// A thousand seeds have some megabytes; what is larger is something else.
const MOST_BYTES: u64 = 1 << 28;

/// Whether a folder holds an experiment.
pub fn is_experiment(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

/// Reads an experiment from its folder.
pub fn load(folder: &Path) -> Result<Retraining, RetrainError> {
    let path = folder.join(FILE);
    let wrong = |error: &dyn std::fmt::Display| {
        let why = error.to_string();
        RetrainError::Unread { why, path: path.clone() }
    };
    let size = fs::metadata(&path).map_err(|error| wrong(&error))?.len();
    if size > MOST_BYTES {
        return Err(wrong(&"it is larger than any experiment"));
    }
    let bytes = fs::read(&path).map_err(|error| wrong(&error))?;
    let read: Retraining = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
    match read.version {
        VERSION => Ok(read),
        _ => Err(wrong(&"another version of faultlens wrote it; name a new folder")),
    }
}

/// Writes all that was measured into a folder, and what it means beside it.
pub(crate) fn save(of: &Retraining, folder: &Path) -> Result<(), RetrainError> {
    let path = folder.join(FILE);
    replace_json(&path, &object(of), "write the experiment")
}

/// What was measured and what it means, as one JSON object.
pub fn object(of: &Retraining) -> serde_json::Value {
    json!({
        "version": of.version,
        "plan": of.plan,
        "measured_on": of.measured_on,
        "seeds": of.seeds,
        "findings": findings(of),
    })
}
