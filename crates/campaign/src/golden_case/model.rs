//! The golden run inside a model: what its values are, and what it answers once some are changed.

use super::GoldenCase;
use crate::white_box::WhiteBox;
use faultlens_core::{DType, Response, TargetError};
use faultlens_engine::{Change, Edit, Golden, Met, ValueId};
use faultlens_record::Site;

/// One of the sites that a trial hits.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteHit {
    /// Where it is, with the number just before and just after the fault: as the disturbed run has
    /// it, which earlier sites of the same trial may have changed.
    pub site: Site,
    /// Whether the disturbed run came to it; it does not where an operator fails before.
    pub reached: bool,
}

impl<'s> GoldenCase<'s> {
    /// The model and its undisturbed run; an error where the target is no model.
    pub fn white_box(&self) -> Result<(&'s WhiteBox, &Golden<'s>), TargetError> {
        match &self.run {
            Some((white_box, golden)) => Ok((white_box, golden)),
            None => Err(TargetError::Failed("the target is no model".to_owned())),
        }
    }

    /// The model's answer under each list of changes; `None` where no change reaches the output, so
    /// that the answer is the golden one.
    pub fn answers(&self, changes: &[Vec<Change>]) -> Vec<Result<Option<Response>, TargetError>> {
        let (white_box, golden) = match self.white_box() {
            Ok(run) => run,
            Err(error) => return vec![Err(error); changes.len()],
        };
        let mut answers = Vec::with_capacity(changes.len());
        for replay in golden.replay_stack(changes) {
            answers.push(match replay {
                Ok(replay) if !replay.reached_output() => Ok(None),
                Ok(replay) => white_box
                    .target
                    .response(replay.outputs(), &self.case.image)
                    .and_then(|answer| self.target.after(answer, &self.case.image))
                    .map(Some),
                Err(error) => Err(TargetError::Failed(error.to_string())),
            });
        }
        answers
    }

    /// The bits of an element in the golden run, and their type.
    pub fn bits(&self, value: ValueId, element: usize) -> Option<(u64, DType)> {
        let (_, golden) = self.white_box().ok()?;
        golden.bits(value, element).zip(golden.dtype(value))
    }

    /// The site that a change hits, with the number before and after.
    pub fn site(&self, change: &Change) -> Option<Site> {
        let (before, dtype) = self.bits(change.value, change.element)?;
        self.site_between(change, Met { before, after: change.edit.of(before, dtype) })
    }

    /// The sites that the changes of one trial hit, in their order, with the numbers that each
    /// one meets in the disturbed run; golden's where the run never came to it.
    pub fn sites(&self, changes: &[Change]) -> Vec<SiteHit> {
        let Ok((_, golden)) = self.white_box() else { return Vec::new() };
        let mut hits = Vec::with_capacity(changes.len());
        for (change, met) in changes.iter().zip(golden.met(changes)) {
            let site = match met {
                Some(met) => self.site_between(change, met),
                None => self.site(change),
            };
            hits.extend(site.map(|site| SiteHit { site, reached: met.is_some() }));
        }
        hits
    }

    fn site_between(&self, change: &Change, Met { before, after }: Met) -> Option<Site> {
        let (_, dtype) = self.bits(change.value, change.element)?;
        // A bit that is stuck at the value it had already is still the one that was hit.
        let touched = match change.edit {
            Edit::Flip(mask) | Edit::Raise(mask) | Edit::Clear(mask) => mask,
            Edit::Set(_) | Edit::Scale(_) | Edit::Add(_) => before ^ after,
        };
        let (white_box, _) = self.white_box().ok()?;
        Some(Site {
            place: white_box.place(change.value)?,
            element: change.element as u64,
            bit: (touched.count_ones() == 1).then(|| touched.trailing_zeros()),
            before: dtype.number(before),
            after: dtype.number(after),
        })
    }
}
