//! What can be wrong with a study.

use faultlens_data::DataError;
use faultlens_record::store::StoreError;
use faultlens_serve::ListenError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a study cannot be prepared, served or read.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The directory is something else.
    #[error("this is not a study, since it has no {missing}; make one with `faultlens people prepare`: {}", path.display())]
    NotAStudy {
        /// The file that every study has.
        missing: &'static str,
        /// The directory.
        path: PathBuf,
    },
    /// A study is not made over something else.
    #[error("a study needs a new or empty directory; choose another with -o: {}", .0.display())]
    NotEmpty(PathBuf),
    /// A file of the study is not as it was written.
    #[error("{what}: {}", path.display())]
    Damaged {
        /// What is wrong with it.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// A file of the study has more in it than is read.
    #[error("the file has more than {limit} bytes; restore it, or prepare another study: {}", path.display())]
    TooLarge {
        /// How many bytes are read.
        limit: u64,
        /// The file.
        path: PathBuf,
    },
    /// The protocol is not the one that people met.
    #[error("study.json was changed after people had begun; restore it, or prepare another study: {}", .0.display())]
    Altered(PathBuf),
    /// Pictures of the study are not there any more.
    #[error("{count} of the study's {of} pictures are missing, such as {}; put them back, or prepare the study again", path.display())]
    PicturesGone {
        /// How many.
        count: usize,
        /// Of how many.
        of: usize,
        /// The first of them.
        path: PathBuf,
    },
    /// Another process serves the study.
    #[error("another process is serving this study; end it first: {}", .0.display())]
    Busy(PathBuf),
    /// What was asked for cannot be made.
    #[error("{0}")]
    Request(String),
    /// The port is taken, or not allowed.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A file cannot be read or written.
    #[error("cannot {doing}: {source}: {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// The operating system refuses what a server needs.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
    /// The data set cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The run of the answers cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StudyError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, source, path }
    }

    pub(crate) fn damaged(what: impl Into<String>, path: &Path) -> Self {
        Self::Damaged { what: what.into(), path: path.to_path_buf() }
    }
}
