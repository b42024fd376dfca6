//! A study on disk: how it is done, and what is shown.

use crate::error::StudyError;
use crate::journal::TimedChoice;
use crate::protocol::Protocol;
use crate::stimulus::{self, Stimulus, StimulusKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A screen slower than this shows no picture for 200 ms.
const SLOWEST_FRAME_MS: f64 = 34.0;
/// What times of frames are rounded to by browsers that blur them.
const ROUNDING_MS: f64 = 1.0;

/// A study, open to be read.
#[derive(Debug)]
pub struct Study {
    /// Its directory.
    pub dir: PathBuf,
    /// How it is done.
    pub protocol: Protocol,
    /// What is shown.
    pub stimuli: Vec<Stimulus>,
    by_file: BTreeMap<String, usize>,
}

impl Study {
    /// Reads and checks a study's files; its pictures need not be there.
    pub fn open(dir: &Path) -> Result<Self, StudyError> {
        let protocol = Protocol::read(dir)?;
        let stimuli = stimulus::read(dir, &protocol.choices)?;
        Ok(Self::new(dir, protocol, stimuli))
    }

    pub(crate) fn new(dir: &Path, protocol: Protocol, stimuli: Vec<Stimulus>) -> Self {
        let files = stimuli.iter().enumerate().map(|(at, one)| (one.file.clone(), at));
        let by_file = files.collect();
        Self { dir: dir.to_path_buf(), protocol, stimuli, by_file }
    }

    /// The place of a picture in the index.
    pub(crate) fn find(&self, file: &str) -> Option<usize> {
        self.by_file.get(file).copied()
    }

    /// Places of the pictures that the study is about, in the order of the index.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.stimuli.len()).filter(|&at| self.stimuli[at].kind != StimulusKind::Easy)
    }

    /// Whether an answer is the right one.
    pub(crate) fn is_right(&self, stimulus: usize, answer: &TimedChoice) -> bool {
        self.protocol.choices[answer.choice] == self.stimuli[stimulus].truth
    }

    /// Whether a picture was shown for as long as it should, to within one frame.
    pub(crate) fn is_timely(&self, answer: &TimedChoice) -> bool {
        let off = (answer.shown_ms - self.protocol.shown_ms).abs();
        answer.frame_ms <= SLOWEST_FRAME_MS && off <= answer.frame_ms + ROUNDING_MS
    }
}
