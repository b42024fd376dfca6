//! Changed scenes of a run, made again, to learn from.

use crate::golden_case::GoldenCase;
use crate::replay::Rerun;
use crate::run_error::RunError;
use crate::trial::scene::Scenes;
use crate::trial::{Trial, disturb};
use faultlens_core::{Bounds, Case, Image, OutcomeKind, Response, TargetError};
use faultlens_faults::scene::{Scene, Touched};
use faultlens_record::Record;

/// A changed scene, made again without asking about it.
pub struct Finding {
    /// The undisturbed case.
    pub case: Case,
    /// The object that was inserted or removed.
    pub touched: Touched,
    /// What the target is shown.
    pub image: Image,
    /// The furthest place on the way to the destination at which the answer is still disturbed, and
    /// what the scene looks like then.
    pub furthest: Option<(Bounds, Image)>,
}

impl Rerun {
    /// The records of changed scenes, in their order; only those whose answer changed, or all.
    pub fn scenes(&self, all: bool) -> Result<Vec<Record>, RunError> {
        let mut records = Vec::new();
        self.store.for_each::<RunError>(|record| {
            let fault = self.fault(&record);
            let of_scene = fault.is_some_and(|fault| disturb(fault).facts().scene_fault.is_some());
            let counts = match record.outcome.kind() {
                OutcomeKind::Changed => true,
                kind => all && kind == OutcomeKind::Unchanged,
            };
            if counts && of_scene {
                records.push(record);
            }
            Ok(())
        })?;
        records.sort_by_key(|record| record.number);
        Ok(records)
    }

    /// Makes the changed scenes of records again, in the order of the records.
    pub fn findings<E: From<RunError>>(
        &self,
        records: &[Record],
        each: &mut dyn FnMut(&Record, Finding) -> Result<(), E>,
    ) -> Result<(), E> {
        self.golden_cases(records, &mut |golden, record| {
            let golden = golden.map_err(|error| RunError::NotRun(error.to_string()))?;
            let Some(Remade { scenes, scene, .. }) = self.remade(golden, record) else {
                let why = format!("trial {} changed no scene", record.number);
                return Err(RunError::NotRun(why).into());
            };
            let furthest = furthest(record, &scenes, &scene);
            let finding = Finding {
                furthest: furthest.map(|there| (there.touched.bounds, there.image)),
                touched: scene.touched,
                image: scene.image,
                case: golden.case.clone(),
            };
            each(record, finding)
        })
    }

    /// Asks about the undisturbed case of each record, once for records that follow each other; an
    /// error where the target does not answer.
    pub(crate) fn golden_cases<E: From<RunError>>(
        &self,
        records: &[Record],
        each: &mut dyn FnMut(Opened<'_, '_>, &Record) -> Result<(), E>,
    ) -> Result<(), E> {
        for of_case in records.chunk_by(|a, b| (a.target, a.case) == (b.target, b.case)) {
            let Some(first) = of_case.first() else { continue };
            let case = self.case(first)?;
            let golden = self.open.golden_case(first.target, case);
            for record in of_case {
                each(golden.as_ref(), record)?;
            }
        }
        Ok(())
    }

    /// The classes of the data set.
    pub fn classes(&self) -> &[String] {
        &self.open.cases.set.classes
    }

    /// The changed scene of a record; `None` where there is none to be made.
    pub(crate) fn remade<'s>(
        &self,
        golden: &'s GoldenCase<'_>,
        record: &Record,
    ) -> Option<Remade<'s>> {
        let Response::Detections(found) = &golden.answer else { return None };
        let key = self.open.plan.key(record.number)?;
        let fault = self.open.fault(key);
        let scene_fault = disturb(fault).facts().scene_fault?;
        let scenes = Scenes::new(golden, found);
        let mut trial = Trial::new(golden, fault.name, self.open.trial_seed(key, &golden.key));
        let scene = scene_fault.change(&scenes.view(key.repeat), &mut trial.stream).ok()?;
        Some(Remade { scenes, scene, trial })
    }
}

/// A golden case, or why its target does not answer.
pub(crate) type Opened<'a, 's> = Result<&'a GoldenCase<'s>, &'a TargetError>;

/// A changed scene with what is needed to ask about it.
pub(crate) struct Remade<'s> {
    pub(super) scenes: Scenes<'s>,
    pub(crate) scene: Scene,
    pub(super) trial: Trial<'s>,
}

/// The scene at the last place on record.
pub(super) fn furthest(record: &Record, scenes: &Scenes<'_>, scene: &Scene) -> Option<Scene> {
    let relocation = record.measures.scene.as_ref()?.relocation.as_ref()?;
    let [left, top] = *relocation.places.last()?;
    let b = scene.touched.bounds;
    let centre = [left + (b.right - b.left) / 2.0, top + (b.bottom - b.top) / 2.0];
    scene.at(&scenes.view(0), centre)
}
