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
    precision: Reached,
}

/// How precisely a rate is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// Not well enough yet.
    NotYet,
    /// As well as the stop rule asks.
    Enough,
    /// Not well enough, and no number of trials on these images would change that.
    NeedsImages,
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
                    precision: Reached::NotYet,
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
        for cell in self.cells.iter_mut().filter(|cell| cell.precision == Reached::NotYet) {
            if let Some(counts) = cell.counts.get_mut(self.done - 1) {
                cell.known.merge(&std::mem::take(counts));
            }
            let few_images = cell.known.len() < MIN_IMAGES;
            cell.precision = if self.population == Population::TheseImages || few_images {
                let n = cell.known.n();
                let changed = cell.known.rate().unwrap_or(0.0) * n as f64;
                match self.rule.look(changed.round() as u64, n)? {
                    Look::Stop(_) => Reached::Enough,
                    Look::Continue(_) => Reached::NotYet,
                }
            } else {
                reached(&cell.known, self.rule.half_width(), &self.intervals, repeats)?
            };
        }
        Ok(())
    }

    /// Whether more trials of this target's fault are wanted.
    pub(super) fn wants(&self, target: u32, fault: u32) -> bool {
        let cell = &self.cells[target as usize * self.faults + fault as usize];
        cell.precision == Reached::NotYet && self.repeats() < cell.most
    }

    /// Targets' faults of which more trials are planned and wanted.
    pub(super) fn open(&self) -> usize {
        let repeats = self.repeats();
        let open = self.cells.iter().filter(|cell| cell.precision == Reached::NotYet);
        open.filter(|cell| repeats < cell.most).count()
    }

    /// Targets' faults whose rates only more images would make precise enough.
    pub(super) fn need_images(&self) -> usize {
        self.cells.iter().filter(|cell| cell.precision == Reached::NeedsImages).count()
    }
}

/// How precisely the rate among new images is known, by widths alone, so that the interval keeps its
/// coverage.
fn reached(
    known: &Clustered,
    half_width: f64,
    intervals: &Intervals,
    repeats: u32,
) -> Result<Reached, StatsError> {
    let formula = intervals.formula();
    if known.estimate(formula, intervals.level)?.half_width() <= half_width {
        return Ok(Reached::Enough);
    }
    if repeats < ENOUGH_TO_TELL {
        return Ok(Reached::NotYet);
    }
    let best = known.half_width_of_any_trials(formula, intervals.level)?;
    let hopeless = best.is_some_and(|best| best > half_width);
    Ok(if hopeless { Reached::NeedsImages } else { Reached::NotYet })
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

    /// Half of twenty images always fail: more trials on them say nothing more.
    #[test]
    fn what_only_more_images_would_tell_is_not_waited_for() {
        let mut known = Clustered::default();
        for trial in 0..80 {
            known.count(trial / 4, trial / 4 % 2 == 0);
        }
        let intervals = Intervals::default();
        let after = |half_width, repeats| reached(&known, half_width, &intervals, repeats);
        assert_eq!(after(0.05, 4), Ok(Reached::NeedsImages));
        assert_eq!(after(0.05, 3), Ok(Reached::NotYet));
        assert_eq!(after(0.4, 4), Ok(Reached::Enough));
    }
}
