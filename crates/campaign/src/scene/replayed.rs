//! Trials that showed a detector a changed image, run again: what was shown, what was found.

use super::finding::{Remade, furthest};
use crate::golden_case::GoldenCase;
use crate::object_comparison::ObjectComparison;
use crate::replay::Rerun;
use crate::run_error::RunError;
use crate::trial::{disturb, run_one};
use faultlens_core::{Case, Motion, Object, OutcomeKind};
use faultlens_faults::scene::Touched;
use faultlens_record::Record;
use faultlens_spec::FaultPoint;
use std::collections::BTreeMap;

/// A trial that showed a detector a changed image, run again.
pub struct ReplayedImage {
    /// The undisturbed case.
    pub case: Case,
    /// What is known to stand in the changed image, where the fault moved it; an object that was
    /// put into the scene or taken out of it aside.
    pub objects: Vec<Object>,
    /// The target's name.
    pub target: String,
    /// The fault with its settings.
    pub fault: String,
    /// The object that was inserted or removed; `None` where the fault changed the whole image.
    pub touched: Option<Touched>,
    /// What the target was shown and found.
    pub comparison: ObjectComparison,
    /// The same at the furthest place on the way to the destination at which the answer was still
    /// disturbed.
    pub furthest: Option<ObjectComparison>,
}

/// Why a trial that crashed, timed out or was detected is left out.
const NO_ANSWER: &str = "there is no answer that could be drawn";

/// Which trials of a run can be replayed with their images.
#[derive(Default)]
pub struct Replayable {
    /// Their records, in their order.
    pub records: Vec<Record>,
    /// Why other trials that changed an answer, or left none, cannot, and how many they are.
    pub left_out: BTreeMap<&'static str, u64>,
}

impl Rerun {
    /// The trials of wanted faults that showed detectors changed images; only those whose answer
    /// changed, or all that left an answer.
    pub fn replayable(
        &self,
        all: bool,
        wanted: &dyn Fn(&FaultPoint) -> bool,
    ) -> Result<Replayable, RunError> {
        let mut replayable = Replayable::default();
        self.store.for_each::<RunError>(|record| {
            if !self.fault(&record).is_some_and(wanted) {
                return Ok(());
            }
            match (record.outcome.kind(), self.not_replayable(&record)) {
                (OutcomeKind::Changed, None) => replayable.records.push(record),
                (OutcomeKind::Unchanged, None) if all => replayable.records.push(record),
                (OutcomeKind::Unchanged | OutcomeKind::Skipped, _) => {}
                (OutcomeKind::Changed, Some(why)) => {
                    *replayable.left_out.entry(why).or_default() += 1;
                }
                _ => *replayable.left_out.entry(NO_ANSWER).or_default() += 1,
            }
            Ok(())
        })?;
        replayable.records.sort_by_key(|record| record.number);
        Ok(replayable)
    }

    /// Why the trial of a record has no changed image with objects.
    fn not_replayable(&self, record: &Record) -> Option<&'static str> {
        let target = self.open.targets.get(record.target as usize);
        if target.is_none_or(|target| target.answers_with().1 != "same_detections") {
            return Some("the target does not answer with objects");
        }
        match self.fault(record) {
            Some(fault) => disturb(fault).facts().shows_no_image,
            None => Some("the campaign has no such fault"),
        }
    }

    /// The fault of a record.
    pub fn fault(&self, record: &Record) -> Option<&FaultPoint> {
        self.open.plan.key(record.number).map(|key| self.open.fault(key))
    }

    /// The faults of the campaign.
    pub fn faults(&self) -> &[FaultPoint] {
        &self.open.campaign.faults
    }

    /// The number of every class in the file that the cases come from, where it has numbers.
    pub fn class_numbers(&self) -> Option<&[i64]> {
        self.open.cases.set.class_numbers()
    }

    /// Whether somebody has labelled objects in any of the images that the cases come from.
    pub fn has_objects(&self) -> bool {
        self.open.cases.set.has_objects()
    }

    /// Runs trials again, in the order of the records. An object that moved on is asked about
    /// where it was placed and at the furthest place; services answer from their files where they
    /// were asked before, and within their budgets else. Trials whose undisturbed answer cannot be
    /// had again are left out; says why, and how many they are.
    pub fn replay_images<E: From<RunError>>(
        &self,
        records: &[Record],
        each: &mut dyn FnMut(&Record, ReplayedImage) -> Result<(), E>,
    ) -> Result<BTreeMap<String, u64>, E> {
        let mut left_out = BTreeMap::new();
        self.golden_cases(records, &mut |golden, record| {
            let golden = match golden {
                Ok(golden) => golden,
                Err(error) => {
                    *left_out.entry(error.to_string()).or_default() += 1;
                    return Ok(());
                }
            };
            let Some(replayed) = self.replayed(golden, record) else {
                let why = format!("trial {} showed no image", record.number);
                return Err(RunError::NotRun(why).into());
            };
            each(record, replayed)
        })?;
        Ok(left_out)
    }

    fn replayed(&self, golden: &GoldenCase<'_>, record: &Record) -> Option<ReplayedImage> {
        let fault = self.fault(record)?;
        let shown = |comparison: ObjectComparison| ReplayedImage {
            case: golden.case.clone(),
            objects: golden.case.objects.clone(),
            target: self.open.campaign.targets[record.target as usize].name.clone(),
            fault: fault.label.clone(),
            touched: None,
            comparison,
            furthest: None,
        };
        if let Some(Remade { scenes, scene, mut trial }) = self.remade(golden, record) {
            let comparison = ObjectComparison::new(golden, &scenes.ask(&mut trial, &scene))?;
            let furthest = furthest(record, &scenes, &scene)
                .and_then(|there| ObjectComparison::new(golden, &scenes.ask(&mut trial, &there)));
            return Some(ReplayedImage {
                touched: Some(scene.touched),
                furthest,
                ..shown(comparison)
            });
        }
        let key = self.open.plan.key(record.number)?;
        let observation = run_one(fault, golden, self.open.trial_seed(key, &golden.key));
        let mut replayed = shown(ObjectComparison::new(golden, &observation)?);
        if let Some(motion) = observation.shown.as_ref().and_then(|shown| shown.motion.as_ref()) {
            replayed.objects = moved(&golden.case, motion);
        }
        Some(replayed)
    }
}

/// Objects where a fault has moved them; those that it moved out of the image are gone.
fn moved(case: &Case, motion: &Motion) -> Vec<Object> {
    let mut moved = Vec::new();
    for object in &case.objects {
        let bounds = motion.bounds(&object.bounds, case.image.width(), case.image.height());
        if let Some(bounds) = bounds {
            let mask = object.mask.as_ref().map(|mask| motion.mask(mask));
            moved.push(Object { bounds, mask, ..*object });
        }
    }
    moved
}
