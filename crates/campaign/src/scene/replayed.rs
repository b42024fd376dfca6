//! Trials of detectors that showed a changed image, told again: what was shown, what was found.

use super::finding::{Remade, furthest};
use crate::detection_diff::DetectionDiff;
use crate::inject::GoldenCase;
use crate::replay::Rerun;
use crate::run::RunError;
use faultlens_core::{Case, Motion, Object, OutcomeKind};
use faultlens_faults::scene::Touched;
use faultlens_record::Record;
use faultlens_spec::{Disturbance, FaultPoint};
use std::collections::BTreeMap;

/// A trial that showed a detector a changed image, told again.
pub struct Replayed {
    /// The undisturbed case.
    pub case: Case,
    /// What is known to stand in the changed image, where the fault moved it; an object that was
    /// put into the scene or taken out of it aside.
    pub objects: Vec<Object>,
    /// Who was asked.
    pub target: String,
    /// The fault with its settings.
    pub fault: String,
    /// What came or went; nothing where the fault changed the whole image.
    pub touched: Option<Touched>,
    /// What the target was shown and found.
    pub detection_diff: DetectionDiff,
    /// The same at the furthest place on the way to the destination at which the answer was still
    /// disturbed.
    pub furthest: Option<DetectionDiff>,
}

/// Why a trial that crashed, timed out or was found out is left out.
const NO_ANSWER: &str = "there is no answer that could be drawn";

/// Which trials of a run can be told again.
#[derive(Default)]
pub struct Tellable {
    /// Their records, in their order.
    pub records: Vec<Record>,
    /// Why other trials that changed an answer, or left none, cannot, and how many they are.
    pub left_out: BTreeMap<&'static str, u64>,
}

impl Rerun {
    /// The trials of wanted faults that showed detectors changed images; only those whose answer
    /// changed, or all that left an answer.
    pub fn tellable(
        &self,
        all: bool,
        wanted: &dyn Fn(&FaultPoint) -> bool,
    ) -> Result<Tellable, RunError> {
        let mut tellable = Tellable::default();
        self.store.for_each::<RunError>(|record| {
            if !self.fault(&record).is_some_and(wanted) {
                return Ok(());
            }
            match (record.outcome.kind(), self.untold(&record)) {
                (OutcomeKind::Changed, None) => tellable.records.push(record),
                (OutcomeKind::Unchanged, None) if all => tellable.records.push(record),
                (OutcomeKind::Unchanged | OutcomeKind::Skipped, _) => {}
                (OutcomeKind::Changed, Some(why)) => {
                    *tellable.left_out.entry(why).or_default() += 1;
                }
                _ => *tellable.left_out.entry(NO_ANSWER).or_default() += 1,
            }
            Ok(())
        })?;
        tellable.records.sort_by_key(|record| record.number);
        Ok(tellable)
    }

    /// Why the trial of a record has no changed image with objects.
    fn untold(&self, record: &Record) -> Option<&'static str> {
        let subject = self.setup.targets.get(record.target as usize);
        if subject.is_none_or(|subject| subject.answers_with().1 != "same_detections") {
            return Some("the target does not answer with objects");
        }
        match self.fault(record).map(|fault| &fault.disturbance) {
            Some(Disturbance::Model(_)) | None => {
                Some("faults inside a model change no image; replay shows both answers")
            }
            // Labels are placed in the image of the case.
            Some(Disturbance::Attack(_)) => {
                Some("attacks on a model are shown at its size, where the labels do not lie")
            }
            Some(_) => None,
        }
    }

    /// The fault of a record.
    pub fn fault(&self, record: &Record) -> Option<&FaultPoint> {
        self.setup.plan.spot(record.number).map(|spot| self.setup.fault(spot))
    }

    /// The faults of the campaign.
    pub fn faults(&self) -> &[FaultPoint] {
        &self.setup.campaign.faults
    }

    /// The number of every class in the file that the cases come from, where it has numbers.
    pub fn class_numbers(&self) -> Option<&[i64]> {
        self.setup.cases.set.class_numbers()
    }

    /// Whether somebody has labelled objects in any of the images that the cases come from.
    pub fn has_objects(&self) -> bool {
        self.setup.cases.set.has_objects()
    }

    /// Runs trials again, in the order of the records. An object that moved on is asked about
    /// where it was placed and at the furthest place; services answer from their files where they
    /// were asked before, and within their budgets else. Trials whose undisturbed answer cannot be
    /// had again are left out; says why, and how many they are.
    pub fn retell<E: From<RunError>>(
        &self,
        records: &[Record],
        each: &mut dyn FnMut(&Record, Replayed) -> Result<(), E>,
    ) -> Result<BTreeMap<String, u64>, E> {
        let mut left_out = BTreeMap::new();
        self.staged(records, &mut |stage, record| {
            let stage = match stage {
                Ok(stage) => stage,
                Err(error) => {
                    *left_out.entry(error.to_string()).or_default() += 1;
                    return Ok(());
                }
            };
            let none = || RunError::NotRun(format!("trial {} showed no image", record.number));
            each(record, self.replayed(stage, record).ok_or_else(none)?)
        })?;
        Ok(left_out)
    }

    fn replayed(&self, stage: &GoldenCase<'_>, record: &Record) -> Option<Replayed> {
        let fault = self.fault(record)?;
        let told = |detection_diff: DetectionDiff| Replayed {
            case: stage.case.clone(),
            objects: stage.case.objects.clone(),
            target: self.setup.campaign.targets[record.target as usize].name.clone(),
            fault: fault.label.clone(),
            touched: None,
            detection_diff,
            furthest: None,
        };
        if let Some(Remade { set, scene, mut trial }) = self.remade(stage, record) {
            let detection_diff = DetectionDiff::new(stage, &set.ask(&mut trial, &scene))?;
            let further = furthest(record, &set, &scene);
            let further = further.map(|there| set.ask(&mut trial, &there));
            let furthest = further.and_then(|there| DetectionDiff::new(stage, &there));
            return Some(Replayed {
                touched: Some(scene.touched),
                furthest,
                ..told(detection_diff)
            });
        }
        let spot = self.setup.plan.spot(record.number)?;
        let observed = stage.once(fault, self.setup.turn(spot, &stage.key))?;
        let replayed = told(DetectionDiff::new(stage, &observed)?);
        Some(match &observed.motion {
            Some(motion) => Replayed { objects: moved(&stage.case, motion), ..replayed },
            None => replayed,
        })
    }
}

/// Objects where a fault has moved them; those that it moved out of the image are gone.
fn moved(case: &Case, motion: &Motion) -> Vec<Object> {
    let (width, height) = (case.image.width(), case.image.height());
    let object = |object: &Object| {
        let bounds = motion.bounds(&object.bounds, width, height)?;
        let mask = object.mask.as_ref().map(|mask| motion.mask(mask));
        Some(Object { bounds, mask, ..*object })
    };
    case.objects.iter().filter_map(object).collect()
}
