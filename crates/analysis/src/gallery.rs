//! Answers that can be looked at, side by side.

use super::attribute::Context;
use faultlens_core::Outcome;
use faultlens_record::store::{PictureOf, ShownRecord, Store, StoreError};
use faultlens_record::{DetectionDiff, Record};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What faults make of a target's answers that can be drawn: areas, boxes, pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gallery {
    /// The target.
    pub target: String,
    /// The fault points, one per column behind the image and the undisturbed answer.
    pub columns: Vec<String>,
    /// One row per case.
    pub rows: Vec<GalleryRow>,
    /// Whether frames show what became of objects: green as before, red changed, blue what came or
    /// went.
    #[serde(default)]
    pub objects: bool,
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
    /// The answer under each fault, in the order of the columns.
    pub cells: Vec<Option<String>>,
    /// The trials that these are of, in the same order; empty in runs that were made before trials
    /// were chosen, which show the first of each.
    #[serde(default)]
    pub trials: Vec<Option<GalleryTrial>>,
}

/// A trial in a gallery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GalleryTrial {
    /// Its place in the plan; what `replay` takes.
    pub number: u64,
    /// The outcome's name.
    pub outcome: String,
    /// Why it cannot be judged.
    pub reason: Option<String>,
    /// How many objects are `missed`, `spurious`, `relabelled` or `misplaced`.
    pub changes: BTreeMap<String, u64>,
    /// The undisturbed answer with what is gone standing out, where something is: a path below the
    /// run directory, to a PNG.
    pub before: Option<String>,
}

/// By what a picture is of, its path.
type Pictures = BTreeMap<PictureOf, String>;

/// The galleries of the targets that have one.
pub(super) fn galleries(store: &Store, context: &Context) -> Result<Vec<Gallery>, StoreError> {
    let mut walls: BTreeMap<u32, Wall> = BTreeMap::new();
    for picture in store.pictures()? {
        let wall = walls.entry(picture.target).or_default();
        wall.cases.entry(picture.case).or_default().insert(picture.of, picture.path);
    }
    for shown in store.shown()? {
        // Where no answer could be drawn, there is nothing to hang words on.
        let Some(wall) = walls.get_mut(&shown.target) else { continue };
        if let Some(record) = store.record(shown.number)? {
            wall.trials.insert((shown.case, shown.fault), trial(shown, &record));
        }
    }
    Ok(walls.into_iter().filter_map(|(target, wall)| wall.gallery(target, context)).collect())
}

fn trial(shown: ShownRecord, record: &Record) -> GalleryTrial {
    let diff = record.measures.detections.as_ref();
    let counts = diff.map(DetectionDiff::counts).unwrap_or_default();
    let kinds = [
        ("missed", counts.missed),
        ("spurious", counts.spurious),
        ("relabelled", counts.relabelled),
        ("misplaced", counts.misplaced),
    ];
    let changes = kinds.into_iter().filter(|(_, count)| *count > 0);
    GalleryTrial {
        number: shown.number,
        outcome: record.outcome.kind().name().to_owned(),
        reason: match &record.outcome {
            Outcome::Skipped(reason) => Some(reason.to_string()),
            _ => None,
        },
        changes: changes.map(|(kind, count)| (kind.to_owned(), count)).collect(),
        before: None,
    }
}

/// All pictures of a target.
#[derive(Default)]
struct Wall {
    cases: BTreeMap<u32, Pictures>,
    trials: BTreeMap<(u32, u32), GalleryTrial>,
}

impl Wall {
    fn gallery(mut self, target: u32, context: &Context) -> Option<Gallery> {
        let mut faults: BTreeSet<u32> = self.trials.keys().map(|(_, fault)| *fault).collect();
        let pictures = self.cases.values().flat_map(BTreeMap::keys);
        faults.extend(pictures.filter_map(|of| match of {
            PictureOf::Fault(fault) => Some(*fault),
            PictureOf::Case | PictureOf::Golden | PictureOf::Before(_) => None,
        }));
        let pictures = self.cases.values().flat_map(BTreeMap::keys);
        let objects = pictures.into_iter().any(|of| matches!(of, PictureOf::Before(_)));
        let label = |fault: &u32| Some(context.manifest.faults.get(*fault as usize)?.label.clone());
        let cases = std::mem::take(&mut self.cases);
        let rows = cases.into_iter().map(|(case, pictures)| {
            let name = context.case(case).map_or_else(String::new, |case| case.name.clone());
            self.row((case, name), pictures, &faults)
        });
        let rows: Vec<GalleryRow> = rows.collect();
        Some(Gallery {
            target: context.manifest.targets.get(target as usize)?.name.clone(),
            columns: faults.iter().filter_map(label).collect(),
            rows,
            objects,
        })
    }

    fn row(
        &mut self,
        (case, name): (u32, String),
        mut pictures: Pictures,
        faults: &BTreeSet<u32>,
    ) -> GalleryRow {
        let golden = pictures.remove(&PictureOf::Golden);
        let mut trial = |fault: u32| {
            // Where nothing is gone, it is the undisturbed answer once more.
            let before = pictures.remove(&PictureOf::Before(fault));
            let before = before.filter(|path| Some(path) != golden.as_ref());
            Some(GalleryTrial { before, ..self.trials.remove(&(case, fault))? })
        };
        let trials: Vec<_> = faults.iter().map(|&fault| trial(fault)).collect();
        let chosen = trials.iter().any(Option::is_some);
        GalleryRow {
            case: name,
            image: pictures.remove(&PictureOf::Case),
            golden,
            cells: faults.iter().map(|&fault| pictures.remove(&PictureOf::Fault(fault))).collect(),
            trials: if chosen { trials } else { Vec::new() },
        }
    }
}
