//! Files that are complete or not there.

use crate::SweepError;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file under another name and renames it, so that who is stopped leaves no half of it.
pub(crate) fn replace(path: &Path, bytes: &[u8], what: &'static str) -> Result<(), SweepError> {
    let part = beside(path);
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    written.map_err(|source| {
        // The first error is the one to report; the other file may not even exist.
        let _ = fs::remove_file(&part);
        SweepError::io(what, path)(source)
    })
}

/// The name that something has until it is complete; another process has another.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}
