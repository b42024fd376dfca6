//! Pictures of predictions under every fault, side by side.

use crate::context::Context;
use faultlens_core::Outcome;
use faultlens_record::store::{PictureOf, ShownRecord, Store, StoreError};
use faultlens_record::{DetectionDiff, Record};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A target's predictions that can be drawn (areas, boxes, pictures) under every fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gallery {
    /// The target.
    pub target: String,
    /// The fault points, one per column after the image and the clean prediction.
    pub columns: Vec<String>,
    /// One row per case.
    pub rows: Vec<GalleryRow>,
    /// Whether frames show what became of objects: green as before, red changed, blue what came or
    /// went.
    pub objects: bool,
}

/// One case under every fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GalleryRow {
    /// The case's name. From outside; escape it.
    pub case: String,
    /// The image that was shown: a path below the run directory, to a PNG.
    pub image: Option<String>,
    /// The clean prediction.
    pub golden: Option<String>,
    /// The prediction under each fault, in the order of the columns.
    pub cells: Vec<Option<String>>,
    /// The trials that these are of, in the same order; empty in runs that were made before trials
    /// were chosen, which show the first of each.
    pub trials: Vec<Option<GalleryTrial>>,
}

/// A trial in a gallery.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GalleryTrial {
    /// Its number in the plan, which `replay` takes.
    pub number: u64,
    /// The outcome's name.
    pub outcome: String,
    /// Why it cannot be judged.
    pub reason: Option<String>,
    /// How many objects are `missed`, `spurious`, `relabelled` or `misplaced`.
    pub changes: BTreeMap<String, u64>,
    /// The clean prediction with lost objects highlighted, where objects were lost: a path below
    /// the run directory, to a PNG.
    pub before: Option<String>,
}

/// By what a picture is of, its path.
type Pictures = BTreeMap<PictureOf, String>;

/// The galleries of the targets that have one.
pub(crate) fn galleries(store: &Store, context: &Context) -> Result<Vec<Gallery>, StoreError> {
    let mut walls: BTreeMap<u32, Wall> = BTreeMap::new();
    for picture in store.pictures()? {
        let wall = walls.entry(picture.target).or_default();
        wall.cases.entry(picture.case).or_default().insert(picture.of, picture.path);
    }
    for shown in store.shown()? {
        // Without a drawn prediction there is no row for the trial.
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

/// All pictures and trials of a target.
#[derive(Default)]
struct Wall {
    cases: BTreeMap<u32, Pictures>,
    trials: BTreeMap<(u32, u32), GalleryTrial>,
}

impl Wall {
    fn gallery(mut self, target: u32, context: &Context) -> Option<Gallery> {
        let target = context.manifest.targets.get(target as usize)?.name.clone();
        let mut faults: BTreeSet<u32> = self.trials.keys().map(|(_, fault)| *fault).collect();
        let mut objects = false;
        for picture in self.cases.values().flat_map(BTreeMap::keys) {
            match picture {
                PictureOf::Fault(fault) => {
                    faults.insert(*fault);
                }
                PictureOf::Before(_) => objects = true,
                PictureOf::Case | PictureOf::Golden => {}
            }
        }
        let mut columns = Vec::new();
        for fault in &faults {
            columns
                .extend(context.manifest.faults.get(*fault as usize).map(|own| own.label.clone()));
        }
        let mut rows = Vec::new();
        for (case, pictures) in std::mem::take(&mut self.cases) {
            let name = context.case(case).map_or_else(String::new, |case| case.name.clone());
            rows.push(self.row(case, name, pictures, &faults));
        }
        Some(Gallery { target, columns, rows, objects })
    }

    fn row(
        &mut self,
        case: u32,
        name: String,
        mut pictures: Pictures,
        faults: &BTreeSet<u32>,
    ) -> GalleryRow {
        let golden = pictures.remove(&PictureOf::Golden);
        let mut cells = Vec::new();
        let mut trials = Vec::new();
        for &fault in faults {
            cells.push(pictures.remove(&PictureOf::Fault(fault)));
            // Where nothing was lost, the picture equals that of the clean prediction.
            let before = pictures.remove(&PictureOf::Before(fault));
            let before = before.filter(|path| Some(path) != golden.as_ref());
            let trial = self.trials.remove(&(case, fault));
            trials.push(trial.map(|trial| GalleryTrial { before, ..trial }));
        }
        if trials.iter().all(Option::is_none) {
            trials.clear();
        }
        GalleryRow { case: name, image: pictures.remove(&PictureOf::Case), golden, cells, trials }
    }
}
