//! Predictions where an object was inserted into a scene or removed from it: what MetaOD reports
//! (Wang and Su, ASE'20).

mod lost_objects;
mod placement;

pub use lost_objects::LostObjects;
pub use placement::PlacementEffect;

use crate::context::Context;
use crate::estimate::{Mean, Precision, Rate, Scope};
use crate::sample::{Sample, TrialDraw};
use faultlens_core::{Outcome, OutcomeKind, Reason};
use faultlens_record::store::FaultOn;
use faultlens_record::{ChangeCounts, DetectionDiff, Record, Spending};
use faultlens_stats::{self as stats, Range, StatsError, holm};
use lost_objects::least_score;
use placement::ByCase;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The predictions of a target where scenes were changed in one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedScenes {
    /// The target.
    pub target: String,
    /// The fault with its settings.
    pub fault: String,
    /// Objects that the target detects in the clean images.
    pub objects: u64,
    /// Clean images for which the target returns different predictions when queried twice.
    pub unsteady: u64,
    /// Scenes in which other detections changed.
    pub changed: Rate,
    /// Those of them that a drop of average precision reveals: the criterion of the paper.
    pub imprecise: u64,
    /// Those of them that are not the same image as another one.
    pub distinct: u64,
    /// Scenes in which an object was missed.
    pub missed: u64,
    /// Scenes in which an object was detected that is not there.
    pub spurious: u64,
    /// Scenes in which an object got another label.
    pub relabelled: u64,
    /// Scenes in which an object was detected too far from where it was.
    pub misplaced: u64,
    /// What came of moving inserted objects further; `None` where they stay.
    pub moved: Option<Relocations>,
    /// The share of the clean image's edges that the changed ones keep.
    pub naturalness: Mean,
    /// How often the target was queried.
    pub queries: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// What it cost, where that is known.
    pub money: Option<f64>,
}

/// What came of moving objects further that had changed a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Relocations {
    /// Positions on the way at which the prediction stayed changed.
    pub places: u64,
    /// Those of them that are not the same image as another one.
    pub distinct: u64,
    /// Objects that reached their destination, of those that could be moved.
    pub arrived: Rate,
    /// By tenths of the way, how many objects came that far; the last are those that arrived.
    /// Objects that could not be moved are left out.
    pub reach: Vec<u64>,
    /// The share of the clean image's edges that the images at the furthest positions keep.
    pub naturalness: Mean,
}

/// All changed scenes together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SceneTotal {
    /// The target; `None` for all of them.
    pub target: Option<String>,
    /// Objects detected in the clean images; an image counts once, however often it is changed.
    pub objects: u64,
    /// Clean images for which a target returns different predictions when queried twice.
    pub unsteady: u64,
    /// Judged scenes, without those of objects that were moved further.
    pub scenes: u64,
    /// Distinct images of objects that were moved further with the prediction still changed.
    pub moved: u64,
    /// Scenes in which other detections changed; where a stop rule ended some points sooner, among
    /// the repeats that all have.
    pub changed: Rate,
    /// How confident the target was of the objects that it lost; `None` where it lost none, and
    /// where the lowest score that it reports is not known.
    pub lost: Option<LostObjects>,
    /// How often targets were queried.
    pub queries: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// What it cost, where that is known.
    pub money: Option<f64>,
}

/// Naturalness is a share.
const SHARE: Range = Range::Between(0.0, 1.0);

/// Bins of how far objects were moved: tenths of the way, and those that arrived.
const REACHES: usize = 11;

/// What is counted of one target and fault point.
#[derive(Default)]
struct Cell {
    /// Changed and judged scenes by case.
    cases: ByCase,
    /// Judged scenes.
    judged: Sample,
    /// Judged scenes that count in the target's rate, and in the rate over all targets.
    together: [Sample; 2],
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
    /// Clean scores of objects that were lost.
    lost: Vec<f64>,
    naturalness: stats::Mean,
    moved_naturalness: stats::Mean,
    queries: u64,
    micros: u64,
}

/// Trials in changed scenes.
#[derive(Default)]
pub(crate) struct Scenes {
    /// By target and fault.
    cells: BTreeMap<(u32, u32), Cell>,
}

impl Scenes {
    /// `together`: whether the trial counts in its target's rate, and in the rate over all targets.
    pub(crate) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        draw: TrialDraw,
        together: [bool; 2],
    ) -> Result<(), StatsError> {
        let fault = context.manifest.faults.get(record.fault as usize);
        if fault.is_none_or(|fault| fault.on != FaultOn::Scene) {
            return Ok(());
        }
        self.cells.entry((record.target, record.fault)).or_default().add(record, draw, together)
    }

    /// By target and fault point.
    pub(crate) fn by_fault(
        &self,
        context: &Context,
        precision: &Precision,
        spending: Option<&Spending>,
    ) -> Result<Vec<ChangedScenes>, StatsError> {
        let mut all = Vec::new();
        for (&(target, fault), cell) in &self.cells {
            let fault = &context.manifest.faults[fault as usize].label;
            all.push(cell.summary(context.target_name(target), fault, precision, spending)?);
        }
        Ok(all)
    }

    /// By target, and where there are several of all of them.
    pub(crate) fn totals(
        &self,
        context: &Context,
        precision: &Precision,
        spending: Option<&Spending>,
    ) -> Result<Vec<SceneTotal>, StatsError> {
        let targets: BTreeSet<u32> = self.cells.keys().map(|(target, _)| *target).collect();
        let mut totals = Vec::new();
        for &target in &targets {
            let name = context.target_name(target);
            let own = self.cells.range((target, 0)..=(target, u32::MAX));
            let cells: Vec<(&str, &Cell)> = own.map(|(_, cell)| (name, cell)).collect();
            let mut total = total(Some(name), &cells, precision, spending)?;
            if let Some(least) = least_score(context, target) {
                let lost = cells.iter().flat_map(|(_, cell)| &cell.lost);
                total.lost = LostObjects::of(&lost.copied().collect::<Vec<f64>>(), least);
            }
            totals.push(total);
        }
        if targets.len() > 1 {
            let all = self.cells.iter();
            let cells: Vec<(&str, &Cell)> =
                all.map(|((target, _), cell)| (context.target_name(*target), cell)).collect();
            // Scores of several targets are not comparable, so that lost objects have no total.
            totals.push(total(None, &cells, precision, spending)?);
        }
        Ok(totals)
    }

    /// Objects placed close to others compared with objects placed at random, by target, of points
    /// that differ in nothing else.
    pub(crate) fn placement_effects(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<PlacementEffect>, StatsError> {
        let faults = &context.manifest.faults;
        let mut effects = Vec::new();
        for (&(target, fault), random) in &self.cells {
            let random_point = &faults[fault as usize];
            let mut settings = random_point.settings.clone();
            if settings.get("placing").and_then(|word| word.as_str()) != Some("random") {
                continue;
            }
            settings.insert("placing".to_owned(), "guided".into());
            let guided = self.cells.iter().find(|((own, other), _)| {
                let point = &faults[*other as usize];
                *own == target && point.name == random_point.name && point.settings == settings
            });
            let Some((_, guided)) = guided else { continue };
            let target = context.target_name(target);
            let label = &random_point.label;
            effects.extend(placement::compare(
                target,
                label,
                &guided.cases,
                &random.cases,
                precision,
            )?);
        }
        let p_values: Vec<f64> = effects.iter().map(|one| one.p_value).collect();
        for (one, corrected) in effects.iter_mut().zip(holm(&p_values)?) {
            one.p_value = corrected;
        }
        Ok(effects)
    }
}

impl Cell {
    fn add(
        &mut self,
        record: &Record,
        draw: TrialDraw,
        together: [bool; 2],
    ) -> Result<(), StatsError> {
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
        self.judged.add(draw, changed)?;
        for (sample, counts) in self.together.iter_mut().zip(together) {
            if counts {
                sample.add(draw, changed)?;
            }
        }
        if let Some(natural) = scene.and_then(|scene| scene.naturalness) {
            self.naturalness.add(natural)?;
        }
        if changed { self.add_changed(record) } else { Ok(()) }
    }

    /// Counts the kinds of change of a changed prediction, and how far its object was moved.
    fn add_changed(&mut self, record: &Record) -> Result<(), StatsError> {
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
        // Boxes are written with one decimal: closer ones show the same image.
        let bounds = scene.object.as_ref().map(|object| object.bounds.to_string());
        self.images.insert((record.case, id.clone(), bounds.unwrap_or_default()));
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

    fn summary(
        &self,
        target: &str,
        fault: &str,
        precision: &Precision,
        spending: Option<&Spending>,
    ) -> Result<ChangedScenes, StatsError> {
        Ok(ChangedScenes {
            target: target.to_owned(),
            fault: fault.to_owned(),
            objects: self.objects.values().sum(),
            unsteady: self.unsteady.len() as u64,
            changed: self.judged.rate(precision, Scope::Whole)?,
            imprecise: self.imprecise,
            distinct: self.images.len() as u64,
            missed: self.kinds.missed,
            spurious: self.kinds.spurious,
            relabelled: self.kinds.relabelled,
            misplaced: self.kinds.misplaced,
            moved: self.relocations(precision)?,
            naturalness: self.naturalness.estimate_in(SHARE, precision.intervals.level).into(),
            queries: self.queries,
            seconds: self.micros as f64 / 1e6,
            money: money(target, self.queries, spending),
        })
    }

    fn relocations(&self, precision: &Precision) -> Result<Option<Relocations>, StatsError> {
        if self.moved.is_empty() {
            return Ok(None);
        }
        let mut reach = vec![0; REACHES];
        let mut moved = 0;
        for share in self.moved.iter().copied().filter(|share| *share > 0.0) {
            moved += 1;
            // Up to a tenth is the first bin, all the way the last.
            let tenth = (share * 10.0).ceil() as usize - 1;
            reach[if share >= 1.0 { REACHES - 1 } else { tenth.min(REACHES - 2) }] += 1;
        }
        let level = precision.intervals.level;
        Ok(Some(Relocations {
            places: self.places,
            distinct: self.moved_images.len() as u64,
            arrived: precision.rate_of_draws(reach[REACHES - 1], moved)?,
            reach,
            naturalness: self.moved_naturalness.estimate_in(SHARE, level).into(),
        }))
    }
}

/// The sum of cells by target; `of` names the target where it is a single one.
fn total(
    of: Option<&str>,
    cells: &[(&str, &Cell)],
    precision: &Precision,
    spending: Option<&Spending>,
) -> Result<SceneTotal, StatsError> {
    let mut objects = BTreeMap::new();
    let mut unsteady = BTreeSet::new();
    let mut moved = BTreeSet::new();
    let mut judged = Sample::default();
    for (target, cell) in cells {
        objects.extend(cell.objects.iter().map(|(case, found)| ((target, case), found)));
        unsteady.extend(cell.unsteady.iter().map(|case| (target, case)));
        moved.extend(cell.moved_images.iter().map(|image| (target, image)));
        let [own, all] = &cell.together;
        judged.merge(if of.is_some() { own } else { all });
    }
    let spent = cells.iter().filter_map(|(target, cell)| money(target, cell.queries, spending));
    Ok(SceneTotal {
        target: of.map(str::to_owned),
        objects: objects.into_values().sum(),
        unsteady: unsteady.len() as u64,
        scenes: cells.iter().map(|(_, cell)| cell.judged.n()).sum(),
        moved: moved.len() as u64,
        changed: judged.rate(precision, Scope::Whole)?,
        lost: None,
        queries: cells.iter().map(|(_, cell)| cell.queries).sum(),
        seconds: cells.iter().map(|(_, cell)| cell.micros as f64 / 1e6).sum(),
        money: spent.reduce(|sum, one| sum + one),
    })
}

/// The cost of some queries, at the average cost of the target's calls.
fn money(target: &str, queries: u64, spending: Option<&Spending>) -> Option<f64> {
    let service = spending?.services.iter().find(|service| service.target == target)?;
    let sums = &service.account.campaign;
    (sums.calls > 0).then(|| sums.money / sums.calls as f64 * queries as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_put_into_tenths() {
        let cell = Cell { moved: vec![0.0, 0.05, 0.1, 0.11, 0.999, 1.0], ..Cell::default() };
        let precision = Precision::wilson();
        let moved = cell.relocations(&precision).unwrap().unwrap();
        assert_eq!(moved.reach, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!((moved.arrived.events, moved.arrived.n), (1, 5));
        assert_eq!(Cell::default().relocations(&precision).unwrap(), None);
    }
}
