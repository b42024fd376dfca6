//! Whole files in memory, within limits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;

/// The largest file that is taken into memory, a model or its external data.
pub const MAX_FILE_BYTES: u64 = 8 << 30;

/// Reads a file of known length, and fails rather than aborts when memory is short.
pub(super) fn read_exactly(path: &Path, bytes: u64) -> io::Result<Bytes> {
    let length = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut buffer = Vec::new();
    // `read_to_end` alone would abort the process when memory is short.
    buffer.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    File::open(path)?.take(bytes).read_to_end(&mut buffer)?;
    if buffer.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Bytes::from(buffer))
}
