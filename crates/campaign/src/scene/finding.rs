//! Changed scenes of a run, made again, to learn from.

use super::trial::Set;
use crate::inject::GoldenCase;
use crate::replay::Rerun;
use crate::run::RunError;
use faultlens_core::{Bounds, Case, Image, OutcomeKind, Response, Seed, TargetError, Trial};
use faultlens_faults::scene::{Scene, Touched};
use faultlens_record::Record;
use faultlens_spec::Disturbance;

/// A changed scene, made again; nobody is asked about it.
pub struct Finding {
    /// The undisturbed case.
    pub case: Case,
    /// What came or went.
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
            let spot = self.setup.plan.spot(record.number);
            let fault = spot.map(|spot| &self.setup.fault(spot).disturbance);
            let counts = match record.outcome.kind() {
                OutcomeKind::Changed => true,
                kind => all && kind == OutcomeKind::Unchanged,
            };
            if counts && matches!(fault, Some(Disturbance::Scene(_))) {
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
        self.staged(records, &mut |stage, record| {
            let stage = stage.map_err(|error| RunError::NotRun(error.to_string()))?;
            let none = || RunError::NotRun(format!("trial {} changed no scene", record.number));
            let Remade { set, scene, .. } = self.remade(stage, record).ok_or_else(none)?;
            let furthest = furthest(record, &set, &scene);
            let finding = Finding {
                furthest: furthest.map(|there| (there.touched.bounds, there.image)),
                touched: scene.touched,
                image: scene.image,
                case: stage.case.clone(),
            };
            each(record, finding)
        })
    }

    /// Asks about the undisturbed case of each record, once for records that follow each other; an
    /// error where the target does not answer.
    pub(crate) fn staged<E: From<RunError>>(
        &self,
        records: &[Record],
        each: &mut dyn FnMut(Opened<'_, '_>, &Record) -> Result<(), E>,
    ) -> Result<(), E> {
        for of_case in records.chunk_by(|a, b| (a.target, a.case) == (b.target, b.case)) {
            let Some(first) = of_case.first() else { continue };
            let case = self.case(first)?;
            let stage = GoldenCase::open(&self.setup, first.target, case);
            of_case.iter().try_for_each(|record| each(stage.as_ref(), record))?;
        }
        Ok(())
    }

    /// The classes of the data set.
    pub fn classes(&self) -> &[String] {
        &self.setup.cases.set.classes
    }

    /// The changed scene of a record; `None` where there is none to be made.
    pub(crate) fn remade<'s>(
        &self,
        stage: &'s GoldenCase<'_>,
        record: &Record,
    ) -> Option<Remade<'s>> {
        let Response::Detections(golden) = &stage.answer else { return None };
        let spot = self.setup.plan.spot(record.number)?;
        let fault = self.setup.fault(spot);
        let Disturbance::Scene(scene_fault) = &fault.disturbance else { return None };
        let set = Set::new(stage, fault.name, golden);
        let turn = self.setup.turn(spot, &stage.key);
        let mut trial = Trial::new(stage.subject, Seed::new(turn.seed).stream());
        let scene = scene_fault.change(&set.view(turn.repeat), trial.stream()).ok()?;
        Some(Remade { set, scene, trial })
    }
}

/// The stage of a case, or why its target does not answer.
pub(crate) type Opened<'a, 's> = Result<&'a GoldenCase<'s>, &'a TargetError>;

/// A changed scene with what is needed to ask about it.
pub(crate) struct Remade<'s> {
    pub(super) set: Set<'s>,
    pub(crate) scene: Scene,
    pub(super) trial: Trial<'s>,
}

/// The scene at the last place on record.
pub(super) fn furthest(record: &Record, set: &Set<'_>, scene: &Scene) -> Option<Scene> {
    let way = record.measures.scene.as_ref()?.relocation.as_ref()?;
    let [left, top] = *way.places.last()?;
    let b = scene.touched.bounds;
    let centre = [left + (b.right - b.left) / 2.0, top + (b.bottom - b.top) / 2.0];
    scene.at(&set.view(0), centre)
}
