//! What can be wrong with a run directory, in words that say what to do.

use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a run cannot be written or read.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The system does not give a file, or does not take it.
    #[error("cannot {doing}: {source}: {}", path.display())]
    Io {
        /// What was tried, such as "read the manifest".
        doing: &'static str,
        /// What the system says.
        source: io::Error,
        /// The file or folder.
        path: PathBuf,
    },
    /// Nothing is lost: the transaction that did not fit is undone as a whole.
    #[error("the disk is full; what was recorded is safe: free space and run the same command again: {}", path.display())]
    Full {
        /// The run directory, or a file in it.
        path: PathBuf,
    },
    /// Runs can be read there, not made or continued.
    #[error("the directory cannot be written to; name another one, or change its permissions: {}", path.display())]
    ReadOnly {
        /// The run directory, or a file in it.
        path: PathBuf,
    },
    /// Often a slip in the path.
    #[error("this is no run directory ({missing} is missing): {}", path.display())]
    NotARun {
        /// The file that every run has.
        missing: &'static str,
        /// What was to be opened.
        path: PathBuf,
    },
    /// A run must not mix with other files, and must not replace them.
    #[error("the directory holds something else ({found}); name a new one: {}", path.display())]
    NotEmpty {
        /// One thing that it holds.
        found: String,
        /// The directory.
        path: PathBuf,
    },
    /// A run is never replaced; it can be continued.
    #[error("the directory holds a run already; continue that one or name a new directory: {}", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// Records of two campaigns together say nothing.
    #[error("the run is of another campaign (\"{found}\", not \"{wanted}\"); name a new directory: {}", path.display())]
    OtherCampaign {
        /// The campaign that the run is of, with the start of its fingerprint.
        found: String,
        /// The campaign that was wanted, with the start of its fingerprint.
        wanted: String,
        /// The run directory.
        path: PathBuf,
    },
    /// What an earlier version wrote lacks what reports now need.
    #[error("an older version of faultlens wrote this (format {found}, this one reads {known}); run the campaign again, or read it with that version: {}", path.display())]
    Older {
        /// The format of the file.
        found: i64,
        /// The format that is read.
        known: i64,
        /// The file.
        path: PathBuf,
    },
    /// Records of two formats in one file could not be told apart.
    #[error("an older version of faultlens wrote this run (format {found}, this one writes {known}): it can be reported, checked, exported and merged, but not resumed; run the campaign into a new directory: {}", path.display())]
    NotResumable {
        /// The format of the file.
        found: i64,
        /// The format that is written.
        known: i64,
        /// The file.
        path: PathBuf,
    },
    /// Guessing at what a later version wrote would give wrong records.
    #[error("a newer version of faultlens wrote this (format {found}, this one reads up to {known}); update: {}", path.display())]
    Newer {
        /// The format of the file.
        found: i64,
        /// The newest format that is read.
        known: i64,
        /// The file.
        path: PathBuf,
    },
    /// Words come without a new format: counting them under another word would be a guess.
    #[error("a newer version of faultlens wrote this (this one does not know \"{word}\"); update: {}", path.display())]
    NewerWord {
        /// An outcome or a reason, as recorded.
        word: String,
        /// The database.
        path: PathBuf,
    },
    /// Something other than faultlens changed the file, or the disk did.
    #[error("the file is damaged ({what}); restore it from a copy, or run the campaign again in a new directory: {}", path.display())]
    Corrupt {
        /// What does not fit.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// Counting it would falsify the rates; doing it again is possible.
    #[error("{row} is damaged ({what}); `faultlens verify --repair` drops what is damaged, and the campaign's `faultlens run` does it again: {}", path.display())]
    DamagedRow {
        /// Which row, such as "trial 17".
        row: String,
        /// What does not fit.
        what: String,
        /// The database.
        path: PathBuf,
    },
    /// Rates over a part of the records would pass for rates over all.
    #[error("{found} {what} are found where {expected} were recorded; `faultlens verify --repair` keeps what is sound, and the campaign's `faultlens run` does the rest again: {}", path.display())]
    Lost {
        /// What is missing, such as "trials".
        what: &'static str,
        /// How many are there.
        found: u64,
        /// How many were written.
        expected: u64,
        /// The database.
        path: PathBuf,
    },
    /// A run that says that it is complete, and is not.
    #[error("the run says that it is complete with {recorded} of {planned} trials; `faultlens verify --repair` sets that right, and the campaign's `faultlens run` does the rest: {}", path.display())]
    NotComplete {
        /// How many trials are on record.
        recorded: u64,
        /// How many the campaign plans.
        planned: u64,
        /// The database.
        path: PathBuf,
    },
    /// A mistake of the program that records it.
    #[error("trial {number} cannot be recorded: {what}: {}", path.display())]
    BeyondPlan {
        /// The trial's number.
        number: u64,
        /// What the campaign does not have.
        what: String,
        /// The run directory.
        path: PathBuf,
    },
    /// Two writers would do the same trials twice.
    #[error("another process works on this run{}: {}", holder(pid), path.display())]
    Locked {
        /// Its number, where it could be read.
        pid: Option<u32>,
        /// The run directory.
        path: PathBuf,
    },
    /// Some records are only in the log of a process that was interrupted, and putting them in
    /// place takes writing.
    #[error("the run was interrupted and cannot be read where nothing can be written; copy the directory to another place: {}", path.display())]
    Unsettled {
        /// The database.
        path: PathBuf,
    },
    /// A reader holds the file for longer than it is worth waiting.
    #[error("another process reads this run just now; try again: {}", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// What the database says where nothing more helpful is known.
    #[error("the records cannot be read or written ({source}): {}", path.display())]
    Database {
        /// What SQLite says.
        source: rusqlite::Error,
        /// The database.
        path: PathBuf,
    },
    /// Plans and tensors of that size do not occur.
    #[error("{what} {number} is too large to be recorded: {}", path.display())]
    TooLarge {
        /// What the number counts, such as "trial".
        what: &'static str,
        /// The number.
        number: u64,
        /// The run directory.
        path: PathBuf,
    },
    /// A mistake of the user who typed the trial.
    #[error("no trial on record is called \"{text}\"; give its number, or at least 4 digits of its identity: {}", path.display())]
    NoSuchTrial {
        /// The text as typed.
        text: String,
        /// The run directory.
        path: PathBuf,
    },
    /// Choosing one of several would be a guess.
    #[error("\"{text}\" fits several trials: {}; give more digits: {}", trials.join(", "), path.display())]
    AmbiguousTrial {
        /// The text as typed.
        text: String,
        /// Some of the trials, as number and identity.
        trials: Vec<String>,
        /// The run directory.
        path: PathBuf,
    },
    /// A run directory must not reach for files elsewhere on the disk.
    #[error("the run names a picture that is none of its own (\"{name}\"): {}", path.display())]
    NotAnArtifact {
        /// The name as recorded.
        name: String,
        /// The run directory.
        path: PathBuf,
    },
    /// Rates over several models or data sets under one name say nothing.
    #[error("the run differs from the others in {what}; merge only runs of the same models and data: {}", path.display())]
    Differs {
        /// What differs, such as "the model of target small".
        what: String,
        /// The directory of the run that differs from most.
        path: PathBuf,
    },
    /// One of both is wrong, and nobody can tell which.
    #[error("trial {number} has two different results, in {} and in {}: the target does not answer the same each time, the shards ran on other versions, or one is damaged (`faultlens verify`); `--keep-first` keeps that of the run that is named first", first.display(), second.display())]
    Contradiction {
        /// The trial's number.
        number: u64,
        /// The run that was read first.
        first: PathBuf,
        /// The run that contradicts it.
        second: PathBuf,
    },
    /// There is nothing to put together.
    #[error("there is no run to merge; name at least one")]
    NothingToMerge,
    /// Whoever takes the exported records does not take more.
    #[error("cannot export the records: {0}")]
    Export(#[source] io::Error),
    /// The Parquet file could not be made.
    #[error("cannot export the records ({source}): {}", path.display())]
    Parquet {
        /// What the Parquet writer says.
        source: parquet::errors::ParquetError,
        /// The file.
        path: PathBuf,
    },
}

impl StoreError {
    /// For `map_err`: an error of the system while doing something with a file.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull => Self::Full { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Io { doing, source, path },
        }
    }

    /// For `map_err`: like [`Self::io`], where no permission means that a directory cannot be
    /// written to.
    pub(super) fn writing(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Self::ReadOnly { path },
            _ => Self::io(doing, &path)(source),
        }
    }

    /// For `map_err`: an error of the database.
    pub(super) fn sql(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match code(&source) {
            Some((ErrorCode::DiskFull, _) | (_, rusqlite::ffi::SQLITE_IOERR_SHMSIZE)) => {
                Self::Full { path }
            }
            Some((ErrorCode::ReadOnly, _)) => Self::ReadOnly { path },
            Some((ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _)) => Self::Busy { path },
            Some((ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _)) => {
                Self::Corrupt { what: source.to_string(), path }
            }
            _ if unexpected_value(&source) => Self::Corrupt { what: source.to_string(), path },
            _ => Self::Database { source, path },
        }
    }

    pub(super) fn corrupt(what: impl Into<String>, path: &Path) -> Self {
        Self::Corrupt { what: what.into(), path: path.to_path_buf() }
    }
}

fn code(error: &rusqlite::Error) -> Option<(ErrorCode, i32)> {
    error.sqlite_error().map(|error| (error.code, error.extended_code))
}

/// Whether a column holds what faultlens never writes there.
fn unexpected_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..)
    )
}

fn holder(pid: &Option<u32>) -> String {
    pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_trouble_and_says_what_to_do() {
        let path = Path::new("runs/a");
        let full = StoreError::io("write", path)(io::Error::from_raw_os_error(28));
        let sqlite = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(13), None);
        for error in [full, StoreError::sql(path)(sqlite)] {
            let text = error.to_string();
            assert!(text.contains("what was recorded is safe"), "{text}");
            assert!(text.ends_with(": runs/a"), "{text}");
        }
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(matches!(StoreError::io("read", path)(denied()), StoreError::Io { .. }));
        assert!(matches!(StoreError::writing("make", path)(denied()), StoreError::ReadOnly { .. }));
    }

    #[test]
    fn the_holder_of_a_lock_is_named_where_it_is_known() {
        let text = |pid| StoreError::Locked { pid, path: "r".into() }.to_string();
        assert_eq!(text(Some(7)), "another process works on this run (pid 7): r");
        assert_eq!(text(None), "another process works on this run: r");
    }
}
