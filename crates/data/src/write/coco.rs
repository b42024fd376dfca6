//! Cases with objects as COCO files, which every detection tool reads.

use super::{Names, fresh, write_new};
use crate::DataError;
use crate::format::coco::encode;
use faultlens_core::{Case, Object};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the pictures.
const IMAGES: &str = "images";

#[derive(Serialize)]
struct Description<'a> {
    images: Vec<Picture>,
    annotations: Vec<Annotation>,
    categories: Vec<Category<'a>>,
}

#[derive(Serialize)]
struct Picture {
    id: usize,
    file_name: String,
    width: usize,
    height: usize,
}

#[derive(Serialize)]
struct Category<'a> {
    id: i64,
    name: &'a str,
    supercategory: &'a str,
}

#[derive(Serialize)]
struct Annotation {
    id: usize,
    image_id: usize,
    category_id: i64,
    bbox: [f64; 4],
    area: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    segmentation: Option<Runs>,
    iscrowd: u8,
}

/// A mask as pycocotools packs it: exact, unlike polygons.
#[derive(Serialize)]
struct Runs {
    size: [usize; 2],
    counts: String,
}

/// Writes `images/` and `instances.json` and says how many cases there were.
///
/// Of a case, its image, objects and name are kept. Numbers of images, objects and categories
/// count from 1, as COCO's do. The folder must be new or empty.
pub fn write_coco(
    dir: impl AsRef<Path>,
    classes: &[String],
    cases: impl IntoIterator<Item = Case>,
) -> Result<usize, DataError> {
    let mut writer = CocoWriter::new(dir)?;
    for case in cases {
        writer.add(&case, classes)?;
    }
    writer.finish(classes)
}

/// Writes a COCO set case by case, so that no more than one case is in memory.
pub struct CocoWriter {
    dir: PathBuf,
    images: Vec<Picture>,
    annotations: Vec<Annotation>,
    names: Names,
    numbers: Vec<i64>,
}

impl CocoWriter {
    /// Begins a set in a folder that is new or empty.
    pub fn new(dir: impl AsRef<Path>) -> Result<Self, DataError> {
        let dir = dir.as_ref().to_path_buf();
        fresh(&dir)?;
        let images = dir.join(IMAGES);
        fs::create_dir(&images).map_err(DataError::io("make the folder", &images))?;
        Ok(Self {
            dir,
            images: Vec::new(),
            annotations: Vec::new(),
            names: Names::default(),
            numbers: Vec::new(),
        })
    }

    /// The same set with these numbers for the first categories, instead of those from 1 on;
    /// further ones count on from the largest. To be called before the first case is added.
    #[must_use]
    pub fn numbered(self, numbers: &[i64]) -> Self {
        Self { numbers: numbers.to_vec(), ..self }
    }

    fn number(&self, class: usize) -> i64 {
        let last = self.numbers.iter().copied().max().unwrap_or(0);
        self.numbers
            .get(class)
            .copied()
            .unwrap_or_else(|| last.saturating_add((class + 1 - self.numbers.len()) as i64))
    }

    /// Writes a case; gives the name of its file. Its classes are among those that
    /// [`finish`](Self::finish) is given.
    pub fn add(&mut self, case: &Case, classes: &[String]) -> Result<String, DataError> {
        let image_id = self.images.len() + 1;
        for object in &case.objects {
            let id = self.annotations.len() + 1;
            self.annotations.push(self.annotation(id, image_id, object, case, classes)?);
        }
        let file_name = self.names.give(case);
        write_new(&case.image, &self.dir.join(IMAGES).join(&file_name))?;
        let width = case.image.width();
        let height = case.image.height();
        self.images.push(Picture { id: image_id, file_name: file_name.clone(), width, height });
        Ok(file_name)
    }

    fn annotation(
        &self,
        id: usize,
        image_id: usize,
        object: &Object,
        case: &Case,
        classes: &[String],
    ) -> Result<Annotation, DataError> {
        let refused = |why: &str| {
            let what = format!("an object of case \"{}\" {why}", case.name);
            Err(DataError::Unwritable { what, path: self.dir.clone() })
        };
        let b = object.bounds;
        let [left, top, right, bottom] = [b.left, b.top, b.right, b.bottom].map(f64::from);
        let bbox = [left, top, right - left, bottom - top];
        if bbox.iter().any(|side| !side.is_finite()) || bbox[2] < 0.0 || bbox[3] < 0.0 {
            return refused("has a box that ends before it starts");
        }
        if object.class >= classes.len() {
            return refused("has a class that is not in the list");
        }
        if let Some(mask) = &object.mask
            && (mask.width(), mask.height()) != (case.image.width(), case.image.height())
        {
            return refused("has a mask of another size than its image");
        }
        let area = object.mask.as_ref().map_or(bbox[2] * bbox[3], |mask| mask.area() as f64);
        Ok(Annotation {
            id,
            image_id,
            category_id: self.number(object.class),
            bbox,
            area,
            segmentation: object
                .mask
                .as_ref()
                .map(|mask| Runs { size: [mask.height(), mask.width()], counts: encode(mask) }),
            iscrowd: object.crowd.into(),
        })
    }

    /// Writes the description, and says how many cases there are.
    pub fn finish(self, classes: &[String]) -> Result<usize, DataError> {
        let categories = classes
            .iter()
            .map(String::as_str)
            .enumerate()
            .map(|(at, name)| Category { id: self.number(at), name, supercategory: "" })
            .collect();
        let Self { dir, images, annotations, .. } = self;
        let description = Description { images, annotations, categories };
        write_json(&description, &dir.join("instances.json"))?;
        Ok(description.images.len())
    }
}

fn write_json(description: &Description<'_>, path: &Path) -> Result<(), DataError> {
    let doing = "write the description of the data set";
    faultlens_files::write_with(path, |file| {
        serde_json::to_writer(file, description).map_err(io::Error::from)
    })
    .map_err(DataError::io(doing, path))
}
