//! How answers fared where something came into the scene or went out of it: what MetaOD reports
//! (Wang and Su, ASE'20).

use super::attribute::Context;
use super::tally::Precision;
use super::{Mean, Rate};
use crate::changes::{MISPLACED, MISSED, RELABELLED, SPURIOUS, VOC_AP};
use crate::record::Record;
use crate::run::Spending;
use crate::scene::said;
use crate::store::FaultOn;
use faultlens_core::{Outcome, OutcomeKind, Reason, Seed};
use faultlens_stats::{Bootstrap, Mean as Sample, StatsError, holm};
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

/// Objects put close to others, beside objects put anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The target.
    pub target: String,
    /// The fault with its settings, where objects are anywhere.
    pub fault: String,
    /// Cases that have scenes of both kinds.
    pub cases: u64,
    /// Scenes that changed the answer, of objects close to others.
    pub guided: Rate,
    /// The same of objects anywhere.
    pub random: Rate,
    /// How much more often in the same case, the mean over cases weighted by what each tells; the
    /// interval is over cases.
    pub difference: Mean,
    /// How likely such a difference is where placing does not matter: both ways of a case swapped.
    /// Corrected for the number of comparisons (Holm).
    pub p_value: f64,
}

/// Tenths of the way, and those that arrived.
const REACHES: usize = 11;

/// How often cases are drawn again, or swapped.
const DRAWS: usize = 2000;

/// What is counted of one target and fault point.
#[derive(Default)]
struct Cell {
    /// By case: changed and judged scenes.
    cases: BTreeMap<u32, [u64; 2]>,
    objects: BTreeMap<u32, u64>,
    unsteady: BTreeSet<u32>,
    kinds: BTreeMap<&'static str, u64>,
    images: BTreeSet<(u32, String, String)>,
    moved: Vec<f64>,
    places: u64,
    moved_images: BTreeSet<(u32, String, String)>,
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
    pub(super) fn add(&mut self, context: &Context, record: &Record) -> Result<(), StatsError> {
        let fault = context.manifest.faults.get(record.fault as usize);
        if fault.is_none_or(|fault| fault.on != FaultOn::Scene) {
            return Ok(());
        }
        self.cells.entry((record.target, record.fault)).or_default().add(record)
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
            placed.extend(beside([name, label], &self.cells[guided], random, precision)?);
        }
        let p_values: Vec<f64> = placed.iter().map(|one| one.p_value).collect();
        for (one, p_value) in placed.iter_mut().zip(holm(&p_values)?) {
            one.p_value = p_value;
        }
        Ok(placed)
    }
}

impl Cell {
    fn add(&mut self, record: &Record) -> Result<(), StatsError> {
        self.queries += u64::from(record.queries);
        self.micros = self.micros.saturating_add(record.micros);
        let text = |name: &str| record.extra.get(name);
        let number = |name: &str| text(name).and_then(|text| text.parse::<f64>().ok());
        if record.outcome == Outcome::Unjudged(Reason::Unsteady) {
            self.unsteady.insert(record.case);
        }
        if let Some(found) = text(said::FOUND).and_then(|found| found.parse().ok()) {
            self.objects.insert(record.case, found);
        }
        if record.outcome.kind() == OutcomeKind::Unjudged {
            return Ok(());
        }
        let changed = record.outcome.kind() == OutcomeKind::Deviated;
        let case = self.cases.entry(record.case).or_default();
        case[0] += u64::from(changed);
        case[1] += 1;
        if let Some(natural) = number(said::NATURALNESS) {
            self.naturalness.add(natural)?;
        }
        if !changed {
            return Ok(());
        }
        for kind in [MISSED, SPURIOUS, RELABELLED, MISPLACED, VOC_AP] {
            *self.kinds.entry(kind).or_default() += u64::from(text(kind).is_some());
        }
        let object = text(said::OBJECT).cloned().unwrap_or_default();
        let place = text(said::BOX).cloned().unwrap_or_default();
        self.images.insert((record.case, object.clone(), place));
        if let Some(share) = number(said::MOVED) {
            self.moved.push(share);
        }
        for place in text(said::MOVED_TO).iter().flat_map(|places| places.split("; ")) {
            self.places += 1;
            self.moved_images.insert((record.case, object.clone(), place.to_owned()));
        }
        match number(said::MOVED_NATURALNESS) {
            Some(natural) => self.moved_naturalness.add(natural),
            None => Ok(()),
        }
    }

    fn counts(&self) -> [u64; 2] {
        self.cases.values().fold([0, 0], |[a, b], [changed, n]| [a + changed, b + n])
    }

    fn told(
        &self,
        target: &str,
        fault: &str,
        precision: &Precision,
        spending: Option<&Spending>,
    ) -> Result<ChangedScenes, StatsError> {
        let [changed, n] = self.counts();
        let kind = |name: &str| self.kinds.get(name).copied().unwrap_or(0);
        let mean = |of: &Sample| Mean::of(of.estimate(precision.intervals.level));
        Ok(ChangedScenes {
            target: target.to_owned(),
            fault: fault.to_owned(),
            objects: self.objects.values().sum(),
            unsteady: self.unsteady.len() as u64,
            changed: precision.rate(changed, n)?,
            imprecise: kind(VOC_AP),
            distinct: self.images.len() as u64,
            missed: kind(MISSED),
            spurious: kind(SPURIOUS),
            relabelled: kind(RELABELLED),
            misplaced: kind(MISPLACED),
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
            naturalness: Mean::of(self.moved_naturalness.estimate(precision.intervals.level)),
        }))
    }
}

/// What so many questions cost at what the target's calls cost on average.
fn money(target: &str, queries: u64, spending: Option<&Spending>) -> Option<f64> {
    let service = spending?.services.iter().find(|service| service.target == target)?;
    let sums = &service.account.campaign;
    (sums.calls > 0).then(|| sums.money / sums.calls as f64 * queries as f64)
}

/// Changed and judged scenes of one case, of objects close to others and of objects anywhere.
type Pair = [[u64; 2]; 2];

/// Fewer cases than this have no interval that means anything.
const FEWEST: usize = 5;

/// Both ways of placing, over the cases that have both; `None` where those are too few.
fn beside(
    [target, fault]: [&String; 2],
    guided: &Cell,
    random: &Cell,
    precision: &Precision,
) -> Result<Option<Placed>, StatsError> {
    let both = guided.cases.iter();
    let both: Vec<Pair> =
        both.filter_map(|(case, own)| Some([*own, *random.cases.get(case)?])).collect();
    if both.len() < FEWEST {
        return Ok(None);
    }
    let seed = Seed::new(0).child("placing");
    let mut stream = seed.child("cases").stream();
    let estimate = Bootstrap::new(DRAWS, precision.intervals.level)?.percentile(
        both.len(),
        || stream.next_u64(),
        |at| difference(at.iter().map(|&at| both[at])),
    )?;
    let rate = |way: usize| {
        let sum = |i: usize| both.iter().map(|pair| pair[way][i]).sum();
        precision.rate(sum(0), sum(1))
    };
    Ok(Some(Placed {
        target: target.clone(),
        fault: fault.clone(),
        cases: both.len() as u64,
        guided: rate(0)?,
        random: rate(1)?,
        difference: Mean::of(estimate),
        p_value: swapped(&both, seed.child("swapped")),
    }))
}

/// How much more often objects close to others change an answer, within cases: a case with many
/// scenes of one kind and few of the other must not decide by that. Weighted as Mantel and Haenszel
/// weigh differences.
fn difference(pairs: impl Iterator<Item = Pair>) -> f64 {
    let (sum, weights) = pairs.fold((0.0, 0.0), |(sum, weights), [guided, random]| {
        let [n, m] = [guided[1] as f64, random[1] as f64];
        let weight = n * m / (n + m);
        let own = guided[0] as f64 / n - random[0] as f64 / m;
        (sum + weight * own, weights + weight)
    });
    sum / weights
}

/// How often a difference at least as large comes of swapping the two ways of cases at random.
fn swapped(both: &[Pair], seed: Seed) -> f64 {
    let observed = difference(both.iter().copied()).abs();
    let mut stream = seed.stream();
    let mut turned = || {
        let pairs = both.iter().map(|&[a, b]| if stream.chance(0.5) { [b, a] } else { [a, b] });
        difference(pairs).abs()
    };
    let as_far = (0..DRAWS).filter(|_| turned() >= observed - 1e-12).count();
    (as_far + 1) as f64 / (DRAWS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases of which half are crowded: they change more answers, and have fewer guided scenes.
    fn cases(seed: u64, more: f64) -> Vec<Pair> {
        let mut stream = Seed::new(seed).stream();
        let mut drawn =
            |n: u64, rate: f64| [(0..n).filter(|_| stream.chance(rate)).count() as u64, n];
        (0..60)
            .map(|case| match case % 2 {
                0 => [drawn(4, 0.5 + more), drawn(10, 0.5)],
                _ => [drawn(10, 0.1 + more), drawn(10, 0.1)],
            })
            .collect()
    }

    #[test]
    fn cases_of_unlike_numbers_make_no_difference_of_themselves() {
        let rejected = |more: f64| {
            let p = |seed: u64| swapped(&cases(seed, more), Seed::new(seed));
            (0..60).filter(|&seed| p(seed) < 0.05).count()
        };
        // 5% of 60 are 3; 9 or more come in one of 300 such draws.
        assert!(rejected(0.0) < 9, "{}", rejected(0.0));
        assert!(rejected(0.2) > 50, "{}", rejected(0.2));
    }

    #[test]
    fn ways_are_put_into_tenths() {
        let cell = Cell { moved: vec![0.0, 0.05, 0.1, 0.11, 0.999, 1.0], ..Cell::default() };
        let precision = Precision {
            intervals: crate::config::Intervals {
                method: crate::config::Method::Wilson,
                level: faultlens_stats::Level::default(),
            },
            sequential: false,
        };
        let moved = cell.moved_on(&precision).unwrap().unwrap();
        assert_eq!(moved.reach, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!((moved.arrived.events, moved.arrived.n), (1, 5));
        assert_eq!(Cell::default().moved_on(&precision).unwrap(), None);
    }
}
