//! The files of MNIST and its successors: sizes in front, big-endian, then plain bytes.

use super::joined::Joined;
use super::{Format, chosen, numbered};
use crate::blob::Blob;
use crate::pixels::Layout;
use crate::{DataError, DataSet, Options, Source, folder, limits};
use faultlens_core::Case;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: Format = Format {
    name: "idx",
    about: "MNIST's files, packed or not: train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz",
    files: "MNIST and its successors: `*-images-idx3-ubyte` and `*-labels-idx1-ubyte`, also `.gz`",
    classes: "0 to the largest label",
    has_parts: true,
    has_columns: false,
    recognises,
    open,
};

const BYTES: u8 = 8;

fn recognises(path: &Path) -> bool {
    if path.is_dir() {
        !folder::files(path, is_images).is_empty()
    } else {
        is_images(&folder::name(path))
    }
}

/// `train-images-idx3-ubyte`, or `train-images.idx3-ubyte` as some mirrors have it, maybe `.gz`.
fn is_images(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.ends_with("images-idx3-ubyte") || name.ends_with("images.idx3-ubyte")
}

fn open(path: &Path, options: &Options) -> Result<DataSet, DataError> {
    let mut files =
        if path.is_dir() { folder::files(path, is_images) } else { vec![path.to_path_buf()] };
    // A file that lies there both packed and unpacked is one file.
    files.dedup_by(|later, earlier| later.with_extension("") == *earlier);
    if files.is_empty() {
        let what = "there is no file *-images-idx3-ubyte or *-images-idx3-ubyte.gz";
        return Err(DataError::malformed(what, path));
    }
    let named = files.into_iter().map(|file| (part(&file), file)).collect();
    let named = chosen(named, |(part, _): &(String, PathBuf)| part, options, path)?;
    let parts: Result<Vec<IdxPart>, _> =
        named.into_iter().map(|(part, file)| IdxPart::open(part, &file)).collect();
    let parts = parts?;
    let largest = parts.iter().flat_map(|part| &part.labels).max();
    let classes = largest.map_or(0, |&label| usize::from(label) + 1);
    Ok(DataSet::new(numbered(classes), Joined::new(parts)))
}

/// What the file's name says: MNIST calls its test images `t10k`.
fn part(images: &Path) -> String {
    let name = folder::name(images);
    let part = name.split("images").next().unwrap_or_default().trim_end_matches(['-', '_', '.']);
    match part {
        "t10k" => "test",
        "" => "all",
        part => part,
    }
    .to_owned()
}

struct IdxPart {
    name: String,
    images: Blob,
    layout: Layout,
    labels: Vec<u8>,
}

impl IdxPart {
    fn open(name: String, file: &Path) -> Result<Self, DataError> {
        let images = Blob::open(file)?;
        let [count, height, width] = sizes(&images)?;
        let layout = Layout { height, width, channels: 1, planar: false };
        if height == 0
            || width == 0
            || (height as u64).saturating_mul(width as u64) > limits::PIXELS
        {
            let what = format!("images of {width}×{height} pixels are not read");
            return Err(DataError::unsupported(what, file));
        }
        let labels_file = beside(file)?;
        let labels = Blob::open(&labels_file)?;
        let [known] = sizes(&labels)?;
        if known != count {
            let what = format!("there are {known} labels for {count} images; use files of one set");
            return Err(DataError::malformed(what, &labels_file));
        }
        let labels = labels.read(header(1) as u64, count)?;
        Ok(Self { name, images, layout, labels })
    }
}

/// The labels that belong to images, packed or not.
fn beside(images: &Path) -> Result<PathBuf, DataError> {
    let name = folder::name(images).replace("images", "labels").replace("idx3", "idx1");
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let candidates = [name.clone(), plain.to_owned(), format!("{plain}.gz")];
    let found =
        candidates.iter().map(|name| images.with_file_name(name)).find(|file| file.is_file());
    found.ok_or_else(|| {
        DataError::malformed(format!("the labels are missing; add {name} to"), images)
    })
}

const fn header(dimensions: usize) -> usize {
    4 + 4 * dimensions
}

/// The sizes that the file's header claims, compared with the bytes that are there.
fn sizes<const N: usize>(blob: &Blob) -> Result<[usize; N], DataError> {
    let head = blob.read(0, header(N))?;
    if head[..2] != [0, 0] || usize::from(head[3]) != N {
        let what = format!("this is no idx file with {N} dimensions: its first bytes are wrong");
        return Err(DataError::malformed(what, blob.path()));
    }
    if head[2] != BYTES {
        let what = format!("idx values of type {:#04x} are not read, only bytes (0x08)", head[2]);
        return Err(DataError::unsupported(what, blob.path()));
    }
    let sizes = std::array::from_fn(|n: usize| {
        let at = 4 + 4 * n;
        u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize
    });
    if sizes[0] > limits::CASES {
        let found = format!("{} cases", sizes[0]);
        return Err(DataError::too_large("idx file", found, limits::CASES as u64, blob.path()));
    }
    let product = sizes.iter().try_fold(1u64, |product, &n| product.checked_mul(n as u64));
    let wanted = product.unwrap_or(u64::MAX).saturating_add(header(N) as u64);
    if wanted > blob.len() {
        return Err(DataError::truncated("idx file", wanted, blob.len(), blob.path()));
    }
    if wanted < blob.len() {
        let what = format!("the idx file has {} bytes, its header says {wanted}", blob.len());
        return Err(DataError::malformed(what, blob.path()));
    }
    Ok(sizes)
}

impl Source for IdxPart {
    fn len(&self) -> usize {
        self.labels.len()
    }

    fn label(&self, index: usize) -> Option<usize> {
        Some(self.labels[index].into())
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let size = self.layout.height * self.layout.width;
        let start = header(3) as u64 + index as u64 * size as u64;
        let image = self.layout.image(&self.images.read(start, size)?);
        let image =
            image.ok_or_else(|| DataError::image("the image is empty", self.images.path()))?;
        let mut case = Case::new(format!("{}-{index:06}", self.name), image);
        case.label = self.label(index);
        case.strata.insert("part".into(), self.name.clone());
        Ok(case)
    }
}
