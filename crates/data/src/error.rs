//! What can be wrong with a data set, in words that say what to do.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a data set, or one case of it, cannot be read or written.
#[derive(Debug, Error)]
pub enum DataError {
    /// The system does not give the file, or does not take it.
    #[error("cannot {doing}: {source}: {}", path.display())]
    Io {
        /// What was tried, such as "read the labels".
        doing: &'static str,
        /// What the system says.
        source: io::Error,
        /// The file or folder.
        path: PathBuf,
    },
    /// Guessing would read nonsense.
    #[error(
        "this is no data set that is known ({}); name the format if it is one of them: {}",
        known.join(", "),
        path.display()
    )]
    Unrecognised {
        /// The names of the formats that were tried.
        known: Vec<&'static str>,
        /// What was to be opened.
        path: PathBuf,
    },
    /// A slip of whoever typed the name.
    #[error("no format is called \"{name}\"; {}", hint(*.nearest, .known))]
    UnknownFormat {
        /// The name as typed.
        name: String,
        /// The names of all formats.
        known: Vec<&'static str>,
        /// The known name that is nearest.
        nearest: Option<&'static str>,
    },
    /// The file ends early; downloads and full disks do that.
    #[error("the {what} is truncated: {wanted} bytes are needed, {found} are there; fetch it again: {}", path.display())]
    Truncated {
        /// The part that is short.
        what: &'static str,
        /// Bytes that its header promises.
        wanted: u64,
        /// Bytes that are there.
        found: u64,
        /// The file.
        path: PathBuf,
    },
    /// Reading it could take all memory.
    #[error("the {what} has {found}, more than {limit} are not read: {}", path.display())]
    TooLarge {
        /// What is large, with its unit in `found`.
        what: &'static str,
        /// How large it is or claims to be.
        found: String,
        /// How large it may be.
        limit: u64,
        /// The file.
        path: PathBuf,
    },
    /// The file breaks the rules of its format.
    #[error("{what}: {}", path.display())]
    Malformed {
        /// Which rule, and where.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// A valid file of a kind that is not read; reading it otherwise would be silently wrong.
    #[error("{what}: {}", path.display())]
    Unsupported {
        /// What is not read, and what would be.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// A class that no case shows is often a folder that was not unpacked.
    #[error("class \"{class}\" has no PNG, JPEG, WebP or BMP file; add images or remove it: {}", path.display())]
    EmptyClass {
        /// The class.
        class: String,
        /// Its folder.
        path: PathBuf,
    },
    /// There is nothing to ask a target about.
    #[error("the data set holds no case: {}", path.display())]
    Empty {
        /// The file or folder.
        path: PathBuf,
    },
    /// The label names a class that does not exist.
    #[error("label {label} of {of} is no class; labels go from 0 to {}: {}", .classes.saturating_sub(1), path.display())]
    LabelOutOfRange {
        /// The label.
        label: String,
        /// The case or annotation that carries it.
        of: String,
        /// How many classes there are, or may be.
        classes: usize,
        /// The file.
        path: PathBuf,
    },
    /// The list and the folder do not belong together, or the folder is incomplete.
    #[error("{of} names an image that does not exist; correct it or add the file: {}", path.display())]
    MissingImage {
        /// Which entry, such as "line 7".
        of: String,
        /// The image.
        path: PathBuf,
    },
    /// A data set must not reach for files elsewhere on the disk.
    #[error("{of} names \"{name}\", which is outside of the data set; use paths below it: {}", path.display())]
    Outside {
        /// Which entry, such as "line 7".
        of: String,
        /// The path as written.
        name: String,
        /// The file that names it.
        path: PathBuf,
    },
    /// One image among others; the rest may be good.
    #[error("{reason}: {}", path.display())]
    Image {
        /// What is wrong with it.
        reason: String,
        /// The image file.
        path: PathBuf,
    },
    /// An image that came in no file.
    #[error("{reason}")]
    Undecodable {
        /// What is wrong with it.
        reason: String,
    },
    /// A mistake of the caller.
    #[error("there is no case {index}; the data set has {len}")]
    NoSuchCase {
        /// The index asked for.
        index: usize,
        /// How many cases there are.
        len: usize,
    },
    /// A mistake of the caller.
    #[error("there is no object {index}; the pool has {len}")]
    NoSuchObject {
        /// The index asked for.
        index: usize,
        /// How many objects there are.
        len: usize,
    },
    /// Writing would mix two sets, or lose one.
    #[error("the folder is not empty; name a new one: {}", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A case or class that the format to be written cannot hold.
    #[error("{what}: {}", path.display())]
    Unwritable {
        /// What cannot be written, and what can.
        what: String,
        /// The folder that was to hold it.
        path: PathBuf,
    },
}

impl DataError {
    /// Whether the same file may be readable later: the system does not give it now, as when a disk
    /// or a share is gone. A file that is broken stays so.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() != io::ErrorKind::IsADirectory)
    }

    /// For `map_err`: an error of the system while doing something with a file.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, source, path }
    }

    pub(crate) fn malformed(what: impl Into<String>, path: &Path) -> Self {
        Self::Malformed { what: what.into(), path: path.to_path_buf() }
    }

    pub(crate) fn unsupported(what: impl Into<String>, path: &Path) -> Self {
        Self::Unsupported { what: what.into(), path: path.to_path_buf() }
    }

    pub(crate) fn truncated(what: &'static str, wanted: u64, found: u64, path: &Path) -> Self {
        Self::Truncated { what, wanted, found, path: path.to_path_buf() }
    }

    pub(crate) fn image(reason: impl Into<String>, path: &Path) -> Self {
        Self::Image { reason: reason.into(), path: path.to_path_buf() }
    }

    pub(crate) fn too_large(what: &'static str, found: String, limit: u64, path: &Path) -> Self {
        Self::TooLarge { what, found, limit, path: path.to_path_buf() }
    }
}

fn hint(nearest: Option<&'static str>, known: &[&'static str]) -> String {
    match nearest {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => format!("known are {}", known.join(", ")),
    }
}
