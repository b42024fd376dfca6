//! Changed scenes of a run, made again: to look at, and to learn from.

use super::said;
use super::trial::Set;
use crate::config::Disturbance;
use crate::inject::{Observed, Stage};
use crate::portrait::{portraits, side_by_side};
use crate::record::Record;
use crate::replay::Rerun;
use crate::run::RunError;
use faultlens_core::{Bounds, Case, Detection, Image, OutcomeKind, Response, Seed, Trial};
use faultlens_faults::scene::{Scene, Touched};

/// A changed scene, made again.
pub struct Finding {
    /// The undisturbed case.
    pub case: Case,
    /// What came or went.
    pub touched: Touched,
    /// What the target is shown.
    pub image: Image,
    /// What the target finds in the undisturbed image, and what it calls them.
    pub golden: Vec<(String, Detection)>,
    /// What it finds in the changed one, without the thing that came or went.
    pub observed: Vec<(String, Detection)>,
    /// Both images with what was found drawn on them, side by side; what changed stands out.
    pub drawn: Option<Image>,
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
                OutcomeKind::Deviated => true,
                kind => all && kind == OutcomeKind::Masked,
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
        for of_case in records.chunk_by(|a, b| (a.target, a.case) == (b.target, b.case)) {
            let Some(first) = of_case.first() else { continue };
            let case = self.case(first)?;
            let stage = Stage::open(&self.setup, first.target, case);
            let stage = stage.map_err(|error| RunError::NotRun(error.to_string()))?;
            for record in of_case {
                let none = || RunError::NotRun(format!("trial {} changed no scene", record.number));
                let finding = self.finding(&stage, record).ok_or_else(none)?;
                each(record, finding)?;
            }
        }
        Ok(())
    }

    /// The classes of the data set.
    pub fn classes(&self) -> &[String] {
        &self.setup.cases.set.classes
    }

    /// The changed scene of a record; `None` where there is none to be made.
    fn finding(&self, stage: &Stage<'_>, record: &Record) -> Option<Finding> {
        let Response::Detections(golden) = &stage.answer else { return None };
        let spot = self.setup.plan.spot(record.number)?;
        let fault = self.setup.fault(spot);
        let Disturbance::Scene(scene_fault) = &fault.disturbance else { return None };
        let set = Set::new(stage, fault.name, golden);
        let turn = self.setup.turn(spot, &stage.key);
        let mut trial = Trial::new(stage.subject, Seed::new(turn.seed).stream());
        let scene = scene_fault.change(&set.view(turn.repeat), trial.stream()).ok()?;
        let Observed { answer, moved, .. } = set.ask(&mut trial, &scene);
        let answer = answer.ok().flatten();
        let expected = moved.as_deref().unwrap_or(&stage.answer);
        let touched = Some(scene.touched.bounds);
        let both = answer.as_ref().and_then(|answer| {
            let before = (&stage.case.image, &stage.answer);
            portraits(before, expected, (&scene.image, answer), touched, self.setup.judge.overlap())
        });
        Some(Finding {
            golden: named(&stage.answer),
            observed: answer.as_ref().map(named).unwrap_or_default(),
            drawn: both.as_ref().and_then(side_by_side),
            furthest: furthest(record, &set, &scene),
            touched: scene.touched,
            image: scene.image,
            case: stage.case.clone(),
        })
    }
}

/// The scene at the last place on record.
fn furthest(record: &Record, set: &Set<'_>, scene: &Scene) -> Option<(Bounds, Image)> {
    let last = record.extra.get(said::MOVED_TO)?.split("; ").last()?;
    let (left, top) = last.split_once(' ')?;
    let (left, top): (f32, f32) = (left.parse().ok()?, top.parse().ok()?);
    let b = scene.touched.bounds;
    let centre = [left + (b.right - b.left) / 2.0, top + (b.bottom - b.top) / 2.0];
    let there = scene.at(&set.view(0), centre)?;
    Some((there.touched.bounds, there.image))
}

fn named(answer: &Response) -> Vec<(String, Detection)> {
    match answer {
        Response::Detections(all) => {
            all.found.iter().map(|found| (all.name(found.class), *found)).collect()
        }
        _ => Vec::new(),
    }
}
