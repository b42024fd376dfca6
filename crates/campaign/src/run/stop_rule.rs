//! When a run ends: once its plan is done, or, with a stop rule, after the round in which every rate
//! is known well enough.

use super::Run;
use crate::event::{Ending, Event};
use crate::plan::{Shard, WorkUnit};
use crate::run_error::RunError;
use std::sync::atomic::Ordering;

impl Run<'_, '_> {
    /// Works until every trial is on record, or until the stop rule finds enough of them; not at
    /// all where the run has `finished` before.
    pub(super) fn run_plan(
        &mut self,
        shard: Option<Shard>,
        finished: Option<Ending>,
    ) -> Result<Ending, RunError> {
        let ending = if let Some(ending) = finished {
            ending
        } else if self.open.campaign.stop.is_some() {
            self.run_rounds()?
        } else {
            self.run_units(self.open.plan.units(shard))?;
            Ending::Complete
        };
        Ok(if self.interrupted.load(Ordering::Relaxed) {
            Ending::Interrupted
        } else if self.left_open.any() {
            Ending::Incomplete
        } else {
            ending
        })
    }

    /// Works in rounds until every rate is known well enough.
    fn run_rounds(&mut self) -> Result<Ending, RunError> {
        while let Some((repeats, units)) = self.next_round() {
            self.run_units(units.into_iter())?;
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            // A look at a part of a round would decide otherwise than one at the whole.
            if self.left_open.any() {
                return Ok(Ending::Incomplete);
            }
            let Some(rounds) = self.recorder.rounds() else { break };
            rounds.look()?;
            let open = rounds.open();
            let need_images = rounds.need_images();
            self.recorder.emit(&Event::Round { repeats, open, need_images })?;
        }
        let recorded = self.recorder.store().progress()?.recorded;
        let early = recorded < self.open.plan.total();
        Ok(if early { Ending::StoppedEarly } else { Ending::Complete })
    }

    /// The repeat at which the next round ends, and its units.
    fn next_round(&mut self) -> Option<(u32, Vec<WorkUnit>)> {
        let plan = &self.open.plan;
        let rounds = self.recorder.rounds()?;
        let repeats = rounds.next()?;
        let units = plan.round(repeats.clone(), |target, fault| rounds.wants(target, fault));
        Some((repeats.end, units.collect()))
    }
}
