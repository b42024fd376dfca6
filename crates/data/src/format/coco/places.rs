//! Where a COCO set keeps its description and its images.

use super::json::Picture;
use crate::{DataError, folder};
use std::path::{Path, PathBuf};

pub(super) fn recognises(path: &Path) -> bool {
    if path.is_file() {
        folder::has_extension(path, "json")
    } else {
        !descriptions(path).is_empty()
    }
}

/// `instances.json`, `instances_val2017.json`, `_annotations.coco.json` …, in the folder or in
/// its `annotations/`.
fn descriptions(folder: &Path) -> Vec<PathBuf> {
    let known = |name: &str| {
        let name = name.to_lowercase();
        let has_keyword =
            ["instances", "annotations", "coco"].iter().any(|word| name.contains(word));
        has_keyword && name.ends_with(".json")
    };
    let mut found = folder::files(folder, known);
    found.extend(folder::files(&folder.join("annotations"), known));
    found
}

/// The file itself, or the only one in the folder.
pub(super) fn description(path: &Path) -> Result<PathBuf, DataError> {
    if !path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let mut found = descriptions(path);
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(DataError::malformed("there is no instances.json or annotations/*.json", path)),
        _ => {
            let names: Vec<String> = found.iter().map(|file| folder::name(file)).collect();
            let what = format!("there are several descriptions, open one of {}", names.join(", "));
            Err(DataError::malformed(what, path))
        }
    }
}

/// The first of the usual folders in which the first image lies: beside the description, in
/// `images/`, or as COCO itself has it, `annotations/instances_val2017.json` and `val2017/`.
pub(super) fn root(description: &Path, images: &[Picture]) -> PathBuf {
    let home = description.parent().unwrap_or(Path::new(""));
    let Some(first) = images.first() else { return home.to_path_buf() };
    let mut roots = vec![home.to_path_buf(), home.join("images")];
    // The folder above belongs to the set only where this one is called as COCO's is.
    if let Some(above) = home.parent().filter(|_| home.ends_with("annotations")) {
        let name = folder::stem(description);
        let split = name.rsplit('_').next().unwrap_or(&name);
        let places = [above.join("images"), above.join(split), above.join("images").join(split)];
        roots.extend(places);
        roots.push(above.to_path_buf());
    }
    let found = roots
        .iter()
        .find(|root| {
            let file = folder::inside(root, &first.file_name, String::new, description);
            file.is_ok_and(|file| file.is_file())
        })
        .cloned();
    found.unwrap_or_else(|| home.to_path_buf())
}
