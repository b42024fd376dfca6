//! A pool of objects: things cut out of images, as PNG files and an index.
//!
//! `index.json` says what there is; `LABEL/ID.png` holds the box around an object, with its outline
//! as transparency. [`Pool::open`] reads the index alone, [`Pool::cutout`] one object.

mod index;
mod prune;
mod stamp;
mod write;

pub use prune::{MIN_OBJECTS, PRUNED, largest_objects};
pub use stamp::Stamp;
pub use write::{PoolObject, write_pool};

use crate::{DataError, folder, limits, picture};
use faultlens_core::{Bounds, Cutout};
use std::path::{Path, PathBuf};

/// What the description of a pool is called.
const INDEX: &str = "index.json";

/// Objects that were cut out of images; their pixels are read when they are asked for.
#[derive(Debug, Clone)]
pub struct Pool {
    /// The objects, in the order of the index.
    pub objects: Vec<Entry>,
    /// Where they come from, in words.
    pub source: String,
    folder: PathBuf,
    digest: u64,
}

/// What the index says of one object.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name, unlike that of every other object of the pool.
    pub id: String,
    /// What it is called.
    pub label: String,
    /// The name of the image that it was cut from.
    pub source: String,
    /// The average hash of the box around it.
    pub hash: u64,
    /// Columns of the box around it.
    pub width: usize,
    /// Rows of the box around it.
    pub height: usize,
    /// Where that box was in the image.
    pub bounds: Bounds,
    /// Pixels of the object itself.
    pub pixels: usize,
    /// How sure the model was that found it; `None` where people drew it.
    pub score: Option<f32>,
    /// Its file, from the pool's folder.
    pub file: String,
    /// The check sum of that file: what is asked must be what was recorded.
    checksum: u32,
}

impl Pool {
    /// Whether there is a pool in a folder.
    pub fn is_at(folder: &Path) -> bool {
        folder.join(INDEX).is_file()
    }

    /// Opens a pool's folder, or its index; reads and checks the index only.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, DataError> {
        let path = dir.as_ref();
        let index = if path.is_dir() { path.join(INDEX) } else { path.to_path_buf() };
        if !index.is_file() {
            let what = "there is no index.json, so this is no pool of objects or one that was not \
                        finished; make it with `faultlens objects`";
            return Err(DataError::malformed(what, path));
        }
        let text = folder::description(&index, "index of the pool", limits::POOL_INDEX_BYTES)?;
        let folder = index.parent().unwrap_or(Path::new("")).to_path_buf();
        let (source, objects) = index::read(&text, &index)?;
        // The same objects are the same pool, whoever says in which words where they come from.
        let own = index::text("", &objects)
            .map_err(|error| DataError::io("read the index of the pool", &index)(error.into()))?;
        Ok(Self { objects, source, folder, digest: hash(own.as_bytes()) })
    }

    /// Reads every file once, so that one that is missing or was changed is noticed before work
    /// begins that would need it.
    pub fn check(&self) -> Result<(), DataError> {
        self.objects.iter().try_for_each(|entry| {
            let path = self.folder.join(&entry.file);
            unchanged(entry, &picture::bytes(&path)?, &path)
        })
    }

    /// Reads the object at this place of the index.
    pub fn cutout(&self, at: usize) -> Result<Cutout, DataError> {
        let len = self.objects.len();
        let entry = self.objects.get(at).ok_or(DataError::NoSuchObject { index: at, len })?;
        let path = self.folder.join(&entry.file);
        let bytes = picture::bytes(&path)?;
        let (image, alpha) = picture::decode_rgba(&bytes, entry.width, entry.height)
            .map_err(|reason| DataError::image(reason, &path))?;
        unchanged(entry, &bytes, &path)?;
        let Entry { id, label, source, hash, .. } = entry.clone();
        Ok(Cutout { label, source, id, hash, image, alpha })
    }

    /// Tells pools apart: the same where all objects are, by the check sums of their files.
    pub fn digest(&self) -> String {
        format!("{:016x}", self.digest)
    }
}

/// Refuses a file that is not what was written.
fn unchanged(entry: &Entry, bytes: &[u8], path: &Path) -> Result<(), DataError> {
    if checksum(bytes) == entry.checksum {
        return Ok(());
    }
    let what = "the object was changed after the pool was made; make the pool again";
    Err(DataError::image(what, path))
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// FNV-1a: nobody gains by finding two indices that collide.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte: &u8| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
