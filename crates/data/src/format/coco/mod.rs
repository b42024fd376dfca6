//! COCO: one JSON file that describes images, with boxes and masks of what they show.

use super::Format;
use crate::picture::{self, Orient};
use crate::{DataError, DataSet, Options, Source, folder, limits};
use faultlens_core::{Bounds, Case, Mask, Object};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

mod json;
mod places;
pub(super) mod polygon;
mod results;
mod runs;

use json::{Annotation, Segmentation};
pub use results::{CocoDetection, CocoObject, CocoTruth};
pub(crate) use runs::encode;

pub(super) const FORMAT: Format = Format {
    name: "coco",
    about: "instances.json with images, annotations and categories; images beside it or in images/",
    files: "a JSON file with `images`, `annotations`, `categories`, or a folder that holds one",
    classes: "categories by id",
    has_parts: false,
    has_columns: false,
    recognises: places::recognises,
    open,
};

fn open(path: &Path, _: &Options) -> Result<DataSet, DataError> {
    let list = places::description(path)?;
    let bytes = folder::description(&list, "COCO file", limits::JSON_BYTES)?;
    let file: json::File = serde_json::from_slice(&bytes).map_err(|error| {
        DataError::malformed(format!("this is no COCO file that can be read ({error})"), &list)
    })?;
    drop(bytes);
    let (classes, positions) = categories(file.categories, &list)?;
    let root = places::root(&list, &file.images);
    let mut coco = Coco { list, root, images: Vec::new() };
    let mut ids = BTreeMap::new();
    let mut names = BTreeSet::new();
    for picture in file.images {
        let again = ids.insert(picture.id, coco.images.len()).is_some();
        if again || !names.insert(picture.file_name.clone()) {
            let what = format!("image {} ({}) is there twice", picture.id, picture.file_name);
            return Err(DataError::malformed(what, &coco.list));
        }
        coco.add(picture)?;
    }
    for annotation in file.annotations {
        let of = annotation.id;
        let image = ids.get(&annotation.image_id).ok_or_else(|| {
            let what =
                format!("annotation {of} is of image {}, which is not there", annotation.image_id);
            DataError::malformed(what, &coco.list)
        })?;
        let class = positions.get(&annotation.category_id).ok_or_else(|| {
            let what = format!(
                "annotation {of} is of category {}, which is not there",
                annotation.category_id
            );
            DataError::malformed(what, &coco.list)
        })?;
        coco.annotate(*image, *class, annotation)?;
    }
    // Positions follow the numbers, so that their keys are in the order of the classes.
    Ok(DataSet::new(classes, coco).numbered(positions.into_keys().collect()))
}

/// Names in the order of their numbers, and the position of each number.
fn categories(
    mut categories: Vec<json::Category>,
    list: &Path,
) -> Result<(Vec<String>, BTreeMap<i64, usize>), DataError> {
    categories.sort_by_key(|category| category.id);
    let positions: BTreeMap<i64, usize> =
        categories.iter().enumerate().map(|(at, category)| (category.id, at)).collect();
    if positions.len() != categories.len() {
        return Err(DataError::malformed("two categories have the same number", list));
    }
    Ok((categories.into_iter().map(|category| category.name).collect(), positions))
}

struct Coco {
    list: PathBuf,
    root: PathBuf,
    images: Vec<AnnotatedImage>,
}

struct AnnotatedImage {
    name: String,
    width: usize,
    height: usize,
    known: Vec<AnnotatedObject>,
    /// How many of them have masks.
    masks: usize,
}

/// An object whose mask is painted when it is asked for.
struct AnnotatedObject {
    class: usize,
    bounds: Option<Bounds>,
    segmentation: Option<Segmentation>,
    crowd: bool,
}

impl Coco {
    fn file(&self, picture: &str) -> Result<PathBuf, DataError> {
        folder::inside(&self.root, picture, || "an image's file_name".into(), &self.list)
    }

    fn add(&mut self, picture: json::Picture) -> Result<(), DataError> {
        let json::Picture { file_name: name, width, height, id } = picture;
        let file = self.file(&name)?;
        if !file.is_file() {
            return Err(DataError::MissingImage { of: format!("image {id}"), path: file });
        }
        let pixels = (width as u64).saturating_mul(height as u64);
        if pixels == 0 || pixels > limits::PIXELS {
            let what = format!("image {id} has {width}×{height} pixels, which is not read");
            return Err(DataError::malformed(what, &self.list));
        }
        self.images.push(AnnotatedImage { name, width, height, known: Vec::new(), masks: 0 });
        Ok(())
    }

    fn annotate(&mut self, image: usize, class: usize, a: Annotation) -> Result<(), DataError> {
        let wrong = |what: &str| {
            Err(DataError::malformed(format!("annotation {} {what}", a.id), &self.list))
        };
        if a.bbox.is_some_and(|b| b.iter().any(|v| !v.is_finite()) || b[2] < 0.0 || b[3] < 0.0) {
            return wrong("has a box that ends before it starts");
        }
        let is_empty =
            |mask: &Segmentation| matches!(mask, Segmentation::Polygons(p) if p.is_empty());
        let segmentation = a.segmentation.filter(|mask| !is_empty(mask));
        if a.bbox.is_none() && segmentation.is_none() {
            return wrong("has neither a box nor a mask");
        }
        let picture = &mut self.images[image];
        picture.masks += usize::from(segmentation.is_some());
        if segmentation.is_some()
            && picture.masks * picture.width * picture.height > limits::MASK_PIXELS
        {
            return wrong("is one too many: the image's masks together are too large");
        }
        let bounds = a.bbox.map(|[left, top, width, height]| Bounds {
            left: left as f32,
            top: top as f32,
            right: (left + width) as f32,
            bottom: (top + height) as f32,
        });
        picture.known.push(AnnotatedObject { class, bounds, segmentation, crowd: a.iscrowd.0 });
        Ok(())
    }
}

impl AnnotatedImage {
    fn object(&self, known: &AnnotatedObject) -> Result<Object, String> {
        let mask = known.segmentation.as_ref().map(|shape| self.mask(shape)).transpose()?;
        let bounds = known.bounds.or_else(|| mask.as_ref()?.bounds());
        let bounds = bounds.ok_or("an object has no box and an empty mask")?;
        Ok(Object { class: known.class, bounds, mask, crowd: known.crowd })
    }

    fn mask(&self, shape: &Segmentation) -> Result<Mask, String> {
        let width = self.width;
        let height = self.height;
        match shape {
            Segmentation::Runs(runs) if runs.size == [height, width] => runs::decode(runs),
            Segmentation::Runs(_) => Err("a mask has another size than its image".into()),
            Segmentation::Polygons(polygons) => {
                let mut bits = vec![false; width * height];
                for polygon in polygons {
                    polygon::paint(polygon, width, height, &mut bits)?;
                }
                Mask::new(width, bits).ok_or_else(|| "a mask has no pixels".into())
            }
        }
    }
}

impl Source for Coco {
    fn len(&self) -> usize {
        self.images.len()
    }

    fn label(&self, _: usize) -> Option<usize> {
        None
    }

    fn has_objects(&self) -> bool {
        self.images.iter().any(|picture| !picture.known.is_empty())
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let picture = &self.images[index];
        let image = picture::read(
            &self.file(&picture.name)?,
            Orient::Sized(picture.width, picture.height),
        )?;
        let objects: Result<Vec<Object>, String> =
            picture.known.iter().map(|known| picture.object(known)).collect();
        let objects = objects.map_err(|what| {
            DataError::malformed(format!("{what} (image {})", picture.name), &self.list)
        })?;
        Ok(Case { objects, ..Case::new(picture.name.clone(), image) })
    }
}
