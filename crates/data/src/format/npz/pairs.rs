//! Which arrays of an archive are images and which are their labels.

use crate::DataError;
use crate::zip::Entry;
use std::path::Path;

/// Names of arrays, as they are found in published files.
const IMAGES: [&str; 7] = ["x", "images", "image", "data", "inputs", "features", "arr_0"];
const LABELS: [&str; 7] = ["y", "labels", "label", "targets", "target", "classes", "arr_1"];
/// Parts that names start or end with: `x_train`, `test_labels`.
const PARTS: [(&str, &str); 5] =
    [("train", "train"), ("valid", "val"), ("validation", "val"), ("val", "val"), ("test", "test")];

/// Images, and their labels if there are any.
pub(super) struct Pair {
    pub(super) part: String,
    pub(super) images: Entry,
    pub(super) labels: Option<Entry>,
}

/// All pairs of an archive, ordered by the name of their part.
pub(super) fn pairs(entries: Vec<Entry>, path: &Path) -> Result<Vec<Pair>, DataError> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut labels: Vec<(String, Entry)> = Vec::new();
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.name.trim_end_matches(".npy").to_owned();
        let (part, role) = parted(&name.to_lowercase());
        names.push(format!("\"{name}\""));
        if IMAGES.contains(&role.as_str()) {
            if pairs.iter().any(|pair| pair.part == part) {
                let what = format!("several arrays may be the images: {}", names.join(", "));
                return Err(DataError::unsupported(what, path));
            }
            pairs.push(Pair { part, images: entry, labels: None });
        } else if LABELS.contains(&role.as_str()) {
            labels.push((part, entry));
        }
    }
    if pairs.is_empty() {
        let what = format!(
            "no array of {} is called {}, as images are",
            if names.is_empty() { "none".into() } else { names.join(", ") },
            IMAGES.join(", ")
        );
        return Err(DataError::unsupported(what, path));
    }
    for (part, entry) in labels {
        if let Some(pair) = pairs.iter_mut().find(|pair| pair.part == part) {
            pair.labels.get_or_insert(entry);
        }
    }
    pairs.sort_by(|a, b| a.part.cmp(&b.part));
    Ok(pairs)
}

/// `x_train` is the part `train` and the role `x`.
fn parted(name: &str) -> (String, String) {
    for (word, part) in PARTS {
        let before = name.strip_prefix(word).and_then(|rest| rest.strip_prefix('_'));
        let after = name.strip_suffix(word).and_then(|rest| rest.strip_suffix('_'));
        if let Some(role) = before.or(after) {
            return (part.to_owned(), role.to_owned());
        }
    }
    ("all".to_owned(), name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_part_and_a_role() {
        let cases = [
            ("x", "all", "x"),
            ("x_train", "train", "x"),
            ("test_labels", "test", "labels"),
            ("val_images", "val", "images"),
            ("validation_data", "val", "data"),
        ];
        for (name, part, role) in cases {
            assert_eq!(parted(name), (part.to_owned(), role.to_owned()));
        }
    }
}
