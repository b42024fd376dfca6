//! Two runs side by side.

mod direction;
mod side;

pub use direction::Direction;

use crate::error::AnalysisError;
use crate::estimate::{Precision, Rate, Scope};
use crate::sample::Sample;
use faultlens_core::Seed;
use faultlens_stats::{
    Clustered, Estimate, Level, MIN_IMAGES, StatsError, clustered_difference, clustered_test, holm,
};
use serde::Serialize;
use side::{Judged, Key, Names, Run, Side};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Two runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// The first run's name.
    pub first: String,
    /// The second run's name.
    pub second: String,
    /// All trials together, by target where a run has several, and by fault with settings; of
    /// targets with faults that both runs have.
    pub rows: Vec<Compared>,
    /// How rows were tested, or why they were not.
    #[serde(skip)]
    pub test: ComparisonTest,
    /// Which of the runs are complete.
    #[serde(skip)]
    pub complete: [bool; 2],
    /// How many targets with faults are left out, since only one run has judged trials of them.
    #[serde(skip)]
    pub left_out: u64,
}

/// How two runs were tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonTest {
    /// The sign-flip test of differences image by image, a permutation test of images where the
    /// runs have none in common; Holm's correction over all rows.
    ByImage,
    /// No test: one permanent fault is behind trials of many images.
    PermanentFaults,
    /// No test and no interval: too few images to say something about others.
    FewImages,
}

/// One pair of rates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What is compared.
    pub what: String,
    /// How often the prediction changed in the first run; among the pairs where there are some.
    pub first: Rate,
    /// How often the prediction changed in the second run; among the pairs where there are some.
    pub second: Rate,
    /// The second rate less the first; `None` where one is unknown.
    pub difference: Option<f64>,
    /// The lower end of the difference's interval.
    pub low: f64,
    /// The upper end of the difference's interval.
    pub high: f64,
    /// Images that both runs have.
    pub images: u64,
    /// Trials of the same image, fault and repeat that both runs judged; where there are none, the
    /// rates are compared as independent samples.
    pub pairs: u64,
    /// Judged trials of either run that have no partner in the other; in no rate where there are
    /// pairs.
    pub unpaired: u64,
    /// The corrected p-value of "both rates are the same among new images"; `None` where that was
    /// not tested.
    pub p_value: Option<f64>,
}

/// Compares two runs, trial by trial where both have the same images, faults and repeats.
pub fn compare(first: &Path, second: &Path) -> Result<RunComparison, AnalysisError> {
    let first = Run::open(first)?;
    let second = Run::open(second)?;
    let several = first.has_several_targets() || second.has_several_targets();
    let mut names = Names::default();
    let sides = [first.side(&mut names, several)?, second.side(&mut names, several)?];
    let (rows, left_out) = rows(&names, &sides);
    let counted = counted(&rows, &sides)?;
    let test = test(&counted);
    let p_values = if test == ComparisonTest::ByImage {
        let seed = Seed::new(0).child("compare");
        let raw: Vec<f64> = (0..).zip(&counted).map(|(at, row)| row.p_value(seed.at(at))).collect();
        holm(&raw)?.into_iter().map(Some).collect()
    } else {
        vec![None; rows.len()]
    };
    let precisions = [sides[0].precision, sides[1].precision];
    let mut compared = Vec::new();
    for ((row, counted), p_value) in rows.into_iter().zip(&counted).zip(p_values) {
        compared.push(counted.compared(row.what, precisions, p_value)?);
    }
    Ok(RunComparison {
        rows: compared,
        test,
        complete: [sides[0].whole, sides[1].whole],
        left_out: left_out as u64,
        first: sides[0].name.clone(),
        second: sides[1].name.clone(),
    })
}

/// How the rows can be tested; the first has all trials.
fn test(counted: &[Counted]) -> ComparisonTest {
    let Some(all) = counted.first() else { return ComparisonTest::FewImages };
    if all.all.iter().any(Sample::is_shared) {
        ComparisonTest::PermanentFaults
    } else if all.fewest_images() < MIN_IMAGES {
        ComparisonTest::FewImages
    } else {
        ComparisonTest::ByImage
    }
}

/// What is compared, and the cells that it is about.
struct Row {
    what: String,
    cells: BTreeSet<u32>,
}

/// All rows, over the cells that both runs have; and how many cells only one has.
fn rows(names: &Names, sides: &[Side; 2]) -> (Vec<Row>, usize) {
    let [first, second] = sides
        .each_ref()
        .map(|side| side.trials.keys().map(|key| key.cell).collect::<BTreeSet<_>>());
    let common: BTreeSet<u32> = first.intersection(&second).copied().collect();
    let left_out = first.symmetric_difference(&second).count();
    let mut targets = BTreeMap::new();
    let mut points = BTreeMap::new();
    for (cell, number) in names.cells().filter(|(_, number)| common.contains(number)) {
        if let Some(target) = &cell.target {
            let cells: &mut BTreeSet<u32> = targets.entry(target).or_default();
            cells.insert(number);
        }
        let cells: &mut BTreeSet<u32> = points.entry(&cell.point).or_default();
        cells.insert(number);
    }
    let mut rows = vec![Row { what: "all trials".to_owned(), cells: common }];
    for (name, cells) in targets {
        rows.push(Row { what: format!("target {name}"), cells });
    }
    for (label, cells) in points {
        rows.push(Row { what: label.clone(), cells });
    }
    (rows, left_out)
}

/// Counts the trials of every row.
fn counted(rows: &[Row], sides: &[Side; 2]) -> Result<Vec<Counted>, StatsError> {
    let mut of_cell: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        for cell in &row.cells {
            of_cell.entry(*cell).or_default().push(at);
        }
    }
    let mut counted: Vec<Counted> =
        rows.iter().map(|row| Counted::new(repeats(row, sides))).collect();
    let [first, second] = sides;
    for (at, (own, other)) in [(first, second), (second, first)].into_iter().enumerate() {
        for (key, trial) in sorted(own) {
            for row in of_cell.get(&key.cell).into_iter().flatten() {
                counted[*row].add(at, key.repeat, trial, other.trials.get(&key))?;
            }
        }
    }
    Ok(counted)
}

/// The trials of a run by key: sums of weights depend on their order, and that of a hash map is
/// chance.
fn sorted(side: &Side) -> Vec<(Key, Judged)> {
    let mut trials: Vec<(Key, Judged)> = side.trials.iter().map(|(a, b)| (*a, *b)).collect();
    trials.sort_unstable_by_key(|(key, _)| *key);
    trials
}

/// How many repeats a row counts: as many as all its cells have in both runs, because a stop rule
/// stops each by its own outcomes. A single cell has nothing to be weighted against.
fn repeats(row: &Row, sides: &[Side; 2]) -> Option<u32> {
    if row.cells.len() == 1 {
        return None;
    }
    let known = sides.iter().flat_map(|side| &side.repeats);
    known.filter(|(cell, _)| row.cells.contains(cell)).map(|(_, repeats)| *repeats).min()
}

/// The trials of one row.
struct Counted {
    repeats: Option<u32>,
    pairs: u64,
    /// Of either run, all trials, and those that have a partner.
    all: [Sample; 2],
    paired: [Sample; 2],
}

impl Counted {
    fn new(repeats: Option<u32>) -> Self {
        Self { repeats, pairs: 0, all: Default::default(), paired: Default::default() }
    }

    /// Counts a trial of one of the runs, and its pair with the first one's.
    fn add(
        &mut self,
        side: usize,
        repeat: u32,
        trial: Judged,
        partner: Option<&Judged>,
    ) -> Result<(), StatsError> {
        if self.repeats.is_some_and(|repeats| repeat >= repeats) {
            return Ok(());
        }
        let Judged { changed, draw } = trial;
        self.all[side].add(draw, changed)?;
        if partner.is_some() {
            self.paired[side].add(draw, changed)?;
            self.pairs += u64::from(side == 0);
        }
        Ok(())
    }

    /// What is compared: the pairs where there are some, else all trials.
    fn samples(&self) -> &[Sample; 2] {
        if self.pairs > 0 { &self.paired } else { &self.all }
    }

    /// The compared trials of either run by image.
    fn images(&self) -> [&Clustered; 2] {
        self.samples().each_ref().map(Sample::images)
    }

    fn fewest_images(&self) -> u64 {
        self.images().into_iter().map(Clustered::len).min().unwrap_or(0)
    }

    fn p_value(&self, seed: Seed) -> f64 {
        let [first, second] = self.images();
        let mut stream = seed.stream();
        clustered_test(first, second, || stream.next_u64())
    }

    /// The second rate less the first. Where permanent faults are a sample beside the images, from
    /// one interval's end to the other's: by Bonferroni's inequality each may err half as often as
    /// the difference.
    fn difference(&self, precisions: [Precision; 2]) -> Result<Estimate, StatsError> {
        let [a, b] = precisions.map(|precision| precision.intervals.level);
        // The higher of both levels of confidence.
        let level = if a.confidence() < b.confidence() { b } else { a };
        if !self.all.iter().any(Sample::is_shared) {
            let [first, second] = self.images();
            return clustered_difference(first, second, level);
        }
        let level = Level::new(1.0 - level.alpha() / 2.0)?;
        let mut wider = precisions;
        for precision in &mut wider {
            precision.intervals.level = level;
        }
        let [first, second] = self.rates(wider)?;
        let value = first.value.zip(second.value).map(|(first, second)| second - first);
        Ok(Estimate {
            value,
            low: second.low - first.high,
            high: second.high - first.low,
            n: first.n + second.n,
        })
    }

    /// Both rates, corrected where trials count differently.
    fn rates(&self, precisions: [Precision; 2]) -> Result<[Rate; 2], StatsError> {
        let [first, second] = self.samples();
        Ok([first.rate(&precisions[0], Scope::Whole)?, second.rate(&precisions[1], Scope::Whole)?])
    }

    fn compared(
        &self,
        what: String,
        precisions: [Precision; 2],
        p_value: Option<f64>,
    ) -> Result<Compared, StatsError> {
        let estimate = self.difference(precisions)?;
        let [first, second] = self.rates(precisions)?;
        let difference = second.value.zip(first.value).map(|(second, first)| second - first);
        // Where weights correct the rates, the interval is that of a ratio of sums, which lies
        // around another estimate of the same.
        let shift = difference.zip(estimate.value).map_or(0.0, |(shown, own)| shown - own);
        Ok(Compared {
            what,
            difference,
            low: (estimate.low + shift).max(-1.0),
            high: (estimate.high + shift).min(1.0),
            images: if self.pairs > 0 { first.images } else { 0 },
            pairs: self.pairs,
            unpaired: self.all[0].n() + self.all[1].n() - 2 * self.pairs,
            p_value,
            first,
            second,
        })
    }
}
