//! The journal of a study: a line for everything that happened, on disk before it is acknowledged.

use crate::error::StudyError;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

const FILE: &str = "journal.jsonl";
/// Room for millions of answers.
const MAX_BYTES: u64 = 4 << 30;

/// Something that happened. Nobody's name, address or browser is among it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// The study is served as `study.json` says. The last one holds: it is written until somebody
    /// has been given pictures.
    Opened {
        /// The fingerprint of the protocol.
        protocol: String,
    },
    /// The link by which anybody can join was made.
    Invited {
        /// Its secret part.
        invite: String,
    },
    /// Somebody can take part.
    Joined {
        /// The number in all later lines.
        participant: u32,
        /// The secret part of the link.
        token: String,
        /// Who let them in.
        by: Host,
    },
    /// Somebody read the instructions and wants to take part.
    Consented {
        /// Who.
        participant: u32,
    },
    /// Somebody was given pictures.
    Dealt {
        /// To whom.
        participant: u32,
        /// What for.
        purpose: Purpose,
        /// Files of the pictures, in the order they are shown in.
        pictures: Vec<String>,
    },
    /// A picture is about to be shown: from now on it counts as seen.
    Begun {
        /// To whom.
        participant: u32,
        /// Which of the participant's batches.
        batch: u32,
        /// Which picture of the batch.
        trial: u32,
    },
    /// Somebody chose.
    Answered {
        /// Who.
        participant: u32,
        /// Which of the participant's batches.
        batch: u32,
        /// Which picture of the batch.
        trial: u32,
        /// The answer.
        #[serde(rename = "said")]
        answer: TimedChoice,
    },
}

/// Who let somebody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Host {
    /// Who runs the study, and hands out the link.
    Operator,
    /// They themselves, by the invitation; the link is theirs alone.
    Invitation,
}

/// What a batch is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The test before the first batch.
    Qualification,
    /// The study.
    Study,
}

/// A choice and its times, as the page sends them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimedChoice {
    /// Which of the two choices, from 0.
    pub choice: usize,
    /// From the picture's first frame to the answer.
    pub millis: f64,
    /// For how long the picture was shown, by the times of its frames.
    pub shown_ms: f64,
    /// The time between two frames of the screen.
    pub frame_ms: f64,
}

/// The journal, open for more.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    /// How much of the file is whole lines.
    length: u64,
    /// Whether more than that may be in the file.
    torn: bool,
}

impl Journal {
    /// Makes an empty journal that only its owner reads: it holds the secret links.
    pub(crate) fn create(dir: &Path) -> Result<(), StudyError> {
        let path = dir.join(FILE);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(&path).map_err(StudyError::io("make the journal", &path))?;
        file.sync_all()
            .and_then(|()| faultlens_files::sync_folder(dir))
            .map_err(StudyError::io("make the journal", &path))
    }

    /// What happened so far, without touching the file. A last line that is not whole was never
    /// acknowledged, and counts for nothing.
    pub(crate) fn read(dir: &Path) -> Result<Vec<Event>, StudyError> {
        let path = dir.join(FILE);
        Ok(whole_lines(&text(&path)?, &path)?.0)
    }

    /// What happened so far, and the journal to go on with; cuts off a last line that a kill left
    /// half written.
    pub(crate) fn open(dir: &Path) -> Result<(Self, Vec<Event>), StudyError> {
        let path = dir.join(FILE);
        let (events, length) = whole_lines(&text(&path)?, &path)?;
        let failed = || StudyError::io("open the journal", &path);
        let mut file = OpenOptions::new().write(true).open(&path).map_err(failed())?;
        file.set_len(length).map_err(failed())?;
        file.seek(SeekFrom::End(0)).map_err(failed())?;
        file.sync_all().map_err(failed())?;
        Ok((Self { file, path, length, torn: false }, events))
    }

    /// Adds events, and comes back when they are on disk. Where that fails, none of them is. What
    /// could not be read again is not written either.
    pub(crate) fn append(&mut self, events: &[Event]) -> Result<(), StudyError> {
        let mut lines = Vec::new();
        for event in events {
            serde_json::to_writer(&mut lines, event)
                .map_err(|error| StudyError::damaged(error.to_string(), &self.path))?;
            lines.push(b'\n');
        }
        fits(self.length + lines.len() as u64, &self.path)?;
        self.put(&lines).map_err(StudyError::io("write the journal", &self.path))
    }

    fn put(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
        }
        self.torn = true;
        self.file.write_all(lines)?;
        self.file.sync_data()?;
        self.torn = false;
        self.length += lines.len() as u64;
        Ok(())
    }
}

/// An error where a journal of that length would be read in part only.
fn fits(length: u64, path: &Path) -> Result<(), StudyError> {
    if length > MAX_BYTES {
        return Err(StudyError::TooLarge { limit: MAX_BYTES, path: path.to_path_buf() });
    }
    Ok(())
}

/// All that the file held when it was opened; whoever serves the study may add to it meanwhile.
fn text(path: &Path) -> Result<Vec<u8>, StudyError> {
    let file =
        File::open(path).map_err(|error: io::Error| match (error.kind(), path.parent()) {
            (io::ErrorKind::NotFound, Some(dir)) => {
                StudyError::NotAStudy { missing: FILE, path: dir.to_path_buf() }
            }
            _ => StudyError::io("read the journal", path)(error),
        })?;
    let failed = || StudyError::io("read the journal", path);
    let length = file.metadata().map_err(failed())?.len();
    fits(length, path)?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(failed())?;
    Ok(bytes)
}

/// The events, and how many bytes their lines have.
fn whole_lines(bytes: &[u8], path: &Path) -> Result<(Vec<Event>, u64), StudyError> {
    let length = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let mut events = Vec::new();
    for (number, line) in bytes[..length].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let event = serde_json::from_slice(line).map_err(|error| {
            StudyError::damaged(format!("line {} is damaged: {error}", number + 1), path)
        })?;
        events.push(event);
    }
    Ok((events, length as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn begun(trial: u32) -> Event {
        Event::Begun { participant: 1, batch: 0, trial }
    }

    #[test]
    fn a_line_cut_short_is_dropped_and_the_next_one_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        Journal::create(dir.path()).unwrap();
        let (mut journal, events) = Journal::open(dir.path()).unwrap();
        assert!(events.is_empty());
        journal.append(&[begun(0), begun(1)]).unwrap();
        drop(journal);
        let path = dir.path().join(FILE);
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let kept = usize::from(cut >= first) + usize::from(cut == whole.len());
            assert_eq!(Journal::read(dir.path()).unwrap().len(), kept, "{cut}");
            let (mut journal, events) = Journal::open(dir.path()).unwrap();
            assert_eq!(events, [begun(0), begun(1)][..kept], "{cut}");
            journal.append(&[begun(7)]).unwrap();
            assert_eq!(Journal::read(dir.path()).unwrap()[kept..], [begun(7)], "{cut}");
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let line = serde_json::to_string(&begun(0)).unwrap();
        fs::write(dir.path().join(FILE), format!("{line}\nnonsense\n{line}\n")).unwrap();
        let error = Journal::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("line 2 is damaged"), "{error}");
        fs::remove_file(dir.path().join(FILE)).unwrap();
        assert!(matches!(Journal::read(dir.path()), Err(StudyError::NotAStudy { .. })));
    }

    #[test]
    fn a_journal_that_is_too_large_is_an_error_and_stays_whole() {
        let dir = tempfile::tempdir().unwrap();
        Journal::create(dir.path()).unwrap();
        let (mut journal, _) = Journal::open(dir.path()).unwrap();
        journal.append(&[begun(0)]).unwrap();
        // Nothing but a hole in the file: it takes no room on the disk.
        let file = OpenOptions::new().write(true).open(dir.path().join(FILE)).unwrap();
        file.set_len(MAX_BYTES + 1).unwrap();
        for error in [
            Journal::read(dir.path()).unwrap_err(),
            Journal::open(dir.path()).map(|(_, events)| events).unwrap_err(),
        ] {
            assert!(matches!(error, StudyError::TooLarge { .. }), "{error}");
        }
        assert_eq!(file.metadata().unwrap().len(), MAX_BYTES + 1);
        journal.length = MAX_BYTES;
        assert!(matches!(journal.append(&[begun(1)]), Err(StudyError::TooLarge { .. })));
        assert_eq!(file.metadata().unwrap().len(), MAX_BYTES + 1);
    }

    #[test]
    #[cfg(unix)]
    fn only_the_owner_reads_the_links() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        Journal::create(dir.path()).unwrap();
        let mode = fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }
}
