//! Pools become files: the objects first, the index last, so that what has one is complete.

use super::{Entry, INDEX, Pool, checksum, index};
use crate::write::{Names, fresh, rgba_png};
use crate::{DataError, limits};
use faultlens_core::{Bounds, Cutout};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// An object to be kept, with what the index says beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolObject {
    /// The object.
    pub cutout: Cutout,
    /// Where the box around it was in the image, in whole pixels.
    pub bounds: Bounds,
    /// How sure the model was that found it; `None` where people drew it.
    pub score: Option<f32>,
}

/// Writes objects into a folder, which must be new or empty, and opens it. `source` says in words
/// where they come from. The first object that cannot be made ends it; the folder then has no index.
pub fn write_pool(
    dir: impl AsRef<Path>,
    source: &str,
    objects: impl IntoIterator<Item = Result<PoolObject, DataError>>,
) -> Result<Pool, DataError> {
    let dir = dir.as_ref();
    fresh(dir)?;
    let mut writer = Writer { dir, folders: BTreeMap::new(), labels: Names::default() };
    let mut ids = BTreeSet::new();
    let mut entries = Vec::new();
    for object in objects {
        let object = object?;
        let id = &object.cutout.id;
        if !ids.insert(id.clone()) || id.is_empty() || object.cutout.label.is_empty() {
            let what = format!("object \"{id}\" is there twice, or has no name or no label");
            return Err(DataError::Unwritable { what, path: dir.to_path_buf() });
        }
        if entries.len() == limits::POOL_OBJECTS {
            let found = "more objects".to_owned();
            let limit = limits::POOL_OBJECTS as u64;
            return Err(DataError::too_large("pool", found, limit, dir));
        }
        entries.push(writer.write(object)?);
    }
    if entries.is_empty() {
        let what = "there is no object to keep".to_owned();
        return Err(DataError::Unwritable { what, path: dir.to_path_buf() });
    }
    let path = dir.join(INDEX);
    let doing = "write the index of the pool";
    let text =
        index::text(source, &entries).map_err(|error| DataError::io(doing, &path)(error.into()))?;
    faultlens_files::write(&path, text.as_ref()).map_err(DataError::io(doing, &path))?;
    Pool::open(dir)
}

struct Writer<'a> {
    dir: &'a Path,
    /// The folder of each label, and the names of files in it.
    folders: BTreeMap<String, (String, Names)>,
    /// Names of folders.
    labels: Names,
}

impl Writer<'_> {
    fn write(&mut self, object: PoolObject) -> Result<Entry, DataError> {
        let PoolObject { cutout, bounds, score } = object;
        let refused = |why: &str| {
            let what = format!("object \"{}\" {why}", cutout.id);
            DataError::Unwritable { what, path: self.dir.to_path_buf() }
        };
        let pixels = cutout.pixels();
        if pixels == 0 {
            return Err(refused("has no pixel"));
        }
        let width = cutout.image.width();
        let height = cutout.image.height();
        let sides = [bounds.right - bounds.left, bounds.bottom - bounds.top];
        if sides != [width as f32, height as f32] {
            return Err(refused("has a box of another size than its image"));
        }
        let bytes = rgba_png(&cutout.image, &cutout.alpha)
            .map_err(|why| refused(&format!("cannot be written ({why})")))?;
        let file = self.file(&cutout)?;
        let path = self.dir.join(&file);
        faultlens_files::write_in_bulk(&path, &bytes)
            .map_err(DataError::io("write the object", &path))?;
        let Cutout { label, source, id, hash, .. } = cutout;
        let checksum = checksum(&bytes);
        Ok(Entry { id, label, source, hash, width, height, bounds, pixels, score, file, checksum })
    }

    /// A new file in the folder of the object's label, which is made for its first object.
    fn file(&mut self, cutout: &Cutout) -> Result<String, DataError> {
        let label = &cutout.label;
        if !self.folders.contains_key(label) {
            let name = self.labels.plain(label, "label");
            let folder = self.dir.join(&name);
            fs::create_dir(&folder).map_err(DataError::io("make the folder", &folder))?;
            self.folders.insert(label.clone(), (name, Names::default()));
        }
        let (folder, names) = self.folders.entry(label.clone()).or_default();
        Ok(format!("{folder}/{}.png", names.plain(&cutout.id, "object")))
    }
}
