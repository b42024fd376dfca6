//! One of two runs that are compared: its judged trials by keys that the other run's trials of the
//! same case, fault and repeat have, too.

use crate::context::Context;
use crate::error::AnalysisError;
use crate::estimate::Precision;
use crate::sample::TrialDraw;
use faultlens_core::OutcomeKind;
use faultlens_record::store::{ManifestFault, Store};
use faultlens_spec::FaultPoint;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A target with a fault point: what both runs must have for its trials to be compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    /// `None` where both runs have a single target, which is compared whatever its name.
    pub(crate) target: Option<String>,
    pub(crate) point: String,
}

/// What a trial of one run has in common with its partner in the other, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) cell: u32,
    case: u32,
    pub(crate) repeat: u32,
}

/// A case in both runs: its name, its pixels, and which of the cases with the same.
type Image = (String, u64, u32);

/// Numbers for what both runs have.
#[derive(Default)]
pub(crate) struct Names {
    cells: BTreeMap<Cell, u32>,
    images: BTreeMap<Image, u32>,
    /// How many numbers of cases are given away.
    cases: u32,
}

impl Names {
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&Cell, u32)> {
        self.cells.iter().map(|(cell, number)| (cell, *number))
    }

    fn cell(&mut self, cell: Cell) -> u32 {
        let next = self.cells.len() as u32;
        *self.cells.entry(cell).or_insert(next)
    }

    /// The number of an image; one without a digest of its pixels is like no other.
    fn case(&mut self, image: Option<Image>) -> u32 {
        let next = self.cases;
        let number = image.map_or(next, |image| *self.images.entry(image).or_insert(next));
        self.cases += u32::from(number == next);
        number
    }
}

/// The label of a fault point on its own: labels in a campaign name only the settings that it
/// sweeps over, and two runs need not sweep over the same.
fn label_alone(fault: &ManifestFault) -> String {
    let settings = fault.settings.clone().into_iter().collect();
    let point = FaultPoint::new(&fault.name, &settings).ok();
    // A fault that this version does not know keeps its label.
    let same = point.filter(|point| point.spec() == fault.spec);
    same.map_or_else(|| fault.label.clone(), |point| point.label)
}

/// A run, open.
pub(crate) struct Run {
    store: Store,
    context: Context,
    precision: Precision,
}

impl Run {
    pub(crate) fn open(dir: &Path) -> Result<Self, AnalysisError> {
        let store = Store::read(dir)?;
        let mut context = Context::new(&store)?;
        let precision = Precision::of(&context.campaign(&store)?);
        Ok(Self { store, context, precision })
    }

    pub(crate) fn has_several_targets(&self) -> bool {
        self.context.manifest.targets.len() > 1
    }

    /// Reads all judged trials; targets are told apart where one of the runs has several.
    pub(crate) fn side(&self, names: &mut Names, several: bool) -> Result<Side, AnalysisError> {
        let manifest = &self.context.manifest;
        let cases = self.cases(names);
        let mut cells: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (at, target) in (0..).zip(&manifest.targets) {
            for (fault, point) in (0..).zip(&manifest.faults) {
                let target = several.then(|| target.name.clone());
                let cell = Cell { target, point: label_alone(point) };
                cells.insert((at, fault), names.cell(cell));
            }
        }
        let mut trials = HashMap::new();
        let mut repeats = BTreeMap::new();
        self.store.for_each::<AnalysisError>(|record| {
            let cell = cells.get(&(record.target, record.fault));
            let (Some(&cell), Some(&case)) = (cell, cases.get(&record.case)) else { return Ok(()) };
            if manifest.faults[record.fault as usize].trials > 1 && self.precision.sequential {
                let most: &mut u32 = repeats.entry(cell).or_default();
                *most = (*most).max(record.repeat.saturating_add(1));
            }
            let kind = record.outcome.kind();
            // A search is no trial of a single fault.
            if kind != OutcomeKind::Skipped && !self.context.is_search(record.fault) {
                let key = Key { cell, case, repeat: record.repeat };
                let changed = kind == OutcomeKind::Changed;
                let draw = TrialDraw::of(&self.context, &record);
                // Runs number their faults and cases differently.
                let fault = draw.fault.map(|_| (0, cell, record.repeat));
                let grouped = draw.image >> 63 == 1;
                let image = if grouped { draw.image } else { u64::from(case) };
                trials.insert(key, Judged { changed, draw: TrialDraw { fault, image, ..draw } });
            }
            Ok(())
        })?;
        Ok(Side {
            name: manifest.name.clone(),
            precision: self.precision,
            whole: self.context.is_whole(&self.store.progress()?),
            trials,
            repeats,
        })
    }

    /// The number of every case.
    fn cases(&self, names: &mut Names) -> BTreeMap<u32, u32> {
        let mut seen: BTreeMap<(&str, u64), u32> = BTreeMap::new();
        let mut cases = BTreeMap::new();
        for case in self.context.cases() {
            let image = case.digest.map(|digest| {
                let same = seen.entry((case.name.as_str(), digest)).or_default();
                *same += 1;
                (case.name.clone(), digest, *same)
            });
            cases.insert(case.case, names.case(image));
        }
        cases
    }
}

/// What became of a judged trial, and how much it counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) changed: bool,
    pub(crate) draw: TrialDraw,
}

/// One run: which judged trials changed.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) precision: Precision,
    /// Whether nothing of the campaign is left to do.
    pub(crate) whole: bool,
    pub(crate) trials: HashMap<Key, Judged>,
    /// How many repeats a cell has, where a stop rule decided that.
    pub(crate) repeats: BTreeMap<u32, u32>,
}
