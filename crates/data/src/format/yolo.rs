//! YOLO: a text file of labels per image, in shares of the image's width and height.

use super::coco::polygon;
use super::{Format, chosen, numbered};
use crate::picture::{self, Orient};
use crate::{DataError, DataSet, Options, Source, folder, limits};
use faultlens_core::{Bounds, Case, Mask, Object};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: Format = Format {
    name: "yolo",
    about: "images/ and labels/ side by side, a text file of normalised boxes or polygons per image",
    files: "`images/` and `labels/` (also `images/val` and `labels/val`, or `val/images` and `val/labels`): lines \
            `class cx cy w h` or `class x1 y1 x2 y2 …`; the folder or its `data.yaml`; no label file: no object",
    classes: "`names` of `data.yaml`, or `classes.txt`; otherwise 0 to the largest",
    has_parts: true,
    has_columns: false,
    recognises,
    open,
};

/// Rounding may lead this far out of the image; Ultralytics tolerates the same.
const SLACK: f64 = 0.01;

fn recognises(path: &Path) -> bool {
    let is_yaml = ["yaml", "yml"].iter().any(|end| folder::has_extension(path, end));
    (path.is_dir() || is_yaml) && !parts(&home(path)).is_empty()
}

fn home(path: &Path) -> PathBuf {
    if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) }.to_path_buf()
}

/// A folder of images, and the folder of their labels.
struct Part {
    name: String,
    images: PathBuf,
    labels: PathBuf,
}

/// The parts by name; one without a name where images lie in `images/` itself.
fn parts(home: &Path) -> Vec<Part> {
    let images = home.join("images");
    let labels = home.join("labels");
    let mut places = vec![(String::new(), images.clone(), labels.clone())];
    for inner in folder::entries(&images).unwrap_or_default() {
        let name = folder::name(&inner);
        let beside = labels.join(&name);
        places.push((name, inner, beside));
    }
    for inner in folder::entries(home).unwrap_or_default() {
        places.push((folder::name(&inner), inner.join("images"), inner.join("labels")));
    }
    let mut parts = Vec::new();
    for (name, images, labels) in places {
        let has_images = !folder::files(&images, |name| folder::is_image(name.as_ref())).is_empty();
        if labels.is_dir() && has_images {
            let name = if name == "valid" { "val".to_owned() } else { name };
            parts.push(Part { name, images, labels });
        }
    }
    parts
}

fn open(path: &Path, options: &Options) -> Result<DataSet, DataError> {
    let home = home(path);
    let found = chosen(parts(&home), |part: &Part| &part.name, options, path)?;
    let names = names(path, &home)?;
    let classes = names.as_ref().map_or(limits::CLASSES, Vec::len);
    let mut images = Vec::new();
    for part in found {
        for file in folder::files(&part.images, |name| folder::is_image(name.as_ref())) {
            let labels = part.labels.join(format!("{}.txt", folder::stem(&file)));
            // Ultralytics' convention: an image without a label file shows no object.
            let shapes = if labels.is_file() { shapes(&labels, classes)? } else { Vec::new() };
            images.push(Labelled { part: part.name.clone(), file, labels, shapes });
        }
    }
    let largest = images.iter().flat_map(|image| &image.shapes).map(|shape| shape.class).max();
    let names = names.unwrap_or_else(|| numbered(largest.map_or(0, |class| class + 1)));
    Ok(DataSet::new(names, Yolo { images }))
}

#[derive(Deserialize)]
struct ByList {
    names: Vec<String>,
}

#[derive(Deserialize)]
struct ByNumber {
    names: BTreeMap<usize, String>,
}

/// The classes of the `data.yaml` that is named or lies there, or of `classes.txt`.
fn names(path: &Path, home: &Path) -> Result<Option<Vec<String>>, DataError> {
    let yaml = if path.is_dir() { home.join("data.yaml") } else { path.to_path_buf() };
    if yaml.is_file() {
        let text = text(&yaml)?;
        if let Ok(list) = serde_saphyr::from_str::<ByList>(&text) {
            return Ok(Some(list.names));
        }
        let map = serde_saphyr::from_str::<ByNumber>(&text).map_err(|error| {
            let what = format!("names are no list of classes ({})", error.without_snippet());
            DataError::malformed(what, &yaml)
        })?;
        if map.names.keys().copied().ne(0..map.names.len()) {
            return Err(DataError::malformed("names are not numbered from 0 without gaps", &yaml));
        }
        return Ok(Some(map.names.into_values().collect()));
    }
    let list = home.join("classes.txt");
    if !list.is_file() {
        return Ok(None);
    }
    let text = text(&list)?;
    Ok(Some(
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect(),
    ))
}

fn text(path: &Path) -> Result<String, DataError> {
    let bytes = folder::description(path, "text file", limits::YOLO_BYTES)?;
    String::from_utf8(bytes).map_err(|_| DataError::malformed("this is no UTF-8 text", path))
}

/// An object in shares of its image: a box (middle and size) or the corners of a polygon.
struct Shape {
    class: usize,
    numbers: Vec<f64>,
}

fn shapes(path: &Path, classes: usize) -> Result<Vec<Shape>, DataError> {
    let mut shapes = Vec::new();
    for (at, line) in text(path)?.lines().enumerate() {
        if !line.trim().is_empty() {
            let shape = shape(line, classes)
                .map_err(|what| DataError::malformed(format!("line {} {what}", at + 1), path))?;
            shapes.push(shape);
        }
    }
    Ok(shapes)
}

fn shape(line: &str, classes: usize) -> Result<Shape, String> {
    let mut words = line.split_whitespace();
    let class = words.next().unwrap_or_default();
    let class: usize = class.parse().map_err(|_| format!("starts with \"{class}\", no class"))?;
    if class >= classes {
        return Err(format!(
            "is of class {class}; classes go from 0 to {}",
            classes.saturating_sub(1)
        ));
    }
    let numbers: Result<Vec<f64>, _> = words.map(str::parse).collect();
    let numbers = numbers.map_err(|_| "holds something that is no number".to_owned())?;
    if numbers.len() != 4 && (numbers.len() < 6 || numbers.len() % 2 == 1) {
        let count = numbers.len();
        return Err(format!(
            "has {count} numbers after the class; a box has 4, a polygon at least 3 pairs"
        ));
    }
    if let Some(out) = numbers.iter().find(|number| !(-SLACK..=1.0 + SLACK).contains(*number)) {
        return Err(format!("has {out}, which is not from 0 to 1; divide by the image's size"));
    }
    Ok(Shape { class, numbers })
}

struct Yolo {
    images: Vec<Labelled>,
}

struct Labelled {
    part: String,
    file: PathBuf,
    labels: PathBuf,
    shapes: Vec<Shape>,
}

impl Source for Yolo {
    fn len(&self) -> usize {
        self.images.len()
    }

    fn label(&self, _: usize) -> Option<usize> {
        None
    }

    fn has_objects(&self) -> bool {
        self.images.iter().any(|image| !image.shapes.is_empty())
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let Labelled { part, file, labels, shapes } = &self.images[index];
        let image = picture::read(file, Orient::Upright)?;
        let outlines = shapes.iter().filter(|shape| shape.numbers.len() > 4).count();
        if outlines.saturating_mul(image.width() * image.height()) > limits::MASK_PIXELS {
            return Err(DataError::malformed("the image's masks together are too large", labels));
        }
        let mut name = folder::name(file);
        if !part.is_empty() {
            name = format!("{part}/{name}");
        }
        let objects: Result<Vec<Object>, String> =
            shapes.iter().map(|shape| shape.object(image.width(), image.height())).collect();
        let objects = objects.map_err(|what| DataError::malformed(what, labels))?;
        let mut case = Case { objects, ..Case::new(name, image) };
        if !part.is_empty() {
            case.strata.insert("part".into(), part.clone());
        }
        Ok(case)
    }
}

impl Shape {
    fn object(&self, width: usize, height: usize) -> Result<Object, String> {
        let w = width as f64;
        let h = height as f64;
        let mut mask = None;
        let mut xs = Vec::new();
        let mut ys = Vec::new();
        if let [x, y, across, down] = self.numbers[..] {
            xs.extend([x - across / 2.0, x + across / 2.0]);
            ys.extend([y - down / 2.0, y + down / 2.0]);
        } else {
            xs.extend(self.numbers.iter().step_by(2));
            ys.extend(self.numbers.iter().skip(1).step_by(2));
            let corners: Vec<f64> = xs.iter().zip(&ys).flat_map(|(x, y)| [x * w, y * h]).collect();
            let mut bits = vec![false; width * height];
            polygon::paint(&corners, width, height, &mut bits)?;
            mask = Mask::new(width, bits);
        }
        let bounds = Bounds {
            left: (xs.iter().copied().fold(1.0, f64::min).max(0.0) * w) as f32,
            top: (ys.iter().copied().fold(1.0, f64::min).max(0.0) * h) as f32,
            right: (xs.iter().copied().fold(0.0, f64::max).min(1.0) * w) as f32,
            bottom: (ys.iter().copied().fold(0.0, f64::max).min(1.0) * h) as f32,
        };
        Ok(Object { class: self.class, bounds, mask, crowd: false })
    }
}
