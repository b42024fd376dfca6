//! Opens data sets: recognises the format and hands over to it.

use crate::{DataError, DataSet, FORMATS, Format, Options};
use std::path::Path;

impl DataSet {
    /// Opens a file or folder, in whichever format it is found to be.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DataError> {
        Self::open_with(path, &Options::default())
    }

    /// Opens a file or folder in a format that the caller names.
    pub fn open_as(path: impl AsRef<Path>, format: Format) -> Result<Self, DataError> {
        Self::open_with(path, &Options { format: Some(format), ..Options::default() })
    }

    /// Opens a file or folder as the options say.
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self, DataError> {
        let path = path.as_ref();
        std::fs::metadata(path).map_err(DataError::io("open the data set", path))?;
        let format = match options.format {
            Some(format) => format,
            None => recognise(path)?,
        };
        let set = format.open(path, options)?;
        if set.is_empty() {
            return Err(DataError::Empty { path: path.to_path_buf() });
        }
        Ok(set)
    }
}

/// The first format of [`FORMATS`] that knows what lies there.
fn recognise(path: &Path) -> Result<Format, DataError> {
    let found = FORMATS.iter().find(|format| format.recognises(path));
    found.copied().ok_or_else(|| DataError::Unrecognised {
        known: FORMATS.iter().map(|format| format.name).collect(),
        path: path.to_path_buf(),
    })
}
