//! Files that are complete or not there.

use crate::SweepError;
use std::path::{Path, PathBuf};

/// Writes a file so that who is stopped leaves no half of it.
pub(crate) fn replace(path: &Path, bytes: &[u8], what: &'static str) -> Result<(), SweepError> {
    faultlens_files::write(path, bytes).map_err(SweepError::io(what, path))
}

/// The name that something has until it is complete; another process has another.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}
