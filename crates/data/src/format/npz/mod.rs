//! Archives of numpy arrays, one with images and one with what is known of them.

use super::joined::Joined;
use super::{Format, chosen, numbered};
use crate::npy::{Array, NumberKind};
use crate::pixels::Layout;
use crate::zip::{self, Entry};
use crate::{DataError, DataSet, Options, Source, folder, limits};
use faultlens_core::Case;
use std::cmp::Ordering;
use std::path::Path;

mod pairs;

use pairs::Pair;

pub(super) const FORMAT: Format = Format {
    name: "npz",
    about: "numpy's savez or savez_compressed with images (x, images, data) and labels (y, labels)",
    files: "images (`x`, `images`, `data`, …) as `N×H×W`, `N×H×W×C` or `N×C×H×W` and labels \
            (`y`, `labels`, …), whole numbers or floats to regress",
    classes: "0 to the largest label",
    has_parts: true,
    has_columns: false,
    recognises: |path| path.is_file() && folder::has_extension(path, "npz"),
    open,
};

fn open(path: &Path, options: &Options) -> Result<DataSet, DataError> {
    let pairs = pairs::pairs(zip::entries(path)?, path)?;
    let pairs = chosen(pairs, |pair: &Pair| &pair.part, options, path)?;
    let several = pairs.len() > 1 || options.part.is_some();
    let mut parts = Vec::new();
    for pair in pairs {
        parts.push(NpzPart::open(several.then(|| pair.part.clone()), &pair, path)?);
    }
    let labels = parts.iter().filter_map(|part| match &part.truth {
        Truth::Labels(labels) => labels.iter().max(),
        _ => None,
    });
    let classes = labels.max().map_or(0, |&label| usize::from(label) + 1);
    Ok(DataSet::new(numbered(classes), Joined::new(parts)))
}

/// The ground truth of a part's images.
enum Truth {
    Nothing,
    Labels(Vec<u16>),
    /// Numbers that a target should answer, this many for each image.
    Values(Vec<f32>, usize),
}

struct NpzPart {
    /// Which part it is, where the archive has several.
    name: Option<String>,
    images: Array,
    layout: Layout,
    /// What a stored value is multiplied with to be a byte.
    scale: f64,
    truth: Truth,
}

impl NpzPart {
    fn open(name: Option<String>, pair: &Pair, path: &Path) -> Result<Self, DataError> {
        let images = Array::open(&pair.images.name, pair.images.blob()?)?;
        let layout = layout(&images, path)?;
        let scale = scale(&images, path)?;
        let truth = match &pair.labels {
            Some(entry) => truth(entry, images.shape[0], path)?,
            None => Truth::Nothing,
        };
        Ok(Self { name, images, layout, scale, truth })
    }
}

impl Source for NpzPart {
    fn len(&self) -> usize {
        self.images.shape[0]
    }

    fn label(&self, index: usize) -> Option<usize> {
        match &self.truth {
            Truth::Labels(labels) => Some(labels[index].into()),
            _ => None,
        }
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let count = self.layout.len().unwrap_or(usize::MAX);
        let mut bytes = self.images.read(index.saturating_mul(count), count)?;
        let element = self.images.element;
        if !element.is_byte() {
            bytes = bytes
                .chunks_exact(element.size())
                .map(|value| (element.float(value) * self.scale).round() as u8)
                .collect();
        }
        let path = self.images.path();
        let image = self.layout.image(&bytes);
        let image = image.ok_or_else(|| DataError::image("the image is empty", path))?;
        let name = self.name.clone().unwrap_or_else(|| folder::stem(path));
        let mut case = Case::new(format!("{name}-{index:06}"), image);
        case.label = self.label(index);
        if let Truth::Values(values, each) = &self.truth {
            case.values = values[index * each..(index + 1) * each].to_vec();
        }
        if let Some(part) = &self.name {
            case.strata.insert("part".into(), part.clone());
        }
        Ok(case)
    }
}

/// How likely a size is the number of channels: 1 and 3 are common, 4 (with transparency) is rare.
fn likely(size: usize) -> u8 {
    match size {
        1 | 3 => 2,
        4 => 1,
        _ => 0,
    }
}

fn layout(images: &Array, path: &Path) -> Result<Layout, DataError> {
    let refused = |why: &str| {
        let what = format!("images of shape {:?} {why}", images.shape);
        Err(DataError::unsupported(what, path))
    };
    let layout = match images.shape[..] {
        [_, height, width] => Layout { height, width, channels: 1, planar: false },
        [_, a, b, c] => match likely(a).cmp(&likely(c)) {
            Ordering::Less => Layout { height: a, width: b, channels: c, planar: false },
            Ordering::Greater => Layout { height: b, width: c, channels: a, planar: true },
            Ordering::Equal if likely(a) == 0 => return refused("have no 1, 3 or 4 channels"),
            Ordering::Equal => {
                return refused("have channels first or last, nobody can tell which");
            }
        },
        _ => return refused("are not read; use N×H×W, N×H×W×C or N×C×H×W"),
    };
    let pixels = (layout.height as u64).saturating_mul(layout.width as u64);
    if pixels == 0 || pixels > limits::PIXELS || images.shape[0] > limits::CASES {
        return refused("are empty or too large");
    }
    Ok(layout)
}

/// Bytes are taken as they are. Other numbers are 0..=1 or 0..=255, which their largest tells.
fn scale(images: &Array, path: &Path) -> Result<f64, DataError> {
    let element = images.element;
    if element.is_byte() {
        return Ok(1.0);
    }
    let mut low = f64::INFINITY;
    let mut high = f64::NEG_INFINITY;
    let mut number = true;
    images.scan(|value| {
        let value = element.float(value);
        number &= !value.is_nan();
        (low, high) = (low.min(value), high.max(value));
        Ok(())
    })?;
    if !number || low < 0.0 || high > 255.0 {
        let what = format!(
            "the images' values go from {low} to {high}{}; save 0 to 255, or 0 to 1, before any \
             normalisation",
            if number { "" } else { ", some are no numbers" }
        );
        return Err(DataError::unsupported(what, path));
    }
    let whole = matches!(element.kind(), NumberKind::Unsigned | NumberKind::Signed);
    Ok(if high > 1.0 || whole { 1.0 } else { 255.0 })
}

/// Whole numbers are labels, floats are values to be answered.
fn truth(entry: &Entry, images: usize, path: &Path) -> Result<Truth, DataError> {
    let array = Array::open(&entry.name, entry.blob()?)?;
    let (count, each) = match array.shape[..] {
        [count] => (count, 1),
        [count, each] => (count, each),
        _ => {
            let what = format!("labels of shape {:?} are not read; use N or N×1", array.shape);
            return Err(DataError::unsupported(what, path));
        }
    };
    if count != images {
        let what = format!("there are {count} labels for {images} images");
        return Err(DataError::malformed(what, path));
    }
    if array.element.kind() == NumberKind::Float {
        let mut values = Vec::new();
        array.scan(|value| {
            values.push(array.element.float(value) as f32);
            Ok(())
        })?;
        return Ok(Truth::Values(values, each));
    }
    if each != 1 {
        let what = format!("{each} labels per image are not read; save their argmax");
        return Err(DataError::unsupported(what, path));
    }
    labels(&array, path).map(Truth::Labels)
}

fn labels(array: &Array, path: &Path) -> Result<Vec<u16>, DataError> {
    let mut labels = Vec::new();
    array.scan(|value| {
        let label = array.element.integer(value);
        let class = label.and_then(|label| u16::try_from(label).ok());
        labels.push(class.ok_or_else(|| DataError::LabelOutOfRange {
            label: label.map_or_else(|| "over 2⁶³".into(), |label| label.to_string()),
            of: format!("case {}", labels.len()),
            classes: limits::CLASSES,
            path: path.to_path_buf(),
        })?);
        Ok(())
    })?;
    Ok(labels)
}
