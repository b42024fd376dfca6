//! What lies in a folder, in an order that does not depend on the disk.

use crate::DataError;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Names of files that are read as images.
const IMAGES: [&str; 5] = ["png", "jpg", "jpeg", "webp", "bmp"];

/// The files and folders of a folder by name, without hidden ones.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let failed = || DataError::io("list the folder", folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// The files of a folder that `wanted` accepts by name; none where the folder cannot be listed,
/// which is for recognising only.
pub(crate) fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = entries(folder).unwrap_or_default();
    found.retain(|path| wanted(&name(path)) && path.is_file());
    found
}

/// Folders inside folders, at most: a link that leads back to its own folder has no end.
const DEEPEST: usize = 32;

/// The images of a folder and of all folders in it, by their paths from there, sorted.
pub fn images_below(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for path in entries(&folder.join(&below))? {
            let inner = below.join(name(&path));
            if path.is_dir() && inner.components().count() < DEEPEST {
                open.push(inner);
            } else if is_image(&path) && path.is_file() {
                found.push(inner);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The last part of a path; empty where it has none.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A name without its extension, for cases of a file that holds many.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Whether a path ends in `.extension`, in whichever case.
pub(crate) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Whether a file is an image by its name.
pub(crate) fn is_image(path: &Path) -> bool {
    IMAGES.iter().any(|extension| has_extension(path, extension))
}

/// The file that an entry of a list names; refused where it is not below the list's folder.
pub(crate) fn inside(
    folder: &Path,
    name: &str,
    of: impl Fn() -> String,
    list: &Path,
) -> Result<PathBuf, DataError> {
    // Lists made on Windows: a backslash separates there, and a drive is no name elsewhere.
    let unified = name.replace('\\', "/");
    let drive = unified.as_bytes().get(1) == Some(&b':');
    let path = Path::new(&unified);
    if drive
        || name.is_empty()
        || name.contains('\0')
        || !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        let name = name.to_owned();
        let path = list.to_path_buf();
        return Err(DataError::Outside { of: of(), name, path });
    }
    Ok(folder.join(path))
}

/// The text of a description file, if it is not too large.
pub(crate) fn description(
    path: &Path,
    what: &'static str,
    limit: u64,
) -> Result<Vec<u8>, DataError> {
    let doing = "read the file";
    let len = fs::metadata(path).map_err(DataError::io(doing, path))?.len();
    if len > limit {
        return Err(DataError::too_large(what, format!("{len} bytes"), limit, path));
    }
    fs::read(path).map_err(DataError::io(doing, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let check = |name| inside(Path::new("set"), name, || "line 2".into(), Path::new("a.csv"));
        assert_eq!(check("a/b.png").unwrap(), Path::new("set/a/b.png"));
        assert_eq!(check("./a\\b.png").unwrap(), Path::new("set/a/b.png"));
        for name in ["../b.png", "a/../../b.png", "/etc/b.png", "C:\\b.png", "..\\b.png", "", "a\0"]
        {
            let error = check(name).unwrap_err().to_string();
            assert!(error.contains("outside of the data set"), "{error}");
        }
    }
}
