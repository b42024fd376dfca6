//! When a campaign with a stop rule may stop: looks after rounds of whole cases, so that which
//! trials run depends on nothing but their outcomes.

use faultlens_core::OutcomeKind;
use faultlens_record::Record;
use faultlens_spec::{FaultPoint, Stop};
use faultlens_stats::{Look, StatsError, StopRule};
use std::ops::Range;

/// The counts of every target and fault after each round.
pub(super) struct Rounds {
    rule: StopRule,
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
    /// By round, trials that changed and trials judged.
    counts: Vec<(u64, u64)>,
    /// Whether the rate is known well enough.
    closed: bool,
}

impl Rounds {
    pub(super) fn new(stop: &Stop, targets: usize, faults: &[FaultPoint]) -> Self {
        let ends = ends(stop.at_most);
        let cell = |fault: &FaultPoint| Cell {
            most: fault.trials,
            counts: vec![(0, 0); ends.len()],
            closed: false,
        };
        let cells = (0..targets).flat_map(|_| faults.iter().map(cell)).collect();
        Self { rule: stop.rule, ends, done: 0, faults: faults.len(), cells }
    }

    /// Counts a trial.
    pub(super) fn count(&mut self, record: &Record) {
        let round = self.ends.partition_point(|&end| end <= record.repeat);
        let cell = self.cells.get_mut(record.target as usize * self.faults + record.fault as usize);
        let counts = cell.and_then(|cell| cell.counts.get_mut(round));
        let Some((changed, judged)) = counts else { return };
        let kind = record.outcome.kind();
        *changed += u64::from(kind == OutcomeKind::Changed);
        *judged += u64::from(kind != OutcomeKind::Skipped);
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
        for cell in self.cells.iter_mut().filter(|cell| !cell.closed) {
            let so_far = cell.counts.iter().take(self.done);
            let (changed, judged) = so_far.fold((0, 0), |(d, j), (x, y)| (d + x, j + y));
            cell.closed = matches!(self.rule.look(changed, judged)?, Look::Stop(_));
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
