//! When a campaign with a stop rule may stop: looks after rounds of whole cases, so that which
//! trials run depends on nothing but their outcomes.

use faultlens_core::OutcomeKind;
use faultlens_record::Record;
use faultlens_record::store::CaseRecord;
use faultlens_spec::{Campaign, Intervals, Population, Stop};
use faultlens_stats::{Clustered, Look, MIN_IMAGES, StatsError, StopRule};
use std::collections::BTreeMap;
use std::ops::Range;

/// Repeats of a case after which it shows whether more of them could still narrow the interval.
const ENOUGH_TO_TELL: u32 = 4;

/// The counts of every target and fault after each round.
pub(super) struct Rounds {
    rule: StopRule,
    population: Population,
    intervals: Intervals,
    /// The stratum that tells which cases count as one.
    cluster: Option<String>,
    /// By case, the number of those that count as one with it.
    clusters: BTreeMap<u32, u64>,
    /// By round, the repeat before which it ends.
    ends: Vec<u32>,
    /// Rounds that were looked at.
    done: usize,
    faults: usize,
    /// By target, then by fault.
    cells: Vec<Cell>,
}

/// One target's trials of one fault.
struct Cell {
    /// How many there are of each case, at most.
    most: u32,
    /// By round, the judged trials by image, and those of them that changed.
    counts: Vec<Clustered>,
    /// The rounds that were looked at, together.
    known: Clustered,
    /// Whether the rate is known well enough, or cannot be.
    closed: bool,
}

impl Rounds {
    /// The rounds of a campaign with this stop rule.
    pub(super) fn new(
        stop: &Stop,
        campaign: &Campaign,
        targets: usize,
    ) -> Result<Self, StatsError> {
        let ends = ends(stop.at_most);
        let mut cells = Vec::new();
        for _ in 0..targets {
            for fault in &campaign.faults {
                cells.push(Cell {
                    most: fault.trials,
                    counts: vec![Clustered::default(); ends.len()],
                    known: Clustered::default(),
                    closed: false,
                });
            }
        }
        Ok(Self {
            rule: StopRule::new(stop.half_width, campaign.intervals.level)?,
            population: stop.population,
            intervals: campaign.intervals,
            cluster: campaign.cluster.clone(),
            clusters: BTreeMap::new(),
            ends,
            done: 0,
            faults: campaign.faults.len(),
            cells,
        })
    }

    /// Notes which cases a case counts as one with.
    pub(super) fn add_case(&mut self, case: &CaseRecord) {
        self.clusters.insert(case.case, case.cluster(self.cluster.as_deref()));
    }

    /// Counts a trial.
    pub(super) fn count(&mut self, record: &Record) {
        let round = self.ends.partition_point(|&end| end <= record.repeat);
        let cell = self.cells.get_mut(record.target as usize * self.faults + record.fault as usize);
        let Some(counts) = cell.and_then(|cell| cell.counts.get_mut(round)) else { return };
        let kind = record.outcome.kind();
        if kind != OutcomeKind::Skipped {
            let image = self.clusters.get(&record.case).copied();
            counts.count(image.unwrap_or(u64::from(record.case)), kind == OutcomeKind::Changed);
        }
    }

    /// The repeats of the next round; `None` where no more are planned or wanted.
    pub(super) fn next(&self) -> Option<Range<u32>> {
        let end = *self.ends.get(self.done)?;
        (self.open() > 0).then(|| self.repeats()..end)
    }

    /// Repeats of the rounds that were looked at.
    fn repeats(&self) -> u32 {
        self.done.checked_sub(1).map_or(0, |last| self.ends[last])
    }

    /// Looks at what is known after one more round.
    pub(super) fn look(&mut self) -> Result<(), StatsError> {
        self.done += 1;
        let repeats = self.repeats();
        for cell in self.cells.iter_mut().filter(|cell| !cell.closed) {
            if let Some(counts) = cell.counts.get_mut(self.done - 1) {
                cell.known.merge(&std::mem::take(counts));
            }
            let few_images = cell.known.len() < MIN_IMAGES;
            cell.closed = if self.population == Population::TheseImages || few_images {
                let n = cell.known.n();
                let changed = cell.known.rate().unwrap_or(0.0) * n as f64;
                matches!(self.rule.look(changed.round() as u64, n)?, Look::Stop(_))
            } else {
                is_decided(&cell.known, self.rule.half_width(), &self.intervals, repeats)?
            };
        }
        Ok(())
    }

    /// Whether more trials of this target's fault are wanted.
    pub(super) fn wants(&self, target: u32, fault: u32) -> bool {
        let cell = &self.cells[target as usize * self.faults + fault as usize];
        !cell.closed && self.repeats() < cell.most
    }

    /// Targets' faults of which more trials are planned and wanted.
    pub(super) fn open(&self) -> usize {
        let repeats = self.repeats();
        self.cells.iter().filter(|cell| !cell.closed && repeats < cell.most).count()
    }
}

/// Whether the rate among new images is known well enough, or no number of trials on these images
/// would make it so. Both look at widths alone, so that the interval keeps its coverage.
fn is_decided(
    known: &Clustered,
    half_width: f64,
    intervals: &Intervals,
    repeats: u32,
) -> Result<bool, StatsError> {
    let formula = intervals.formula();
    if known.estimate(formula, intervals.level)?.half_width() <= half_width {
        return Ok(true);
    }
    if repeats < ENOUGH_TO_TELL {
        return Ok(false);
    }
    let best = known.half_width_of_any_trials(formula, intervals.level)?;
    Ok(best.is_some_and(|best| best > half_width))
}

/// Each round adds half of what there is: few looks, little beyond what is needed.
fn ends(most: u32) -> Vec<u32> {
    let next =
        |&end: &u32| (end < most).then(|| most.min((end + 1).max(end.saturating_add(end / 2))));
    std::iter::successors(Some(1.min(most)), next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_grow_by_half() {
        assert_eq!(ends(1), [1]);
        assert_eq!(ends(20), [1, 2, 3, 4, 6, 9, 13, 19, 20]);
        assert!(ends(1_000_000).len() < 40);
    }
}
