//! Which trials a gallery shows, by what is on record.

use super::{Store, StoreError};
use crate::record::Record;
use faultlens_core::OutcomeKind;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Cases that are shown of each target.
const CASES: usize = 5;
/// Fault points that are shown, the first of the campaign; more would not fit beside each other.
/// Outcomes have no say in it: every shard would choose others.
const FAULTS: u32 = 16;

/// The trial that a gallery shows of a target, case and fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShownRecord {
    /// The target, by its place in the campaign.
    pub target: u32,
    /// The case, by its place in the sample.
    pub case: u32,
    /// The fault, by its place among the fault points.
    pub fault: u32,
    /// The trial's place in the plan.
    pub number: u64,
}

/// A trial: how telling, how noticeable, and the number; the smallest is the best.
type Rank = (u8, u64, u64);

/// How much people notice of what was done to the image, in millionths; nothing where nothing was
/// done to it.
pub fn noticeable(record: &Record) -> u64 {
    record.measures.visual_change.map_or(0, |change| (1e6 * change).round() as u64)
}

/// Changed answers first, of these the least noticeable; then whatever was judged.
fn rank(record: &Record) -> Rank {
    match record.outcome.kind() {
        OutcomeKind::Changed => (0, noticeable(record), record.number),
        OutcomeKind::Skipped => (2, 0, record.number),
        _ => (1, 0, record.number),
    }
}

/// By fault, the trial to show.
type Row = BTreeMap<u32, Rank>;

/// What makes a case worth showing, the smallest most: of how many of its cells the answer
/// changed, and how many were judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Weight {
    changed: Reverse<u32>,
    judged: Reverse<u32>,
}

impl Weight {
    fn add(&mut self, (telling, ..): Rank) {
        self.changed.0 += u32::from(telling == 0);
        self.judged.0 += u32::from(telling <= 1);
    }
}

/// What is known of a target.
#[derive(Default)]
struct Wall {
    /// The cases most worth showing, the best first.
    rows: BTreeMap<(Weight, u32), Row>,
}

impl Wall {
    fn add(&mut self, case: u32, row: Row) {
        let mut weight = Weight::default();
        row.values().for_each(|rank| weight.add(*rank));
        self.rows.insert((weight, case), row);
        if self.rows.len() > CASES {
            self.rows.pop_last();
        }
    }

    /// The trials to show, by case and fault.
    fn shown(&self, target: u32) -> impl Iterator<Item = ShownRecord> {
        let rows: BTreeMap<u32, &Row> = self.rows.iter().map(|((_, at), row)| (*at, row)).collect();
        rows.into_iter().flat_map(move |(case, row)| {
            row.iter().map(move |(&fault, &(_, _, number))| ShownRecord {
                target,
                case,
                fault,
                number,
            })
        })
    }
}

impl Store {
    /// The trials worth showing of these targets: on the cases on which most faults changed the
    /// answer, of each fault a trial that did, else one that was judged, else the first. It depends
    /// on the records alone. A shard may hold only a part of a case whose trials fill more than one
    /// piece of the plan; it weighs such a case by that part and may choose another one.
    pub fn showcase(&self, targets: &BTreeSet<u32>) -> Result<Vec<ShownRecord>, StoreError> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let mut walls: BTreeMap<u32, Wall> = BTreeMap::new();
        // Trials of one target and case stand together.
        let mut open: Option<(u32, u32, Row)> = None;
        self.for_each::<StoreError>(|record| {
            let Record { target, case, fault, .. } = record;
            if !targets.contains(&target) || fault >= FAULTS {
                return Ok(());
            }
            if open.as_ref().is_none_or(|(of, at, _)| (*of, *at) != (target, case))
                && let Some((of, at, row)) = open.replace((target, case, Row::new()))
            {
                walls.entry(of).or_default().add(at, row);
            }
            if let Some((_, _, row)) = &mut open {
                let own = rank(&record);
                row.entry(fault).and_modify(|best| *best = own.min(*best)).or_insert(own);
            }
            Ok(())
        })?;
        if let Some((of, at, row)) = open {
            walls.entry(of).or_default().add(at, row);
        }
        Ok(walls.iter().flat_map(|(target, wall)| wall.shown(*target)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_shown_first() {
        let mut wall = Wall::default();
        let (changed, judged, none) = (0, 1, 2);
        // Cases that no fault changed, and then one that two faults did, and one that one did.
        for case in 0..6 {
            wall.add(case, Row::from([(0, (judged, 0, 10)), (1, (none, 0, 11))]));
        }
        wall.add(7, Row::from([(0, (changed, 5, 71)), (1, (changed, 0, 72))]));
        wall.add(8, Row::from([(0, (changed, 5, 81)), (1, (none, 0, 82))]));
        let shown: Vec<_> = wall.shown(3).map(|one| (one.case, one.fault, one.number)).collect();
        let cases: BTreeSet<u32> = shown.iter().map(|(case, ..)| *case).collect();
        assert_eq!(cases, BTreeSet::from([0, 1, 2, 7, 8]));
        assert_eq!(shown[6..], [(7, 0, 71), (7, 1, 72), (8, 0, 81), (8, 1, 82)]);
    }
}
