//! How a study is done: the file `study.json`.

use crate::error::StudyError;
use crate::file;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// The version of the file; raised when a reader of an older one would go wrong.
const VERSION: u32 = 1;
const FILE: &str = "study.json";
/// The maximum size of the file; a larger one is something else.
const MAX_BYTES: u64 = 1 << 20;

/// How the experiment is done. The same for everybody who takes part, and fixed once somebody
/// has been given pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The version of the file.
    pub version: u32,
    /// What people choose between; the first is on the left.
    pub choices: [String; 2],
    /// How many people are wanted for each picture.
    pub answers: u32,
    /// Pictures between two pauses, checks included.
    pub batch: usize,
    /// Attention checks in each batch: undisturbed pictures that anybody who looks gets right.
    pub checks: usize,
    /// Pictures of the test before the first batch.
    pub qualification: usize,
    /// The share of the test that must be right.
    pub pass: f64,
    /// How often the test may be taken.
    pub tries: u32,
    /// For how long a picture is shown, in milliseconds.
    pub shown_ms: f64,
    /// For how long the noise behind it is shown, in milliseconds.
    pub mask_ms: f64,
    /// What pictures, strengths and batches are drawn from.
    pub seed: u64,
    /// Where the pictures come from, in words.
    pub data: String,
}

impl Protocol {
    /// The experiment of the paper: 200 ms, batches of 20, five people for each picture.
    pub fn new(choices: [String; 2], data: String, seed: u64) -> Self {
        Self {
            version: VERSION,
            choices,
            answers: 5,
            batch: 20,
            checks: 2,
            qualification: 8,
            pass: 0.75,
            tries: 2,
            shown_ms: 200.0,
            mask_ms: 200.0,
            seed,
            data,
        }
    }

    /// How many undisturbed pictures the test and the checks need beside the study's own: each
    /// test has its own, and checks come back only after three batches.
    pub fn easy(&self) -> usize {
        self.qualification * self.tries as usize + 3 * self.checks
    }

    /// Study pictures of a batch.
    pub(crate) fn fresh(&self) -> usize {
        self.batch - self.checks
    }

    /// The same for the same settings, however the file is laid out.
    pub(crate) fn fingerprint(&self) -> String {
        let settings = serde_json::json!(self).to_string();
        Sha256::digest(settings.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn read(dir: &Path) -> Result<Self, StudyError> {
        let path = dir.join(FILE);
        let text = file::read(&path, MAX_BYTES).map_err(|error| match error {
            StudyError::Io { .. } if !path.exists() => {
                StudyError::NotAStudy { missing: FILE, path: dir.to_path_buf() }
            }
            other => other,
        })?;
        let read: Self = serde_json::from_str(&text)
            .map_err(|error| StudyError::damaged(error.to_string(), &path))?;
        match read.wrong() {
            Some(what) => Err(StudyError::damaged(what, &path)),
            None => Ok(read),
        }
    }

    pub(crate) fn write(&self, dir: &Path) -> Result<(), StudyError> {
        let path = dir.join(FILE);
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| StudyError::damaged(error.to_string(), &path))?;
        text.push('\n');
        file::replace(&path, text.as_bytes())
    }

    /// What keeps the experiment from being done this way.
    pub fn wrong(&self) -> Option<String> {
        let [left, right] = &self.choices;
        let why = if self.version != VERSION {
            "it was made by another version of faultlens"
        } else if left == right {
            "the two choices must differ"
        } else if !is_label(left) || !is_label(right) {
            "a choice needs from 1 to 40 characters"
        } else if !(1..=1000).contains(&self.answers) {
            "answers must be from 1 to 1000"
        } else if !(2..=200).contains(&self.batch) {
            "a batch must have from 2 to 200 pictures"
        } else if self.checks >= self.batch {
            "a batch needs pictures that are no checks"
        } else if !(1..=100).contains(&self.qualification) {
            "the test must have from 1 to 100 pictures"
        } else if !(0.0..=1.0).contains(&self.pass) {
            "pass must be a share from 0 to 1"
        } else if !(1..=10).contains(&self.tries) {
            "tries must be from 1 to 10"
        } else if !is_time(self.shown_ms) || !is_time(self.mask_ms) {
            "times must be from 10 to 10000 milliseconds"
        } else {
            return None;
        };
        Some(why.to_owned())
    }
}

/// Whether a choice fits on its button.
fn is_label(choice: &str) -> bool {
    !choice.trim().is_empty() && choice.chars().count() <= 40
}

fn is_time(ms: f64) -> bool {
    (10.0..=10_000.0).contains(&ms)
}
