//! Files that are whole or not there, and never larger than they should be.

use crate::error::StudyError;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The text of a file of at most so many bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<String, StudyError> {
    let failed = || StudyError::io("read", path);
    let mut text = String::new();
    let file = File::open(path).map_err(failed())?;
    file.take(limit + 1).read_to_string(&mut text).map_err(failed())?;
    if text.len() as u64 > limit {
        return Err(StudyError::TooLarge { limit, path: path.to_path_buf() });
    }
    Ok(text)
}

/// Writes a file so that no one ever sees half of it.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StudyError> {
    faultlens_files::write(path, bytes).map_err(StudyError::io("write", path))
}
