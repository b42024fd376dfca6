//! The part of the zip format that npz files use: stored and deflated entries, no encryption.
//!
//! Sizes are taken from the central directory, since writers that stream leave them out elsewhere.

use crate::blob::Blob;
use crate::{DataError, limits};
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const END: [u8; 4] = *b"PK\x05\x06";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;

/// One file in the archive.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    archive: PathBuf,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    unpacked: u64,
    local: u64,
}

/// The archive's entries in the order of its directory.
pub(crate) fn entries(path: &Path) -> Result<Vec<Entry>, DataError> {
    let whole = Blob::open(path)?;
    // The directory is found from the end of the file: a comment of up to 64 KiB may follow it.
    let tail_at = whole.len().saturating_sub(END_BYTES as u64 + u64::from(u16::MAX));
    let tail = whole.read(tail_at, (whole.len() - tail_at) as usize)?;
    let end = tail.windows(END_BYTES).rposition(|window| window.starts_with(&END));
    let end = end.ok_or_else(|| {
        DataError::malformed("the npz file is truncated or no zip file; fetch it again", path)
    })?;
    let end = &tail[end..];
    let count = u16_at(end, 10);
    let size = u32_at(end, 12);
    let at = u32_at(end, 16);
    if count == u16::MAX || at == u32::MAX || size == u32::MAX {
        return Err(DataError::unsupported("npz files over 4 GB are not read; split it", path));
    }
    if usize::from(count) > limits::ZIP_ENTRIES {
        let found = format!("{count} arrays");
        let limit = limits::ZIP_ENTRIES as u64;
        return Err(DataError::too_large("npz file", found, limit, path));
    }
    let directory = whole.read(at.into(), size as usize)?;
    let mut rest = directory.as_slice();
    (0..count).map(|_| entry(&mut rest, path)).collect()
}

fn entry(rest: &mut &[u8], path: &Path) -> Result<Entry, DataError> {
    let broken =
        || DataError::malformed("the npz file's directory is damaged; fetch it again", path);
    let head =
        rest.get(..ENTRY_BYTES).filter(|head| head.starts_with(&ENTRY)).ok_or_else(broken)?;
    let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(head, at)));
    let variable =
        rest.get(ENTRY_BYTES..ENTRY_BYTES + name + extra + comment).ok_or_else(broken)?;
    let packed = u32_at(head, 20);
    let unpacked = u32_at(head, 24);
    let local = u32_at(head, 42);
    if [packed, unpacked, local].contains(&u32::MAX) {
        return Err(DataError::unsupported("arrays over 4 GB are not read; split them", path));
    }
    let found = Entry {
        name: String::from_utf8_lossy(&variable[..name]).into_owned(),
        archive: path.to_path_buf(),
        flags: u16_at(head, 8),
        method: u16_at(head, 10),
        crc: u32_at(head, 16),
        packed: packed.into(),
        unpacked: unpacked.into(),
        local: local.into(),
    };
    *rest = &rest[ENTRY_BYTES + name + extra + comment..];
    Ok(found)
}

impl Entry {
    /// The entry's bytes, checked against its checksum: stored ones stay in the file.
    pub(crate) fn blob(&self) -> Result<Blob, DataError> {
        let path = &self.archive;
        if self.flags & 1 != 0 {
            return Err(self.unsupported("is encrypted; save it without a password"));
        }
        let whole = Blob::open(path)?;
        let head = whole.read(self.local, LOCAL_BYTES)?;
        if !head.starts_with(&LOCAL) {
            return Err(self.damaged());
        }
        let skipped = LOCAL_BYTES + usize::from(u16_at(&head, 26)) + usize::from(u16_at(&head, 28));
        let start = self.local + skipped as u64;
        if start + self.packed > whole.len() {
            let wanted = start + self.packed;
            let found = whole.len();
            return Err(DataError::truncated("npz file", wanted, found, path));
        }
        let blob = match self.method {
            STORED if self.packed == self.unpacked => Blob::in_file(path, start, self.packed),
            STORED => return Err(self.damaged()),
            DEFLATED => self.inflated(start)?,
            _ => return Err(self.unsupported("is packed in a way that numpy does not use")),
        };
        let mut crc = Crc::new();
        blob.scan(0, 1, |bytes| {
            crc.update(bytes);
            Ok(())
        })?;
        if crc.sum() == self.crc { Ok(blob) } else { Err(self.damaged()) }
    }

    fn inflated(&self, start: u64) -> Result<Blob, DataError> {
        let path = &self.archive;
        if self.unpacked > limits::UNPACKED_BYTES {
            let found = format!("{} bytes", self.unpacked);
            return Err(DataError::too_large("array", found, limits::UNPACKED_BYTES, path));
        }
        let mut file = File::open(path).map_err(DataError::io("read the data set", path))?;
        file.seek(SeekFrom::Start(start)).map_err(DataError::io("read the data set", path))?;
        let mut bytes = Vec::new();
        // One byte more than promised, to notice entries that go on.
        let mut packed = DeflateDecoder::new(file.take(self.packed)).take(self.unpacked + 1);
        packed.read_to_end(&mut bytes).map_err(|_| self.damaged())?;
        if bytes.len() as u64 != self.unpacked {
            return Err(self.damaged());
        }
        Ok(Blob::in_memory(path, bytes))
    }

    fn damaged(&self) -> DataError {
        let what = format!("the array \"{}\" is damaged; fetch the file again", self.name);
        DataError::malformed(what, &self.archive)
    }

    fn unsupported(&self, why: &str) -> DataError {
        DataError::unsupported(format!("the array \"{}\" {why}", self.name), &self.archive)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}
