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
    let filled = fill(&part).and_then(|made| {
        faultlens_files::rename(&part, dir).map_err(RetrainError::io("write the scenes", dir))?;
        Ok(made)
    });
    if filled.is_err() {
        // The first error is the one to report; the folder may not even exist.
        let _ = fs::remove_dir_all(&part);
    }
    filled
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

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    /// An experiment that goes on reads numbers that it wrote itself; a last digit that differs
    /// would make it another experiment.
    #[test]
    fn numbers_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.json");
        let mut stream = Seed::new(5).stream();
        let mut numbers = Vec::new();
        for _ in 0..20_000 {
            let bits = u64::from(stream.next_u32()) << 32 | u64::from(stream.next_u32());
            numbers.push(f64::from_bits(bits));
            numbers.push(f64::from(stream.next_u32()) / f64::from(u32::MAX));
        }
        numbers.retain(|number| number.is_finite());
        replace_json(&path, &numbers, "write numbers").unwrap();
        let read: Vec<f64> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let differ = numbers.iter().zip(&read).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        assert_eq!((differ, read.len()), (0, numbers.len()));
    }

    #[test]
    fn a_folder_that_cannot_be_filled_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("scenes");
        let filled = replace_folder(&dir, |part| {
            fs::create_dir(part).unwrap();
            fs::write(part.join("0.png"), b"half").unwrap();
            Err::<(), _>(RetrainError::Stopped)
        });
        assert!(filled.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
