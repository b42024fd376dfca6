//! Bytes that cases are cut from: left in their file where they can be, in memory where they had
//! to be unpacked.

use crate::{DataError, limits};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A run of bytes that can be read in parts.
pub(crate) struct Blob {
    path: PathBuf,
    len: u64,
    storage: Storage,
}

enum Storage {
    Memory(Vec<u8>),
    /// From this byte of the file at `path` on.
    File(u64),
}

impl Blob {
    /// The bytes `start..start + len` of a file, which is opened anew for each read: a set has no
    /// handle that threads would wait for.
    pub(crate) fn in_file(path: &Path, start: u64, len: u64) -> Self {
        Self { path: path.to_path_buf(), len, storage: Storage::File(start) }
    }

    /// Bytes that were unpacked from a file.
    pub(crate) fn in_memory(path: &Path, bytes: Vec<u8>) -> Self {
        Self { path: path.to_path_buf(), len: bytes.len() as u64, storage: Storage::Memory(bytes) }
    }

    /// A whole file; unpacked where its name ends in `.gz`.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let doing = "read the data set";
        let mut file = File::open(path).map_err(DataError::io(doing, path))?;
        if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("gz")) {
            let len = file.metadata().map_err(DataError::io(doing, path))?.len();
            return Ok(Self::in_file(path, 0, len));
        }
        let mut bytes = Vec::new();
        let unpacked = MultiGzDecoder::new(&mut file);
        let read = unpacked.take(limits::UNPACKED_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| {
            let what = format!("the gzip file is damaged or truncated ({error}); fetch it again");
            DataError::malformed(what, path)
        })?;
        if bytes.len() as u64 > limits::UNPACKED_BYTES {
            let what = "unpacked file";
            let limit = limits::UNPACKED_BYTES;
            return Err(DataError::too_large(what, format!("over {limit} bytes"), limit, path));
        }
        Ok(Self::in_memory(path, bytes))
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The file that they come from, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes from `at` on. Memory is asked for only after the blob is known to be long enough.
    pub(crate) fn read(&self, at: u64, len: usize) -> Result<Vec<u8>, DataError> {
        let end = at.saturating_add(len as u64);
        if end > self.len {
            return Err(DataError::truncated("file", end, self.len, &self.path));
        }
        match &self.storage {
            Storage::Memory(bytes) => Ok(bytes[at as usize..end as usize].to_vec()),
            Storage::File(start) => {
                let mut bytes = vec![0; len];
                let mut read = || {
                    let mut file = File::open(&self.path)?;
                    file.seek(SeekFrom::Start(start.saturating_add(at)))?;
                    file.read_exact(&mut bytes)
                };
                read().map_err(DataError::io("read the data set", &self.path))?;
                Ok(bytes)
            }
        }
    }

    /// Calls `each` with all bytes from `at` on, in runs of a multiple of `step` bytes, so
    /// that large arrays are looked through in little memory.
    pub(crate) fn scan(
        &self,
        mut at: u64,
        step: usize,
        mut each: impl FnMut(&[u8]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let step = step.max(1);
        let run = step * ((1 << 20) / step).max(1);
        while at < self.len {
            let len = (self.len - at).min(run as u64) as usize;
            each(&self.read(at, len)?)?;
            at += len as u64;
        }
        Ok(())
    }
}
