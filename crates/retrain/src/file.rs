//! Files that are complete or not there, and what tells their content.

use crate::RetrainError;
use faultlens_core::{Case, Object};
use faultlens_data::{DataError, DataSet};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file under another name and renames it, so that who is stopped leaves no half of it.
pub(crate) fn replace(path: &Path, bytes: &[u8], what: &'static str) -> Result<(), RetrainError> {
    let part = beside(path);
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    written.map_err(|source| {
        // The first error is the one to report; the other file may not even exist.
        let _ = fs::remove_file(&part);
        RetrainError::io(what, path)(source)
    })
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
    fs::rename(&part, dir).map_err(RetrainError::io("write the scenes", dir))?;
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

/// The same of the classes, pixels and objects of a set.
pub(crate) fn fingerprint(set: &DataSet) -> Result<String, DataError> {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for class in &set.classes {
        part(class.as_bytes());
    }
    for index in 0..set.len() {
        let Case { image, objects, .. } = set.case(index)?;
        let numbers = [image.width(), image.height(), objects.len()];
        part(&numbers.map(|number| (number as u64).to_le_bytes()).concat());
        part(image.rgb());
        for Object { class, bounds: b, crowd, mask } in &objects {
            part(&[*class as u64, u64::from(*crowd)].map(u64::to_le_bytes).concat());
            part(&[b.left, b.top, b.right, b.bottom].map(f32::to_le_bytes).concat());
            let bits = mask.iter().flat_map(|mask| mask.bits());
            part(&bits.map(|&bit| u8::from(bit)).collect::<Vec<u8>>());
        }
    }
    Ok(hex(&hash.finalize()[..16]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
