//! The binary version of CIFAR-10 and CIFAR-100: records of labels and 32×32 pixels, planar.

use super::joined::Joined;
use super::{Format, chosen, numbered};
use crate::blob::Blob;
use crate::pixels::Layout;
use crate::{DataError, DataSet, Options, Source, folder};
use faultlens_core::Case;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: Format = Format {
    name: "cifar",
    about: "CIFAR's binary files: data_batch_1.bin, test_batch.bin; train.bin, test.bin for CIFAR-100",
    files: "CIFAR-10 and CIFAR-100: binary batches (`data_batch_1.bin`, `train.bin`, …)",
    classes: "names from the files beside them",
    has_parts: true,
    has_columns: false,
    recognises,
    open,
};

const LAYOUT: Layout = Layout { height: 32, width: 32, channels: 3, planar: true };
const PIXELS: usize = 32 * 32 * 3;
const CIFAR_10: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

/// Which of the two sets a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CifarSet {
    Ten,
    /// With a coarse label in front of the fine one.
    Hundred,
}

impl CifarSet {
    fn labels(self) -> usize {
        if self == Self::Ten { 1 } else { 2 }
    }

    /// The bytes of a record: labels, then pixels.
    fn record(self) -> usize {
        self.labels() + PIXELS
    }

    fn classes(self) -> usize {
        if self == Self::Ten { 10 } else { 100 }
    }

    /// By the file's name as published; for others by which record length divides its size.
    fn of(path: &Path, len: u64) -> Option<Self> {
        let is_ten = len.is_multiple_of(Self::Ten.record() as u64);
        let is_hundred = len.is_multiple_of(Self::Hundred.record() as u64);
        match folder::name(path).as_str() {
            "train.bin" | "test.bin" => Some(Self::Hundred),
            name if name.contains("_batch") => Some(Self::Ten),
            // Both divide a length of 3073·3074 bytes or a multiple of it: nobody can tell.
            _ if is_ten == is_hundred => None,
            _ => Some(if is_ten { Self::Ten } else { Self::Hundred }),
        }
    }
}

fn is_batch(name: &str) -> bool {
    let batch = name.starts_with("data_batch_") && name.ends_with(".bin");
    batch || matches!(name, "test_batch.bin" | "train.bin" | "test.bin")
}

fn recognises(path: &Path) -> bool {
    if path.is_dir() {
        return !folder::files(path, is_batch).is_empty();
    }
    let len = fs::metadata(path).map_or(0, |about| about.len());
    folder::has_extension(path, "bin") && CifarSet::of(path, len).is_some()
}

fn part(file: &Path) -> &'static str {
    if folder::name(file).starts_with("test") { "test" } else { "train" }
}

fn open(path: &Path, options: &Options) -> Result<DataSet, DataError> {
    let files =
        if path.is_dir() { folder::files(path, is_batch) } else { vec![path.to_path_buf()] };
    let files = chosen(files, |file: &PathBuf| part(file), options, path)?;
    let parts: Result<Vec<Batch>, _> = files.iter().map(|file| Batch::open(file)).collect();
    let mut parts = parts?;
    let Some(set) = parts.first().map(|batch| batch.set) else {
        let what = "there is no file data_batch_*.bin, test_batch.bin, train.bin or test.bin";
        return Err(DataError::malformed(what, path));
    };
    if parts.iter().any(|batch| batch.set != set) {
        let what = "files of CIFAR-10 and CIFAR-100 lie together; put them into folders";
        return Err(DataError::malformed(what, path));
    }
    let home = if path.is_dir() { Some(path) } else { path.parent() };
    let names = |file: &str, count| home.and_then(|home| names(&home.join(file), count));
    let coarse = names("coarse_label_names.txt", 20).unwrap_or_else(|| numbered(20));
    parts.iter_mut().for_each(|batch| batch.coarse.clone_from(&coarse));
    let classes = match set {
        CifarSet::Ten => CIFAR_10.map(str::to_owned).to_vec(),
        CifarSet::Hundred => names("fine_label_names.txt", 100).unwrap_or_else(|| numbered(100)),
    };
    Ok(DataSet::new(classes, Joined::new(parts)))
}

/// Names from the file that comes with CIFAR-100; `None` where it is missing or not complete.
fn names(file: &Path, count: usize) -> Option<Vec<String>> {
    let text =
        String::from_utf8(folder::description(file, "list of names", 64 << 10).ok()?).ok()?;
    let names: Vec<String> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    (names.len() == count).then_some(names)
}

struct Batch {
    set: CifarSet,
    blob: Blob,
    labels: Vec<u8>,
    coarse: Vec<String>,
}

impl Batch {
    fn open(path: &Path) -> Result<Self, DataError> {
        let blob = Blob::open(path)?;
        let set = CifarSet::of(path, blob.len()).ok_or_else(|| {
            DataError::malformed("this is no CIFAR file: records have 3073 or 3074 bytes", path)
        })?;
        let record = set.record();
        let whole = blob.len().next_multiple_of(record as u64);
        if whole != blob.len() {
            return Err(DataError::truncated("CIFAR file", whole, blob.len(), path));
        }
        let mut labels = Vec::new();
        blob.scan(0, record, |run| {
            for record in run.chunks_exact(record) {
                let label = record[set.labels() - 1];
                if usize::from(label) >= set.classes() {
                    return Err(DataError::LabelOutOfRange {
                        label: label.to_string(),
                        of: format!("record {}", labels.len()),
                        classes: set.classes(),
                        path: path.to_path_buf(),
                    });
                }
                labels.push(label);
            }
            Ok(())
        })?;
        Ok(Self { set, blob, labels, coarse: Vec::new() })
    }
}

impl Source for Batch {
    fn len(&self) -> usize {
        self.labels.len()
    }

    fn label(&self, index: usize) -> Option<usize> {
        Some(self.labels[index].into())
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let record = self.set.record();
        let bytes = self.blob.read(index as u64 * record as u64, record)?;
        let (labels, pixels) = bytes.split_at(self.set.labels());
        let path = self.blob.path();
        let image = LAYOUT.image(pixels);
        let image = image.ok_or_else(|| DataError::image("the image is empty", path))?;
        let mut case = Case::new(format!("{}-{index:06}", folder::stem(path)), image);
        case.label = self.label(index);
        case.strata.insert("part".into(), part(path).into());
        if self.set == CifarSet::Hundred {
            let coarse = self.coarse.get(usize::from(labels[0])).ok_or_else(|| {
                DataError::LabelOutOfRange {
                    label: labels[0].to_string(),
                    of: format!("record {index} (coarse)"),
                    classes: self.coarse.len(),
                    path: path.to_path_buf(),
                }
            })?;
            case.strata.insert("coarse".into(), coarse.clone());
        }
        Ok(case)
    }
}
