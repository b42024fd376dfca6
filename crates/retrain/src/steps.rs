//! What is done of a seed: every step by a key of all that decides it, so that the same command
//! goes on where it was stopped, and another one does again what would come out otherwise.

use crate::RetrainError;
use crate::file::replace_json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The steps of one seed that are done, in a file of its folder.
pub(crate) struct StepLog {
    path: PathBuf,
    done: BTreeMap<String, Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    key: String,
    came_to: Value,
}

impl StepLog {
    /// Opens the log of a folder; in one that is missing or damaged nothing is done.
    pub(crate) fn open(folder: &Path) -> Self {
        let path = folder.join("done.json");
        let read = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Self { path, done: read.unwrap_or_default() }
    }

    /// What a step came to, where it was done with this key.
    pub(crate) fn find<T: DeserializeOwned>(&self, step: &str, key: &str) -> Option<T> {
        let entry = self.done.get(step).filter(|entry| entry.key == key)?;
        T::deserialize(&entry.came_to).ok()
    }

    /// Notes that a step is done. Its files are there already, so that what is noted is complete.
    pub(crate) fn note<T: Serialize>(
        &mut self,
        step: &str,
        key: String,
        came_to: &T,
    ) -> Result<(), RetrainError> {
        const WHAT: &str = "note what is done";
        let came_to = serde_json::to_value(came_to)
            .map_err(|source| RetrainError::io(WHAT, &self.path)(source.into()))?;
        self.done.insert(step.to_owned(), Entry { key, came_to });
        replace_json(&self.path, &self.done, WHAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_by_its_key_alone_and_damage_is_nothing_done() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = StepLog::open(dir.path());
        log.note("first", "a".into(), &vec![0.1f64, 1e-300]).unwrap();
        let log = StepLog::open(dir.path());
        assert_eq!(log.find("first", "a"), Some(vec![0.1f64, 1e-300]));
        assert_eq!(log.find::<Vec<f64>>("first", "b"), None);
        assert_eq!(log.find::<Vec<f64>>("second", "a"), None);
        assert_eq!(log.find::<String>("first", "a"), None);
        fs::write(dir.path().join("done.json"), "{").unwrap();
        assert_eq!(StepLog::open(dir.path()).find::<Vec<f64>>("first", "a"), None);
    }
}
