//! The index of a pool: JSON that people can read, checked before any of it is believed.

use super::Entry;
use crate::{DataError, folder, limits};
use faultlens_core::Bounds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// The form of the index that is written and read.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Index {
    version: u32,
    #[serde(default)]
    source: String,
    objects: Vec<Written>,
}

/// The version alone: other versions may have other fields.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: String,
    label: String,
    source: String,
    /// Left, top, right, bottom.
    #[serde(rename = "box")]
    bounds: [usize; 4],
    width: usize,
    height: usize,
    /// Of the mask.
    pixels: usize,
    /// 16 hexadecimal digits: JSON's numbers end at 53 bits.
    hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    file: String,
    /// CRC-32 of the file, 8 hexadecimal digits.
    crc: String,
}

/// The source in words and the objects of an index.
pub(super) fn read(text: &[u8], path: &Path) -> Result<(String, Vec<Entry>), DataError> {
    let unread = |error: serde_json::Error| {
        let what = format!("this is no index of a pool that can be read ({error})");
        DataError::malformed(what, path)
    };
    let Versioned { version } = serde_json::from_slice(text).map_err(unread)?;
    if version != VERSION {
        let what = format!(
            "the pool has version {version}, and version {VERSION} is read; make it again with \
             `faultlens objects`"
        );
        return Err(DataError::unsupported(what, path));
    }
    let Index { source, objects, .. } = serde_json::from_slice(text).map_err(unread)?;
    if objects.is_empty() {
        return Err(DataError::malformed("the pool holds no object", path));
    }
    let found = objects.len();
    let limit = limits::POOL_OBJECTS;
    if found > limit {
        let found = format!("{found} objects");
        return Err(DataError::too_large("pool", found, limit as u64, path));
    }
    let mut ids = BTreeSet::new();
    let mut entries = Vec::with_capacity(objects.len());
    for written in objects {
        let id = written.id.clone();
        let wrong = |why: &str| DataError::malformed(format!("object \"{id}\" {why}"), path);
        if !ids.insert(id.clone()) {
            return Err(wrong("is there twice"));
        }
        // Refuses names that lead out of the pool.
        folder::inside(Path::new(""), &written.file, || format!("object \"{id}\""), path)?;
        entries.push(entry(written).map_err(wrong)?);
    }
    Ok((source, entries))
}

/// One object, or what is wrong with it.
fn entry(written: Written) -> Result<Entry, &'static str> {
    let Written { width, height, pixels, .. } = written;
    let [left, top, right, bottom] = written.bounds;
    let is_far = right.max(bottom) as u64 > limits::PIXELS;
    if is_far || left >= right || top >= bottom {
        return Err("has a box that ends before it starts, or beyond every image");
    }
    if (right - left, bottom - top) != (width, height) {
        return Err("has a box of another size than its width and height");
    }
    let area = width.saturating_mul(height);
    if area as u64 > limits::PIXELS || pixels == 0 || pixels > area {
        return Err("has more pixels than are read, none, or more than its box");
    }
    if written.id.is_empty() || written.label.is_empty() {
        return Err("has no name or no label");
    }
    if written.score.is_some_and(|score| !score.is_finite()) {
        return Err("has a score that is no number");
    }
    let [left, top, right, bottom] = written.bounds.map(|side| side as f32);
    let hash = hex(&written.hash, 16).ok_or("has a hash that is not 16 hexadecimal digits")?;
    let checksum = hex(&written.crc, 8).and_then(|crc| u32::try_from(crc).ok());
    Ok(Entry {
        id: written.id,
        label: written.label,
        source: written.source,
        hash,
        width,
        height,
        bounds: Bounds { left, top, right, bottom },
        pixels,
        score: written.score,
        file: written.file.replace('\\', "/"),
        checksum: checksum.ok_or("has a crc that is not 8 hexadecimal digits")?,
    })
}

fn hex(text: &str, digits: usize) -> Option<u64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// The text of an index.
pub(super) fn text(source: &str, objects: &[Entry]) -> Result<String, serde_json::Error> {
    let objects = objects
        .iter()
        .map(|entry| {
            let b = entry.bounds;
            Written {
                id: entry.id.clone(),
                label: entry.label.clone(),
                source: entry.source.clone(),
                bounds: [b.left, b.top, b.right, b.bottom].map(|side| side as usize),
                width: entry.width,
                height: entry.height,
                pixels: entry.pixels,
                hash: format!("{:016x}", entry.hash),
                score: entry.score,
                file: entry.file.clone(),
                crc: format!("{:08x}", entry.checksum),
            }
        })
        .collect();
    let index = Index { version: VERSION, source: source.to_owned(), objects };
    serde_json::to_string_pretty(&index).map(|text| text + "\n")
}
