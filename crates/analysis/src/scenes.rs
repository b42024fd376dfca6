//! How answers fared where something came into the scene or went out of it: what MetaOD reports
//! (Wang and Su, ASE'20).

use super::attribute::Context;
use super::lost::{LostObjects, least_score};
use super::placing::{ByCase, Placed, beside, counts};
use super::tally::Precision;
use super::{Mean, Rate};
use faultlens_core::{Outcome, OutcomeKind, Reason};
use faultlens_record::store::FaultOn;
use faultlens_record::{ChangeCounts, DetectionDiff, Record, Spending};
use faultlens_stats::{Mean as Sample, Range, StatsError, holm};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How a target answered where scenes were changed in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedScenes {
    /// The target.
    pub target: String,
    /// The fault with its settings.
    pub fault: String,
    /// Objects that the target finds in the undisturbed images.
    pub objects: u64,
    /// Undisturbed images about which the target disagrees with itself.
    pub unsteady: u64,
    /// Changed scenes whose other objects were not found as before.
    pub changed: Rate,
    /// Those of them that average precision tells: the paper's criterion.
    pub imprecise: u64,
    /// Those of them that are not the same image as another one.
    pub distinct: u64,
    /// Scenes in which an object was missed.
    pub missed: u64,
    /// Scenes in which an object was found that is not there.
    pub spurious: u64,
    /// Scenes in which an object was called otherwise.
    pub relabelled: u64,
    /// Scenes in which an object was found too far from where it was.
    pub misplaced: u64,
    /// What came of moving inserted objects on; `None` where they stay.
    pub moved: Option<MovedOn>,
    /// How much of the undisturbed image's edges the changed ones have.
    pub naturalness: Mean,
    /// How often the target was asked.
    pub queries: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// What it cost, where that is known.
    pub money: Option<f64>,
}

/// What came of moving objects on that disturbed an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MovedOn {
    /// Places on the way at which the answer was disturbed.
    pub places: u64,
    /// Those of them that are not the same image as another one.
    pub distinct: u64,
    /// Objects that reached their destination, of those that could be moved.
    pub arrived: Rate,
    /// By tenths of the way, how many objects came so far; the last are those that arrived. Objects
    /// that could not be moved are left out.
    pub reach: Vec<u64>,
    /// How much of the undisturbed image's edges the images at the furthest places have.
    pub naturalness: Mean,
}

/// All changed scenes together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SceneTotal {
    /// The target; `None` for all of them.
    pub target: Option<String>,
    /// Objects found in the undisturbed images; an image counts once, however often it is changed.
    pub objects: u64,
    /// Undisturbed images about which a target disagrees with itself.
    pub unsteady: u64,
    /// Judged scenes, without places further on.
    pub scenes: u64,
    /// Places further on at which the answer was disturbed, not the same image as another one.
    pub moved: u64,
    /// Changed scenes whose other objects were not found as before; where a stop rule ended some
    /// points sooner, of those that count together.
    pub changed: Rate,
    /// How sure the target was of the objects that it lost; `None` where it lost none, and where
    /// nobody knows how unsure it may be.
    #[serde(default)]
    pub lost: Option<LostObjects>,
    /// How often targets were asked.
    pub queries: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// What it cost, where that is known.
    pub money: Option<f64>,
}

/// Naturalness is a share.
const SHARE: Range = Range::Between(0.0, 1.0);

/// Tenths of the way, and those that arrived.
const REACHES: usize = 11;

/// What is counted of one target and fault point.
#[derive(Default)]
struct Cell {
    /// By case: changed and judged scenes.
    cases: ByCase,
    /// Changed and judged scenes that count together with the target's others, and with all.
    together: [[u64; 2]; 2],
    objects: BTreeMap<u32, u64>,
    unsteady: BTreeSet<u32>,
    /// Scenes in which some object changed in each way.
    kinds: ChangeCounts,
    /// Scenes whose average precision tells the change.
    imprecise: u64,
    images: BTreeSet<(u32, String, String)>,
    moved: Vec<f64>,
    places: u64,
    moved_images: BTreeSet<(u32, String, [u32; 2])>,
    /// Undisturbed scores of objects that were lost.
    lost: Vec<f64>,
    naturalness: Sample,
    moved_naturalness: Sample,
    queries: u64,
    micros: u64,
}

/// Trials in changed scenes.
#[derive(Default)]
pub(super) struct Scenes {
    /// By target and fault.
    cells: BTreeMap<(u32, u32), Cell>,
}

impl Scenes {
    /// `together`: whether the trial counts with its target's others, and with all.
    pub(super) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        together: [bool; 2],
    ) -> Result<(), StatsError> {
        let fault = context.manifest.faults.get(record.fault as usize);
        if fault.is_none_or(|fault| fault.on != FaultOn::Scene) {
            return Ok(());
        }
        self.cells.entry((record.target, record.fault)).or_default().add(record, together)
    }

    /// By target and fault point.
    pub(super) fn told(
        &self,
        context: &Context,
        precision: &Precision,
        spending: Option<&Spending>,
    ) -> Result<Vec<ChangedScenes>, StatsError> {
        let told = |(&(target, fault), cell): (&(u32, u32), &Cell)| {
            let target = &context.manifest.targets[target as usize].name;
            let fault = &context.manifest.faults[fault as usize].label;
            cell.told(target, fault, precision, spending)
        };
        self.cells.iter().map(told).collect()
    }

    /// By target, and where there are several of all of them.
    pub(super) fn totals(
        &self,
        context: &Context,
        precision: &Precision,
        spending: Option<&Spending>,
    ) -> Result<Vec<SceneTotal>, StatsError> {
        let targets: BTreeSet<u32> = self.cells.keys().map(|(target, _)| *target).collect();
        let each = targets.iter().map(|&target| Some(target));
        let all = (targets.len() > 1).then_some(None);
        let name = |target: u32| context.manifest.targets[target as usize].name.as_str();
        let total = |of: Option<u32>| {
            let own =
                self.cells.iter().filter(|((target, _), _)| of.is_none_or(|of| of == *target));
            let own = own.map(|((target, _), cell)| (name(*target), cell));
            let cells: Vec<_> = own.collect();
            let all = total(of.map(name), &cells, precision, spending)?;
            // Scores of several targets mean different things.
            let least = of.and_then(|of| least_score(context, of));
            Ok(SceneTotal { lost: least.and_then(|least| lost_of(&cells, least)), ..all })
        };
        each.chain(all).map(total).collect()
    }

    /// Objects close to others beside objects anywhere, by target, of points that differ in nothing
    /// else.
    pub(super) fn placed(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Placed>, StatsError> {
        let mut placed = Vec::new();
        for (&(target, fault), random) in &self.cells {
            let faults = &context.manifest.faults;
            let mut settings = faults[fault as usize].settings.clone();
            if settings.get("placing").and_then(|word| word.as_str()) != Some("random") {
                continue;
            }
            settings.insert("placing".to_owned(), "guided".into());
            let same = |other: &&(u32, u32)| {
                let own = &faults[other.1 as usize];
                other.0 == target
                    && (&own.name, &own.settings) == (&faults[fault as usize].name, &settings)
            };
            let Some(guided) = self.cells.keys().find(same) else { continue };
            let name = &context.manifest.targets[target as usize].name;
            let label = &faults[fault as usize].label;
            let of = (name.as_str(), label.as_str());
            let both = [&self.cells[guided].cases, &random.cases];
            placed.extend(beside(of, both, precision)?);
        }
        let p_values: Vec<f64> = placed.iter().map(|one| one.p_value).collect();
        for (one, corrected) in placed.iter_mut().zip(holm(&p_values)?) {
            one.p_value = corrected;
        }
        Ok(placed)
    }
}

impl Cell {
    fn add(&mut self, record: &Record, together: [bool; 2]) -> Result<(), StatsError> {
        self.queries += u64::from(record.cost.queries);
        self.micros = self.micros.saturating_add(record.cost.micros);
        let scene = record.measures.scene.as_ref();
        if record.outcome == Outcome::Skipped(Reason::GoldenUnstable) {
            self.unsteady.insert(record.case);
        }
        if let Some(scene) = scene {
            self.objects.insert(record.case, scene.objects_found);
        }
        if record.outcome.kind() == OutcomeKind::Skipped {
            return Ok(());
        }
        let changed = record.outcome.kind() == OutcomeKind::Changed;
        let case = self.cases.entry(record.case).or_default();
        case[0] += u64::from(changed);
        case[1] += 1;
        for ([events, n], counts) in self.together.iter_mut().zip(together) {
            *events += u64::from(counts && changed);
            *n += u64::from(counts);
        }
        if let Some(natural) = scene.and_then(|scene| scene.naturalness) {
            self.naturalness.add(natural)?;
        }
        if changed { self.disturbed(record) } else { Ok(()) }
    }

    /// Counts what a changed answer has of each kind, and how far its object came.
    fn disturbed(&mut self, record: &Record) -> Result<(), StatsError> {
        let diff = record.measures.detections.as_ref();
        let counts = diff.map(DetectionDiff::counts).unwrap_or_default();
        self.kinds.missed += u64::from(counts.missed > 0);
        self.kinds.spurious += u64::from(counts.spurious > 0);
        self.kinds.relabelled += u64::from(counts.relabelled > 0);
        self.kinds.misplaced += u64::from(counts.misplaced > 0);
        self.imprecise += u64::from(record.measures.voc_ap.is_some());
        let missed = diff.iter().flat_map(|diff| &diff.missed);
        self.lost.extend(missed.map(|object| f64::from(object.score)));
        let Some(scene) = &record.measures.scene else { return Ok(()) };
        let id = scene.object.as_ref().and_then(|object| object.id.clone()).unwrap_or_default();
        // Boxes within a tenth of a pixel show the same image.
        let place = scene.object.as_ref().map(|object| object.bounds.to_string());
        self.images.insert((record.case, id.clone(), place.unwrap_or_default()));
        let Some(relocation) = &scene.relocation else { return Ok(()) };
        self.moved.push(relocation.share);
        for place in &relocation.places {
            self.places += 1;
            self.moved_images.insert((record.case, id.clone(), place.map(f32::to_bits)));
        }
        match relocation.naturalness {
            Some(natural) => self.moved_naturalness.add(natural),
            None => Ok(()),
        }
    }

    fn counts(&self) -> [u64; 2] {
        counts(&self.cases)
    }

    fn told(
        &self,
        target: &str,
        fault: &str,
        precision: &Precision,
        spending: Option<&Spending>,
    ) -> Result<ChangedScenes, StatsError> {
        let [changed, n] = self.counts();
        let mean = |of: &Sample| Mean::of(of.estimate_in(SHARE, precision.intervals.level));
        Ok(ChangedScenes {
            target: target.to_owned(),
            fault: fault.to_owned(),
            objects: self.objects.values().sum(),
            unsteady: self.unsteady.len() as u64,
            changed: precision.rate(changed, n)?,
            imprecise: self.imprecise,
            distinct: self.images.len() as u64,
            missed: self.kinds.missed,
            spurious: self.kinds.spurious,
            relabelled: self.kinds.relabelled,
            misplaced: self.kinds.misplaced,
            moved: self.moved_on(precision)?,
            naturalness: mean(&self.naturalness),
            queries: self.queries,
            seconds: self.micros as f64 / 1e6,
            money: money(target, self.queries, spending),
        })
    }

    fn moved_on(&self, precision: &Precision) -> Result<Option<MovedOn>, StatsError> {
        if self.moved.is_empty() {
            return Ok(None);
        }
        let mut reach = vec![0; REACHES];
        let moved: Vec<f64> = self.moved.iter().copied().filter(|share| *share > 0.0).collect();
        for share in &moved {
            // Up to a tenth is the first bin, all the way the last.
            let at = (share * 10.0).ceil() as usize - 1;
            reach[if *share >= 1.0 { REACHES - 1 } else { at.min(REACHES - 2) }] += 1;
        }
        let arrived = precision.rate(reach[REACHES - 1], moved.len() as u64)?;
        Ok(Some(MovedOn {
            places: self.places,
            distinct: self.moved_images.len() as u64,
            arrived,
            reach,
            naturalness: Mean::of(
                self.moved_naturalness.estimate_in(SHARE, precision.intervals.level),
            ),
        }))
    }
}

/// What cells of targets come to; `of` names the target where it is one.
fn total(
    of: Option<&str>,
    cells: &[(&str, &Cell)],
    precision: &Precision,
    spending: Option<&Spending>,
) -> Result<SceneTotal, StatsError> {
    let mut objects = BTreeMap::new();
    let (mut unsteady, mut moved) = (BTreeSet::new(), BTreeSet::new());
    let [mut events, mut n] = [0, 0];
    for (target, cell) in cells {
        objects.extend(cell.objects.iter().map(|(case, found)| ((target, case), found)));
        unsteady.extend(cell.unsteady.iter().map(|case| (target, case)));
        moved.extend(cell.moved_images.iter().map(|image| (target, image)));
        let [own, all] = cell.together;
        let counted = if of.is_some() { own } else { all };
        events += counted[0];
        n += counted[1];
    }
    let spent = cells.iter().filter_map(|(target, cell)| money(target, cell.queries, spending));
    Ok(SceneTotal {
        target: of.map(str::to_owned),
        objects: objects.into_values().sum(),
        unsteady: unsteady.len() as u64,
        scenes: cells.iter().map(|(_, cell)| cell.counts()[1]).sum(),
        moved: moved.len() as u64,
        changed: precision.rate(events, n)?,
        lost: None,
        queries: cells.iter().map(|(_, cell)| cell.queries).sum(),
        seconds: cells.iter().map(|(_, cell)| cell.micros as f64 / 1e6).sum(),
        money: spent.reduce(|sum, one| sum + one),
    })
}

fn lost_of(cells: &[(&str, &Cell)], least: f64) -> Option<LostObjects> {
    let scores: Vec<f64> = cells.iter().flat_map(|(_, cell)| &cell.lost).copied().collect();
    LostObjects::of(&scores, least)
}

/// What so many questions cost at what the target's calls cost on average.
fn money(target: &str, queries: u64, spending: Option<&Spending>) -> Option<f64> {
    let service = spending?.services.iter().find(|service| service.target == target)?;
    let sums = &service.account.campaign;
    (sums.calls > 0).then(|| sums.money / sums.calls as f64 * queries as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_spec::{Intervals, Method};
    use faultlens_stats::Level;

    #[test]
    fn ways_are_put_into_tenths() {
        let cell = Cell { moved: vec![0.0, 0.05, 0.1, 0.11, 0.999, 1.0], ..Cell::default() };
        let intervals = Intervals { method: Method::Wilson, level: Level::default() };
        let precision = Precision { intervals, sequential: false };
        let moved = cell.moved_on(&precision).unwrap().unwrap();
        assert_eq!(moved.reach, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!((moved.arrived.events, moved.arrived.n), (1, 5));
        assert_eq!(Cell::default().moved_on(&precision).unwrap(), None);
    }
}
