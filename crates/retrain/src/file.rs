//! Files that are complete or absent, and keys of their content.

use crate::RetrainError;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file so that who is stopped leaves no half of it.
pub(crate) fn replace(path: &Path, bytes: &[u8], what: &'static str) -> Result<(), RetrainError> {
    faultlens_files::write(path, bytes).map_err(RetrainError::io(what, path))
}

/// Writes something as JSON.
pub(crate) fn replace_json(
    path: &Path,
    value: &impl Serialize,
    what: &'static str,
) -> Result<(), RetrainError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|source| RetrainError::io(what, path)(source.into()))?;
    replace(path, (text + "\n").as_bytes(), what)
}

/// Makes a folder by `fill`, under another name until it is complete.
pub(crate) fn replace_folder<T>(
    dir: &Path,
    fill: impl FnOnce(&Path) -> Result<T, RetrainError>,
) -> Result<T, RetrainError> {
    let part = beside(dir);
    for old in [&part, dir].into_iter().filter(|old| old.exists()) {
        fs::remove_dir_all(old).map_err(RetrainError::io("replace the scenes", old))?;
    }
    let made = fill(&part)?;
    faultlens_files::rename(&part, dir).map_err(RetrainError::io("write the scenes", dir))?;
    Ok(made)
}

/// The name that something has until it is complete; the next attempt replaces it.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.part"))
}

/// The SHA-256, in hexadecimal, of something as JSON.
pub(crate) fn key(of: &serde_json::Value) -> String {
    hex(&Sha256::digest(of.to_string())[..16])
}

/// The same of a file's bytes; nothing where it cannot be read.
pub(crate) fn file_key(path: &Path) -> Option<String> {
    Some(hex(&Sha256::digest(fs::read(path).ok()?)[..16]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
