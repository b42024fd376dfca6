//! Errors of a service before it is asked anything.

use std::io;
use std::path::{Path, PathBuf};

/// Why a service cannot be opened, or its files cannot.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// No entry of the registry has this name.
    #[error("no service is called {name:?}; {hint}")]
    Unknown {
        /// The name.
        name: String,
        /// What to say instead.
        hint: String,
    },
    /// A setting is missing or makes no sense.
    #[error("{0}")]
    Setting(String),
    /// No credentials are found, or none that can be read.
    #[error("{0}")]
    Credentials(String),
    /// A file or folder cannot be used.
    #[error("{what}: {source}: {}", path.display())]
    Io {
        /// What was tried.
        what: String,
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        source: io::Error,
    },
}

impl ServiceError {
    /// For `map_err`: what was tried, on which file.
    pub(crate) fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let what = what.to_owned();
        let path = path.to_path_buf();
        move |source| Self::Io { what, path, source }
    }
}
