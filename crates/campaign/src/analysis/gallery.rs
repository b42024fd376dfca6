//! Answers that can be looked at, side by side.

use super::attribute::Context;
use crate::store::{PictureOf, Store, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What faults make of a target's answers that can be drawn: areas, boxes, pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gallery {
    /// The target.
    pub target: String,
    /// The fault points, one per column behind the image and the undisturbed answer.
    pub columns: Vec<String>,
    /// One row per case.
    pub rows: Vec<GalleryRow>,
}

/// One case under every fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GalleryRow {
    /// The case's name. From outside; escape it.
    pub case: String,
    /// The image that was shown: a path below the run directory, to a PNG.
    pub image: Option<String>,
    /// The undisturbed answer.
    pub golden: Option<String>,
    /// The answer under each fault, in the order of the columns: its first trial.
    pub cells: Vec<Option<String>>,
}

/// The galleries of the targets that have one.
pub(super) fn galleries(store: &Store, context: &Context) -> Result<Vec<Gallery>, StoreError> {
    let mut targets: BTreeMap<u32, BTreeMap<u32, BTreeMap<PictureOf, String>>> = BTreeMap::new();
    for picture in store.pictures()? {
        let cases = targets.entry(picture.target).or_default();
        cases.entry(picture.case).or_default().insert(picture.of, picture.path);
    }
    let gallery = |(target, cases): (u32, BTreeMap<u32, BTreeMap<PictureOf, String>>)| {
        let of_faults = cases.values().flat_map(BTreeMap::keys).filter_map(|of| match of {
            PictureOf::Fault(fault) => Some(*fault),
            PictureOf::Case | PictureOf::Golden => None,
        });
        let faults: std::collections::BTreeSet<u32> = of_faults.collect();
        let label = |fault: &u32| Some(context.manifest.faults.get(*fault as usize)?.label.clone());
        let row = |(case, mut pictures): (u32, BTreeMap<PictureOf, String>)| GalleryRow {
            case: context.case(case).map_or_else(String::new, |case| case.name.clone()),
            image: pictures.remove(&PictureOf::Case),
            golden: pictures.remove(&PictureOf::Golden),
            cells: faults.iter().map(|&fault| pictures.remove(&PictureOf::Fault(fault))).collect(),
        };
        Some(Gallery {
            target: context.manifest.targets.get(target as usize)?.name.clone(),
            columns: faults.iter().filter_map(label).collect(),
            rows: cases.into_iter().map(row).collect(),
        })
    };
    Ok(targets.into_iter().filter_map(gallery).collect())
}
