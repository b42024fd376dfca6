//! Labelled cases as folders of PNG files, which every training tool reads.

use super::{Names, fresh, write_new};
use crate::DataError;
use faultlens_core::Case;
use std::fs;
use std::path::Path;

/// Writes cases into one folder per class and says how many there were.
///
/// Of a case, its image, label and name are kept. Whoever reads folders orders classes by name,
/// so positions change where `classes` is in another order. The folder must be new or empty;
/// classes without a case become empty folders.
pub fn write_class_folders(
    dir: impl AsRef<Path>,
    classes: &[String],
    cases: impl IntoIterator<Item = Case>,
) -> Result<usize, DataError> {
    let dir = dir.as_ref();
    fresh(dir)?;
    for (at, class) in classes.iter().enumerate() {
        check(class, &classes[..at], dir)?;
        let folder = dir.join(class);
        fs::create_dir(&folder).map_err(DataError::io("make the folder", &folder))?;
    }
    let mut names = Names::default();
    let mut written = 0;
    for case in cases {
        let class = case.label.and_then(|label| classes.get(label)).ok_or_else(|| {
            let what = format!(
                "case \"{}\" has {} and cannot go into a class folder; label it or leave it out",
                case.name,
                case.label
                    .map_or("no label".into(), |label| format!("the label {label}, no class,"))
            );
            DataError::Unwritable { what, path: dir.to_path_buf() }
        })?;
        write_new(&case.image, &dir.join(class).join(names.give(&case)))?;
        written += 1;
    }
    Ok(written)
}

/// A class's name must be a folder's name that all systems have and readers see.
fn check(class: &str, others: &[String], dir: &Path) -> Result<(), DataError> {
    let trimmed = class.trim_end_matches(['.', ' ']) == class;
    if class.is_empty()
        || class.starts_with('.')
        || class.contains(|c: char| c.is_control() || "/\\:*?\"<>|".contains(c))
        || !trimmed
    {
        let what = format!("class \"{class}\" cannot be the name of a folder; rename it");
        return Err(DataError::Unwritable { what, path: dir.to_path_buf() });
    }
    if others.iter().any(|other| other.to_lowercase() == class.to_lowercase()) {
        let what = format!("class \"{class}\" is there twice; rename one");
        return Err(DataError::Unwritable { what, path: dir.to_path_buf() });
    }
    Ok(())
}
