//! The formats that data sets come in. One file each, one line in [`FORMATS`].

mod cifar;
mod class_folders;
pub(crate) mod coco;
mod csv;
mod idx;
mod images;
mod joined;
mod npz;
mod yolo;

pub use coco::{CocoDetection, CocoObject, CocoTruth};

use crate::{DataError, DataSet};
use faultlens_core::did_you_mean;
use std::path::Path;

/// Every format, in the order in which they are tried: those with telling names first.
pub const FORMATS: &[Format] = &[
    npz::FORMAT,
    idx::FORMAT,
    cifar::FORMAT,
    coco::FORMAT,
    yolo::FORMAT,
    csv::FORMAT,
    class_folders::FORMAT,
    images::FORMAT,
];

/// A way to store data sets.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// What users call it.
    pub name: &'static str,
    /// What is expected to lie where, for help texts.
    pub about: &'static str,
    /// The files in detail, for the documentation (Markdown).
    pub files: &'static str,
    /// Where the classes come from, for the documentation (Markdown).
    pub classes: &'static str,
    /// Whether `train`, `val` and `test` can lie in one file or folder.
    pub has_parts: bool,
    /// Whether the caller may say which column holds labels.
    pub has_columns: bool,
    recognises: fn(&Path) -> bool,
    open: fn(&Path, &Options) -> Result<DataSet, DataError>,
}

impl Format {
    /// The format of this name, or the one that may have been meant.
    pub fn named(name: &str) -> Result<Self, DataError> {
        let found = FORMATS.iter().find(|format| format.name == name);
        found.copied().ok_or_else(|| DataError::UnknownFormat {
            name: name.to_owned(),
            known: FORMATS.iter().map(|format| format.name).collect(),
            nearest: did_you_mean(name, FORMATS.iter().map(|format| format.name)),
        })
    }

    /// Whether a file or folder looks like this format.
    pub fn recognises(&self, path: &Path) -> bool {
        (self.recognises)(path)
    }

    pub(crate) fn open(&self, path: &Path, options: &Options) -> Result<DataSet, DataError> {
        if options.part.is_some() && !self.has_parts {
            return Err(self.refused("parts", path));
        }
        if options.label_column.is_some() && !self.has_columns {
            return Err(self.refused("columns", path));
        }
        (self.open)(path, options)
    }

    /// An option that this format has no use for. Ignoring it would read other cases than asked.
    fn refused(&self, what: &str, path: &Path) -> DataError {
        let what = format!("the format {} has no {what}; leave that out", self.name);
        DataError::unsupported(what, path)
    }
}

/// How a set is opened where the plain way is not meant.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The format, instead of the one that is recognised.
    pub format: Option<Format>,
    /// Whether a class folder without images is a class nevertheless.
    pub allow_empty_classes: bool,
    /// The column of a CSV file that holds labels, where its name does not say so.
    pub label_column: Option<String>,
    /// Only this part (`train`, `val` or `test`) of a set whose files hold several; every case of
    /// such a set says its part in the stratum `part`.
    pub part: Option<String>,
}

/// Classes without names, for files that hold numbers only.
pub(crate) fn numbered(classes: usize) -> Vec<String> {
    (0..classes).map(|class| class.to_string()).collect()
}

/// Keeps the parts that are asked for; an error names those that there are.
pub(crate) fn chosen<T>(
    parts: Vec<T>,
    name: impl Fn(&T) -> &str,
    options: &Options,
    path: &Path,
) -> Result<Vec<T>, DataError> {
    let Some(wanted) = &options.part else { return Ok(parts) };
    let known: Vec<String> = parts.iter().map(|part| format!("\"{}\"", name(part))).collect();
    let parts: Vec<T> = parts.into_iter().filter(|part| name(part) == wanted).collect();
    if parts.is_empty() {
        let what = format!("there is no part \"{wanted}\", only {}", known.join(", "));
        return Err(DataError::unsupported(what, path));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_name() {
        for format in FORMATS {
            assert_eq!(Format::named(format.name).unwrap().about, format.about);
        }
        let error = Format::named("coca").unwrap_err().to_string();
        assert_eq!(error, "no format is called \"coca\"; did you mean \"coco\"?");
    }
}
