//! Trials that a verdict lacks: those that were skipped because something failed, and those that are
//! open. Their outcomes may be unlike those of the others, so that a verdict puts up with few.

use crate::context::Context;
use faultlens_core::Outcome;
use faultlens_record::Record;
use faultlens_record::store::Recorded;
use serde::Serialize;
use std::collections::BTreeMap;

/// The trials that a verdict lacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Missing {
    /// Trials that were skipped because something failed: an image, the target, the measurement.
    pub skipped: u64,
    /// Trials that are planned and not on record.
    pub open: u64,
    /// All trials that should be evidence: judged, skipped and open ones.
    pub of: u64,
    /// The largest share of them that may be missing.
    pub max_skipped: f64,
}

impl Missing {
    /// The share that is missing.
    pub fn share(&self) -> f64 {
        (self.skipped + self.open) as f64 / self.of.max(1) as f64
    }

    /// Whether so much is missing that nothing can be said.
    pub fn is_too_much(&self) -> bool {
        self.share() > self.max_skipped
    }
}

/// Trials that are evidence or should be.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Evident {
    judged: u64,
    skipped: u64,
}

impl Evident {
    /// Counts a trial, unless the campaign itself rules it out.
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        match outcome.skip_reason() {
            None => self.judged += 1,
            Some(reason) if reason.is_loss() => self.skipped += 1,
            Some(_) => {}
        }
    }

    /// Those and others.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { judged: self.judged + other.judged, skipped: self.skipped + other.skipped }
    }

    /// What is missing of them, with trials that are open.
    pub(crate) fn missing(self, open: u64, max_skipped: f64) -> Missing {
        let of = self.judged + self.skipped + open;
        Missing { skipped: self.skipped, open, of, max_skipped }
    }
}

/// By target and fault, how many trials are on record: the others are open.
#[derive(Debug, Default)]
pub(crate) struct OnRecord {
    cells: BTreeMap<(u32, u32), u64>,
}

impl OnRecord {
    pub(crate) fn count(&mut self, record: &Record) {
        *self.cells.entry((record.target, record.fault)).or_default() += 1;
    }

    /// How many trials are open of the targets and faults that are admitted. An upper bound where
    /// the manifest does not say how many trials each target and fault has.
    pub(crate) fn open(
        &self,
        context: &Context,
        progress: &Recorded,
        admits: impl Fn(u32, u32) -> bool,
    ) -> u64 {
        if progress.complete {
            return 0;
        }
        let manifest = &context.manifest;
        let mut planned = 0;
        let mut open = 0;
        for target in 0..manifest.targets.len() as u32 {
            for (fault, point) in (0..).zip(&manifest.faults) {
                let of_cell = manifest.cases * u64::from(point.trials);
                let recorded = self.cells.get(&(target, fault)).copied().unwrap_or(0);
                planned += of_cell;
                if admits(target, fault) {
                    open += of_cell.saturating_sub(recorded);
                }
            }
        }
        if planned == manifest.planned {
            return open;
        }
        manifest.planned.saturating_sub(self.cells.values().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Reason;

    #[test]
    fn what_fails_is_missing_and_what_a_guard_rules_out_is_not() {
        let mut evident = Evident::default();
        for outcome in [Outcome::Unchanged, Outcome::Changed, Outcome::Crashed] {
            evident.count(&outcome);
        }
        for reason in [Reason::NoResponse, Reason::GoldenWrong, Reason::TooFewObjects] {
            evident.count(&Outcome::Skipped(reason));
        }
        let missing = evident.with(Evident::default()).missing(1, 0.4);
        let wanted = Missing { skipped: 1, open: 1, of: 5, max_skipped: 0.4 };
        assert_eq!((missing, missing.is_too_much()), (wanted, false));
        assert!(evident.missing(2, 0.4).is_too_much());
        assert!(!Evident::default().missing(0, 0.0).is_too_much());
    }
}
