//! Which trials count together where a stop rule decided how many there are.
//!
//! The rule stops every cell, a target with a fault point, for itself, and sooner the closer its
//! rate is to nothing or to all. All trials together would so weight the cells by their own
//! outcomes. A rate over several cells counts only the repeats that each of them has.

use crate::context::Context;
use crate::error::AnalysisError;
use faultlens_record::Record;
use faultlens_record::store::Store;
use std::collections::BTreeMap;

/// How many repeats every cell has; empty, so that every trial counts, where no rule stopped any.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// By target and fault; only faults that draw, since one trial says all about the others.
    cells: BTreeMap<(u32, u32), u32>,
    by_target: BTreeMap<u32, u32>,
    by_fault: BTreeMap<u32, u32>,
    all: Option<u32>,
}

impl Repeats {
    /// The repeats on record.
    pub(crate) fn of(store: &Store, context: &Context) -> Result<Self, AnalysisError> {
        let mut cells: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        store.for_each::<AnalysisError>(|record| {
            let fault = context.manifest.faults.get(record.fault as usize);
            let counts = !context.is_search(record.fault);
            if counts && fault.is_some_and(|fault| fault.trials > 1) {
                let repeats = cells.entry((record.target, record.fault)).or_default();
                *repeats = (*repeats).max(record.repeat.saturating_add(1));
            }
            Ok(())
        })?;
        Ok(Self::new(cells))
    }

    fn new(cells: BTreeMap<(u32, u32), u32>) -> Self {
        let mut repeats = Self::default();
        for ((target, fault), &own) in &cells {
            for (least, key) in [(&mut repeats.by_target, target), (&mut repeats.by_fault, fault)] {
                least.entry(*key).and_modify(|least| *least = own.min(*least)).or_insert(own);
            }
        }
        repeats.all = cells.values().min().copied();
        Self { cells, ..repeats }
    }

    /// How many repeats a rate over these cells counts.
    pub(crate) fn least(&self, concerns: impl Fn(u32, u32) -> bool) -> Option<u32> {
        let concerned = self.cells.iter().filter(|((target, fault), _)| concerns(*target, *fault));
        concerned.map(|(_, repeats)| *repeats).min()
    }

    /// Whether a trial counts in rates over everything.
    pub(crate) fn in_all(&self, record: &Record) -> bool {
        is_below(record, self.all)
    }

    /// Whether a trial counts in its target's rate.
    pub(crate) fn in_target(&self, record: &Record) -> bool {
        is_below(record, self.by_target.get(&record.target).copied())
    }

    /// Whether a trial counts in rates by this attribute.
    pub(crate) fn in_group(&self, attribute: &str, record: &Record) -> bool {
        match attribute {
            "point" => is_below(record, self.by_fault.get(&record.fault).copied()),
            "target" => self.in_target(record),
            _ => self.in_all(record),
        }
    }
}

/// Whether a trial is one of the first so many repeats. The first of all always is, and so is the
/// only one of a fault that draws nothing.
pub(crate) fn is_below(record: &Record, repeats: Option<u32>) -> bool {
    repeats.is_none_or(|repeats| record.repeat < repeats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_over_cells_count_what_each_cell_has() {
        let repeats = Repeats::new(BTreeMap::from([((0, 0), 5), ((0, 1), 9), ((1, 0), 7)]));
        assert_eq!(repeats.least(|_, _| true), Some(5));
        assert_eq!(repeats.least(|target, _| target == 1), Some(7));
        assert_eq!(repeats.least(|_, fault| fault == 1), Some(9));
        assert_eq!(repeats.least(|_, fault| fault == 2), None);
        assert_eq!(repeats.by_target, BTreeMap::from([(0, 5), (1, 7)]));
        assert_eq!(repeats.by_fault, BTreeMap::from([(0, 5), (1, 9)]));
        assert_eq!((repeats.all, Repeats::default().all), (Some(5), None));
    }
}
