//! The objects that scenes are changed with, and which of them fits into an image.

use crate::cases::{CaseError, Cases};
use faultlens_core::{Bounds, Cutout, Image};
use faultlens_data::{DataError, MIN_OBJECTS, PRUNED, Pool, Stamp, largest_objects};
use faultlens_faults::scene::Supply;
use faultlens_judge::{average_hash, hamming};
use faultlens_spec::CaseSpec;
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Objects by label.
#[derive(Default)]
pub(crate) struct ObjectPool {
    items: Vec<Item>,
    /// By label in small letters, places among the items.
    labels: BTreeMap<String, Vec<usize>>,
    held: Held,
    digest: Option<String>,
}

/// An object without its pixels.
struct Item {
    source: String,
    hash: u64,
}

/// Where the pixels are.
enum Held {
    /// In the files of a pool, and those that were read.
    Pool(Box<Pool>, Mutex<BTreeMap<usize, Cutout>>),
    /// Cut out of a data set.
    Cut(Vec<Cutout>),
}

impl Default for Held {
    fn default() -> Self {
        Self::Cut(Vec::new())
    }
}

/// Why there are no objects.
#[derive(Debug, thiserror::Error)]
pub enum ObjectPoolError {
    /// The pool cannot be read.
    #[error(transparent)]
    Pool(#[from] DataError),
    /// The data set cannot be read.
    #[error(transparent)]
    Cases(#[from] CaseError),
    /// There is nothing.
    #[error("{0} is not there; `faultlens objects DATA --out {0}` makes a pool")]
    Missing(String),
    /// A folder that is neither.
    #[error(
        "{path} holds no pool, since index.json is missing (a pool that was not finished has none), and no data set ({why}); `faultlens objects DATA --out POOL` makes a pool in a new folder"
    )]
    Neither {
        /// The folder.
        path: String,
        /// Why it is no data set.
        why: CaseError,
    },
    /// Nothing in the data set has an outline.
    #[error(
        "no object of {0} has an outline to cut it out by; cut objects out with a segmentation model: faultlens objects --model (if it was meant as a pool, its index.json is missing)"
    )]
    NoOutline(String),
}

impl ObjectPool {
    /// Opens a pool that `faultlens objects` made, or cuts the objects of a data set out.
    pub(crate) fn open(asked: &str) -> Result<Self, ObjectPoolError> {
        if Pool::is_at(Path::new(asked)) {
            let pool = Pool::open(asked)?;
            pool.check()?;
            return Ok(Self::of_pool(pool));
        }
        let cases = Self::data(asked)?;
        let mut cut = Vec::new();
        for at in 0..cases.set.len() {
            let case = cases.set.case(at).map_err(CaseError::from)?;
            for (number, object) in case.objects.iter().enumerate().filter(|(_, o)| !o.crowd) {
                let stamp = object.mask.as_ref().and_then(Stamp::of);
                let label = cases.set.classes.get(object.class);
                let (Some(stamp), Some(label)) = (stamp, label) else { continue };
                let Some((image, alpha)) = stamp.cut(&case.image) else { continue };
                cut.push(Cutout {
                    label: label.clone(),
                    source: case.name.clone(),
                    id: format!("{} {}", case.name, number + 1),
                    hash: average_hash(&image),
                    image,
                    alpha,
                });
            }
        }
        if cut.is_empty() {
            return Err(ObjectPoolError::NoOutline(asked.to_owned()));
        }
        let largest = largest_objects(cut, PRUNED, MIN_OBJECTS, |object| {
            (object.label.as_str(), object.pixels())
        });
        Ok(Self::of_cut(largest))
    }

    /// The data set that objects are cut out of, where there is no pool.
    fn data(asked: &str) -> Result<Cases, ObjectPoolError> {
        let path = Path::new(asked);
        if !asked.starts_with(faultlens_world::PREFIX) && !path.exists() {
            return Err(ObjectPoolError::Missing(asked.to_owned()));
        }
        Cases::open(&CaseSpec::plain(asked), 0).map_err(|why| {
            if path.is_dir() {
                ObjectPoolError::Neither { path: asked.to_owned(), why }
            } else {
                why.into()
            }
        })
    }

    fn of_pool(pool: Pool) -> Self {
        let items = pool
            .objects
            .iter()
            .map(|entry| (entry.label.clone(), entry.source.clone(), entry.hash));
        let digest = Some(pool.digest());
        Self { digest, ..Self::new(items.collect(), Held::Pool(Box::new(pool), Mutex::default())) }
    }

    fn of_cut(cut: Vec<Cutout>) -> Self {
        let mut hash = Sha256::new();
        for object in &cut {
            hash.update(&object.id);
            hash.update(object.image.rgb());
            hash.update(&object.alpha);
        }
        let digest = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let items = cut.iter().map(|one| (one.label.clone(), one.source.clone(), one.hash));
        Self { digest: Some(digest), ..Self::new(items.collect(), Held::Cut(cut)) }
    }

    fn new(objects: Vec<(String, String, u64)>, held: Held) -> Self {
        let mut labels: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, (label, ..)) in objects.iter().enumerate() {
            labels.entry(label.trim().to_lowercase()).or_default().push(at);
        }
        let items = objects.into_iter().map(|(_, source, hash)| Item { source, hash }).collect();
        Self { items, labels, held, digest: None }
    }

    /// Tells whether other objects are the same; `None` where there are none.
    pub(crate) fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// An object with its pixels, which could be read when the pool was opened.
    fn cutout(&self, at: usize) -> Result<Option<Cutout>, DataError> {
        match &self.held {
            Held::Cut(objects) => Ok(objects.get(at).cloned()),
            Held::Pool(pool, read) => {
                if let Some(object) = read.lock().unwrap_or_else(PoisonError::into_inner).get(&at) {
                    return Ok(Some(object.clone()));
                }
                // Two threads may read the same file here; both read the same pixels.
                let object = pool.cutout(at)?;
                let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
                read.insert(at, object.clone());
                Ok(Some(object))
            }
        }
    }
}

/// The objects that fit into one image.
pub(crate) struct ImageSupply<'a> {
    pub(crate) object_pool: &'a ObjectPool,
    pub(crate) image: &'a Image,
    /// The image's name: what was cut from it does not go into it again.
    pub(crate) case: &'a str,
    /// Why an object that was wanted cannot be read now.
    pub(crate) unreadable: Cell<Option<String>>,
}

impl Supply for ImageSupply<'_> {
    /// The object whose average hash is closest to those of the things like it: the smallest mean
    /// distance, the first of equal ones.
    fn object(&self, label: &str, likes: &[Bounds]) -> Option<Cutout> {
        let items = &self.object_pool.items;
        let own: Vec<u64> =
            likes.iter().filter_map(|b| Some(average_hash(&crop(self.image, b)?))).collect();
        let labelled = self.object_pool.labels.get(&label.trim().to_lowercase())?.iter();
        let closest = labelled
            .filter(|at| items[**at].source != self.case)
            .min_by_key(|at| own.iter().map(|own| hamming(*own, items[**at].hash)).sum::<u32>())?;
        match self.object_pool.cutout(*closest) {
            Ok(object) => object,
            Err(error) => {
                if error.may_pass() {
                    self.unreadable.set(Some(error.to_string()));
                }
                None
            }
        }
    }
}

/// The part of an image in a box; `None` where the box lies outside.
fn crop(image: &Image, b: &Bounds) -> Option<Image> {
    let left = b.left.floor().clamp(0.0, image.width() as f32) as usize;
    let right = b.right.ceil().clamp(0.0, image.width() as f32) as usize;
    let top = b.top.floor().clamp(0.0, image.height() as f32) as usize;
    let bottom = b.bottom.ceil().clamp(0.0, image.height() as f32) as usize;
    let width = right.checked_sub(left)?;
    let height = bottom.checked_sub(top)?;
    let rows = (top..bottom).flat_map(|y| {
        let at = (y * image.width() + left) * 3;
        &image.rgb()[at..at + width * 3]
    });
    Image::from_rgb(width, height, rows.copied().collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_data::{PoolObject, write_pool};

    /// A car in a folder of its own, and the pool that has it.
    fn pool(dir: &Path) -> ObjectPool {
        let image = Image::from_rgb(2, 1, vec![9; 6]).unwrap();
        let cutout = Cutout {
            label: "car".to_owned(),
            source: "elsewhere.png".to_owned(),
            id: "one".to_owned(),
            hash: average_hash(&image),
            image,
            alpha: vec![255; 2],
        };
        let bounds = Bounds { left: 0.0, top: 0.0, right: 2.0, bottom: 1.0 };
        let object = PoolObject { cutout, bounds, score: None };
        ObjectPool::of_pool(write_pool(dir, "by hand", [Ok(object)]).unwrap())
    }

    #[test]
    fn an_object_that_is_gone_is_not_one_that_does_not_exist() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("pool");
        let pool = pool(&dir);
        let image = Image::from_rgb(4, 4, vec![0; 48]).unwrap();
        let unreadable = Cell::default();
        let supply = ImageSupply { object_pool: &pool, image: &image, case: "here", unreadable };
        std::fs::rename(&dir, temp.path().join("gone")).unwrap();
        assert!(supply.object("car", &[]).is_none());
        let why = supply.unreadable.take().unwrap();
        assert!(why.contains("cannot open the image"), "{why}");
        assert!(supply.object("truck", &[]).is_none());
        assert_eq!(supply.unreadable.take(), None);
        std::fs::rename(temp.path().join("gone"), &dir).unwrap();
        assert!(supply.object("car", &[]).is_some());
        assert_eq!(supply.unreadable.take(), None);
    }
}
