//! What is known and what was found, without a single image: COCO's ground truth and results.

use super::categories;
use super::json::{Category, Flag};
use crate::{DataError, folder, limits};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The ground truth of a COCO file, for who scores detections of which others keep the images.
///
/// Numbers have all digits of the file; images and classes stand in the order of their numbers.
#[derive(Debug, Clone)]
pub struct CocoTruth {
    /// Names of classes.
    pub classes: Vec<String>,
    /// Every object, in the file's order.
    pub objects: Vec<CocoObject>,
    images: HashMap<i64, usize>,
    categories: HashMap<i64, usize>,
    path: PathBuf,
}

/// An object that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CocoObject {
    /// Position of its image.
    pub image: usize,
    /// Position of its class.
    pub class: usize,
    /// Left, top, width, height.
    pub bbox: [f64; 4],
    /// How many pixels it has; its box's where the file does not say.
    pub area: f64,
    /// Whether it is a group that nobody can tell apart (`iscrowd`).
    pub crowd: bool,
    /// Whether it is not to be counted (`ignore`), which VOC calls difficult.
    pub ignored: bool,
}

/// An object that a target found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CocoDetection {
    /// Position of its image.
    pub image: usize,
    /// Position of its class.
    pub class: usize,
    /// Left, top, width, height.
    pub bbox: [f64; 4],
    /// How sure the target is.
    pub score: f64,
}

#[derive(Deserialize)]
struct File {
    images: Vec<Picture>,
    #[serde(default)]
    annotations: Vec<Annotation>,
    #[serde(default)]
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Picture {
    id: i64,
}

#[derive(Deserialize)]
struct Annotation {
    image_id: i64,
    category_id: i64,
    bbox: [f64; 4],
    area: Option<f64>,
    #[serde(default)]
    iscrowd: Flag,
    #[serde(default)]
    ignore: Flag,
}

#[derive(Deserialize)]
struct Line {
    image_id: i64,
    category_id: i64,
    bbox: [f64; 4],
    score: f64,
}

impl CocoTruth {
    /// Reads a file with `images`, `annotations` and `categories`; masks are skipped.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let bytes = folder::description(path, "ground truth", limits::JSON_BYTES)?;
        if starts_with(&bytes, b'[') {
            let what = "this is a list, as detections are; the ground truth is an object with \
                        images, annotations and categories";
            return Err(DataError::malformed(what, path));
        }
        let file: File = serde_json::from_slice(&bytes).map_err(|error| {
            let what = format!("this is no COCO ground truth that can be read ({error})");
            DataError::malformed(what, path)
        })?;
        let images = images(file.images, path)?;
        let (classes, positions) = categories(file.categories, path)?;
        if let Some(name) = twice(&classes) {
            let what = format!("two categories are called \"{name}\"; give them different names");
            return Err(DataError::malformed(what, path));
        }
        let categories = positions.into_iter().collect();
        let path = path.to_path_buf();
        let mut truth = Self { classes, objects: Vec::new(), images, categories, path };
        truth.objects.reserve_exact(file.annotations.len());
        for (at, annotation) in file.annotations.into_iter().enumerate() {
            let object = truth.object(&annotation).map_err(|what| {
                DataError::malformed(format!("annotation {} {what}", at + 1), &truth.path)
            })?;
            truth.objects.push(object);
        }
        Ok(truth)
    }

    /// How many images there are, with and without objects.
    pub fn images(&self) -> usize {
        self.images.len()
    }

    /// Reads detections of these images: a list of `{"image_id", "category_id", "bbox", "score"}`.
    /// An empty list is one, too.
    pub fn detections(&self, path: &Path) -> Result<Vec<CocoDetection>, DataError> {
        let bytes = folder::description(path, "list of detections", limits::JSON_BYTES)?;
        if starts_with(&bytes, b'{') {
            let what = "this is an object, as the ground truth is; detections are a list of \
                        {\"image_id\", \"category_id\", \"bbox\", \"score\"}";
            return Err(DataError::malformed(what, path));
        }
        let lines: Vec<Line> = serde_json::from_slice(&bytes).map_err(|error| {
            let what = format!("this is no list of detections that can be read ({error})");
            DataError::malformed(what, path)
        })?;
        let checked = lines.iter().enumerate().map(|(at, line)| {
            self.detection(line)
                .map_err(|what| DataError::malformed(format!("detection {} {what}", at + 1), path))
        });
        checked.collect()
    }

    fn object(&self, known: &Annotation) -> Result<CocoObject, String> {
        let (image, class) = self.position(known.image_id, known.category_id)?;
        let bbox = checked(known.bbox)?;
        let area = known.area.unwrap_or(bbox[2] * bbox[3]);
        if area < 0.0 {
            return Err(format!("has an area of {area} pixels"));
        }
        let crowd = known.iscrowd.0;
        let ignored = known.ignore.0;
        Ok(CocoObject { image, class, bbox, area, crowd, ignored })
    }

    fn detection(&self, found: &Line) -> Result<CocoDetection, String> {
        let (image, class) = self.position(found.image_id, found.category_id)?;
        Ok(CocoDetection { image, class, bbox: checked(found.bbox)?, score: found.score })
    }

    fn position(&self, image: i64, category: i64) -> Result<(usize, usize), String> {
        let missing = |what: &str, number: i64| {
            format!(
                "is of {what} {number}, which the ground truth does not have ({})",
                self.path.display()
            )
        };
        let at = *self.images.get(&image).ok_or_else(|| missing("image", image))?;
        let class = self.categories.get(&category).ok_or_else(|| missing("category", category))?;
        Ok((at, *class))
    }
}

/// The position of each image by its number.
fn images(images: Vec<Picture>, path: &Path) -> Result<HashMap<i64, usize>, DataError> {
    let mut numbers: Vec<i64> = images.into_iter().map(|image| image.id).collect();
    numbers.sort_unstable();
    if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(DataError::malformed(format!("image {} is there twice", pair[0]), path));
    }
    Ok(numbers.into_iter().enumerate().map(|(at, number)| (number, at)).collect())
}

fn twice(names: &[String]) -> Option<&str> {
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn checked(bbox: [f64; 4]) -> Result<[f64; 4], String> {
    if bbox[2] < 0.0 || bbox[3] < 0.0 {
        return Err(format!(
            "has a box of {}×{} pixels; bbox is left, top, width, height",
            bbox[2], bbox[3]
        ));
    }
    Ok(bbox)
}

fn starts_with(bytes: &[u8], wanted: u8) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&wanted)
}
