//! A file of exported records, whole or not there.

use crate::store::StoreError;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// Why the file is not written.
enum Failed {
    Store(StoreError),
    File(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

/// Writes a file by `fill`; what is there already is replaced once the new one is whole.
pub(super) fn to_file(
    path: &Path,
    doing: &'static str,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    faultlens_files::write_with(path, |file| fill(file).map_err(Failed::Store)).map_err(|failed| {
        match failed {
            Failed::Store(error) => error,
            Failed::File(error) => StoreError::writing(doing, path)(error),
        }
    })
}
