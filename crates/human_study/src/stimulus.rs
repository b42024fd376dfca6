//! The pictures of a study: PNG files with meaningless names, and the index `stimuli.csv` that
//! describes them.

use crate::error::StudyError;
use crate::file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FILE: &str = "stimuli.csv";
const FOLDER: &str = "pictures";
/// Room for a million pictures.
const MAX_BYTES: u64 = 256 << 20;

/// What a picture is shown for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StimulusKind {
    /// An undisturbed picture of the study.
    Original,
    /// A picture of the study with a fault in it.
    Changed,
    /// An undisturbed picture that checks whether a participant pays attention.
    Easy,
}

/// One picture to show; a row of the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stimulus {
    /// The file's name without its extension; it gives nothing away about the picture.
    pub file: String,
    /// The picture of the data set that it is a version of.
    pub image: String,
    /// What it is shown for.
    pub kind: StimulusKind,
    /// The fault; empty in an original.
    pub fault: String,
    /// The fault's settings as a trial's identity has them; empty in an original.
    pub settings: String,
    /// The right choice.
    pub truth: String,
    /// How much of the picture is changed for the eye, from 0 to 1.
    pub visual_change: f64,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Stimulus {
    /// The picture's file.
    pub fn path(&self, dir: &Path) -> PathBuf {
        dir.join(FOLDER).join(&self.file).with_extension("png")
    }
}

/// The folder of the pictures.
pub(crate) fn folder(dir: &Path) -> PathBuf {
    dir.join(FOLDER)
}

pub(crate) fn write(dir: &Path, stimuli: &[Stimulus]) -> Result<(), StudyError> {
    let path = dir.join(FILE);
    let mut rows = csv::Writer::from_writer(Vec::new());
    let put = stimuli.iter().try_for_each(|stimulus| rows.serialize(stimulus));
    let bytes = put.and_then(|()| rows.into_inner().map_err(|error| error.into_error().into()));
    let bytes = bytes.map_err(|error| StudyError::damaged(error.to_string(), &path))?;
    file::replace(&path, &bytes)
}

/// The index, checked: names are plain and unique, choices known, numbers in range.
pub(crate) fn read(dir: &Path, choices: &[String; 2]) -> Result<Vec<Stimulus>, StudyError> {
    let path = dir.join(FILE);
    if !path.exists() {
        return Err(StudyError::NotAStudy { missing: FILE, path: dir.to_path_buf() });
    }
    let text = file::read(&path, MAX_BYTES)?;
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    let stimuli: Vec<Stimulus> = rows
        .collect::<Result<_, _>>()
        .map_err(|error| StudyError::damaged(error.to_string(), &path))?;
    let mut files = BTreeSet::new();
    for stimulus in &stimuli {
        let plain = stimulus.file.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let why = if !plain || stimulus.file.is_empty() {
            "is no name of a picture"
        } else if !files.insert(&stimulus.file) {
            "is there twice"
        } else if !choices.contains(&stimulus.truth) {
            "has a truth that is none of the choices"
        } else if !(0.0..=1.0).contains(&stimulus.visual_change) {
            "has a visual change outside 0 to 1"
        } else if (stimulus.kind == StimulusKind::Changed) == stimulus.fault.is_empty() {
            "has a kind that does not fit its fault"
        } else {
            continue;
        };
        return Err(StudyError::damaged(format!("picture {:?} {why}", stimulus.file), &path));
    }
    Ok(stimuli)
}

/// Checks that all pictures are still there.
pub(crate) fn all_there(dir: &Path, stimuli: &[Stimulus]) -> Result<(), StudyError> {
    let gone = || stimuli.iter().map(|stimulus| stimulus.path(dir)).filter(|path| !path.is_file());
    match gone().next() {
        Some(path) => {
            Err(StudyError::PicturesGone { count: gone().count(), of: stimuli.len(), path })
        }
        None => Ok(()),
    }
}
