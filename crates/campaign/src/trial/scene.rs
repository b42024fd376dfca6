//! Scene faults: an object comes into the scene or goes out of it, and all others must be found as
//! before. An object that disturbs the answer is moved on towards its destination, as far as the
//! answer stays disturbed.

use super::{Disturb, Facts, SeedScope, Trial};
use crate::golden_case::GoldenCase;
use crate::object_pool::ImageSupply;
use crate::observation::{Observation, ShownImage};
use faultlens_core::{Bounds, Detections, Mask, Outcome, Reason, Response, TargetError};
use faultlens_faults::SceneFault;
use faultlens_faults::scene::{self, Scene, View};
use faultlens_record::store::FaultOn;
use faultlens_record::{Measures, Relocation, SceneChange, SceneObject};
use std::cell::Cell;

impl Disturb for Box<dyn SceneFault> {
    fn facts(&self) -> Facts<'_> {
        Facts {
            max_queries: self.max_queries(),
            needs_objects: self.needs_objects(),
            needs_stable_golden: true,
            depends_on_repeat: true,
            scene_fault: Some(self.as_ref()),
            ..Facts::new(FaultOn::Scene, SeedScope::TargetAndCase)
        }
    }

    fn run(&self, trial: &mut Trial<'_>) -> Observation {
        let golden = trial.golden;
        let Response::Detections(found) = &golden.answer else {
            return Observation::skipped(Reason::UnsupportedAnswer);
        };
        let scenes = Scenes::new(golden, found);
        let view = scenes.view(trial.seed.repeat);
        let mut change =
            SceneChange { objects_found: found.found.len() as u64, ..SceneChange::default() };
        let changed = self.change(&view, &mut trial.stream);
        // An object that cannot be read now is no object that does not exist.
        if let Some(why) = scenes.supply.unreadable.take() {
            return Observation::answered(Err(TargetError::Unavailable(why)));
        }
        let mut observation = match changed {
            Ok(scene) => {
                let mut observation = scenes.ask(trial, &scene);
                change.object = Some(scene_object(&scene));
                change.naturalness = golden.naturalness(&scene.image);
                if golden.judge(&observation) == Outcome::Changed {
                    match scenes.relocate(self.as_ref(), trial, &scene) {
                        Ok(relocation) => change.relocation = relocation,
                        // A target that gives no answer now is asked again later, from the start.
                        Err(error) => observation.answer = Err(error),
                    }
                }
                observation
            }
            Err(reason) => Observation::skipped(reason),
        };
        observation.measures = Measures { scene: Some(change), ..Measures::default() };
        observation
    }
}

/// The scenes that trials make of one case.
pub(crate) struct Scenes<'s> {
    golden: &'s GoldenCase<'s>,
    found: &'s Detections,
    supply: ImageSupply<'s>,
    masks: Vec<(Bounds, &'s Mask)>,
}

impl<'s> Scenes<'s> {
    pub(crate) fn new(golden: &'s GoldenCase<'_>, found: &'s Detections) -> Self {
        let case = &golden.case;
        let supply = ImageSupply {
            object_pool: &golden.context.object_pool,
            image: &case.image,
            case: &case.name,
            unreadable: Cell::default(),
        };
        let mut masks = Vec::new();
        for object in case.objects.iter().filter(|object| !object.crowd) {
            masks.extend(object.mask.as_ref().map(|mask| (object.bounds, mask)));
        }
        Self { golden, found, supply, masks }
    }

    /// The undisturbed scene, for the trial that so many came before.
    pub(crate) fn view(&self, repeat: u32) -> View<'_> {
        View {
            repeat,
            image: &self.golden.case.image,
            found: &self.found.found,
            names: &self.found.names,
            masks: &self.masks,
            supply: &self.supply,
        }
    }

    /// Asks about a scene. What is found of the object that came or went is left out of the answer,
    /// and an object that went is not expected any more.
    pub(crate) fn ask(&self, trial: &mut Trial<'_>, scene: &Scene) -> Observation {
        let mut touched_found = Vec::new();
        let answer = trial.ask(&scene.image).map(|answer| match answer {
            Response::Detections(mut all) => {
                (touched_found, all.found) = scene.parted(std::mem::take(&mut all.found));
                Some(Response::Detections(all))
            }
            other => Some(other),
        });
        let mut expected = None;
        if scene.stays.len() < self.found.found.len() {
            let found = scene.stays.clone();
            expected = Some(Response::Detections(Detections { found, ..self.found.clone() }));
        }
        let mut visual_change = None;
        if self.golden.context.judge.needs_visual_change() {
            visual_change = self.golden.visual_change(&scene.image);
        }
        let shown = ShownImage {
            expected,
            touched: Some(scene.touched.bounds),
            touched_found,
            ..ShownImage::new(scene.image.clone(), trial.fault, visual_change)
        };
        Observation { shown: Some(Box::new(shown)), ..Observation::answered(answer) }
    }

    /// Moves the object towards its destination, as far as the answer stays disturbed; `None` where
    /// it has no destination, or where an answer on the way is lost.
    fn relocate(
        &self,
        fault: &dyn SceneFault,
        trial: &mut Trial<'_>,
        scene: &Scene,
    ) -> Result<Option<Relocation>, TargetError> {
        let view = self.view(trial.seed.repeat);
        let destination = fault.destination(&view);
        let way = destination.and_then(|to| scene::Relocation::new(scene, to));
        let Some(mut way) = way else { return Ok(None) };
        let mut places = Vec::new();
        let mut furthest = None;
        while let Some((share, at)) = way.next() {
            // Where the object cannot stand, it disturbs nothing.
            let Some(there) = scene.at(&view, at) else {
                way.tell(share, false);
                continue;
            };
            let observation = self.ask(trial, &there);
            let disturbs = match observation.answer {
                Err(error) if error.leaves_open() => return Err(error),
                // It is unknown whether the answer is disturbed there.
                Err(TargetError::Lost(_) | TargetError::TimedOut(_)) => return Ok(None),
                _ => self.golden.judge(&observation) == Outcome::Changed,
            };
            way.tell(share, disturbs);
            if disturbs {
                let bounds = there.touched.bounds;
                places.push([bounds.left, bounds.top]);
                furthest = Some(there);
            }
        }
        let naturalness =
            furthest.and_then(|furthest: Scene| self.golden.naturalness(&furthest.image));
        Ok(Some(Relocation { share: way.share(), places, naturalness }))
    }
}

/// The object that a scene gained or lost.
fn scene_object(scene: &Scene) -> SceneObject {
    SceneObject {
        label: scene.touched.label.clone(),
        id: scene.touched.object.clone(),
        bounds: scene.touched.bounds,
        beside: scene.touched.beside,
    }
}
