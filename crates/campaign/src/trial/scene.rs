//! Scene faults: an object comes into the scene or goes out of it, and all others must be found as
//! before. An object that disturbs the answer is moved on towards its destination, as far as the
//! answer stays disturbed.

use super::{Disturb, SeedScope, Trial};
use crate::golden_case::GoldenCase;
use crate::object_pool::ImageSupply;
use crate::observation::{Observation, ShownImage};
use faultlens_core::{Bounds, Detections, Image, Mask, Outcome, Reason, Response, TargetError};
use faultlens_faults::SceneFault;
use faultlens_faults::scene::{Relocation, Scene, View};
use faultlens_record::said;
use faultlens_record::store::FaultOn;
use std::collections::BTreeMap;

impl Disturb for Box<dyn SceneFault> {
    fn disturbs(&self) -> FaultOn {
        FaultOn::Scene
    }

    fn seed_scope(&self) -> SeedScope {
        SeedScope::TargetAndCase
    }

    fn run(&self, trial: &mut Trial<'_>) -> Observation {
        let golden = trial.golden;
        let Response::Detections(found) = &golden.answer else {
            return Observation::skipped(Reason::UnsupportedAnswer);
        };
        let scenes = Scenes::new(golden, found);
        let view = scenes.view(trial.seed.repeat);
        let scene = match self.change(&view, trial.stream()) {
            Ok(scene) => scene,
            Err(reason) => {
                let extra = BTreeMap::from([scenes.objects_found()]);
                return Observation { extra, ..Observation::skipped(reason) };
            }
        };
        let mut observation = scenes.ask(trial, &scene);
        observation.extra.extend(scenes.fields(&scene));
        if golden.judge(&observation) == Outcome::Changed {
            match scenes.relocate(self.as_ref(), trial, &scene) {
                Ok(fields) => observation.extra.extend(fields),
                // A target that may not be asked any more is asked again later, from the start.
                Err(closed) => observation.answer = Err(closed),
            }
        }
        observation
    }

    fn max_queries(&self) -> u64 {
        self.as_ref().max_queries()
    }

    fn needs_objects(&self) -> bool {
        self.as_ref().needs_objects()
    }

    fn needs_stable_golden(&self) -> bool {
        true
    }

    fn depends_on_repeat(&self) -> bool {
        true
    }

    fn scene_fault(&self) -> Option<&dyn SceneFault> {
        Some(self.as_ref())
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

    /// Moves the object towards its destination, as far as the answer stays disturbed.
    fn relocate(
        &self,
        fault: &dyn SceneFault,
        trial: &mut Trial<'_>,
        scene: &Scene,
    ) -> Result<BTreeMap<String, String>, TargetError> {
        let view = self.view(trial.seed.repeat);
        let way = fault.destination(&view).and_then(|to| Relocation::new(scene, to));
        let Some(mut way) = way else { return Ok(BTreeMap::new()) };
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
                Err(closed @ TargetError::Closed(_)) => return Err(closed),
                // It is unknown whether the answer is disturbed there.
                Err(TargetError::Lost(_) | TargetError::TimedOut(_)) => {
                    return Ok(BTreeMap::new());
                }
                _ => self.golden.judge(&observation) == Outcome::Changed,
            };
            way.tell(share, disturbs);
            if disturbs {
                let bounds = there.touched.bounds;
                places.push(format!("{} {}", bounds.left, bounds.top));
                furthest = Some(there);
            }
        }
        let mut fields = BTreeMap::from([(said::MOVED.to_owned(), way.share().to_string())]);
        if let Some(furthest) = furthest {
            fields.insert(said::MOVED_TO.to_owned(), places.join("; "));
            fields.extend(self.naturalness(said::MOVED_NATURALNESS, &furthest.image));
        }
        Ok(fields)
    }

    /// What a record says of a scene.
    fn fields(&self, scene: &Scene) -> BTreeMap<String, String> {
        let touched = &scene.touched;
        let mut fields = BTreeMap::from([
            (said::LABEL.to_owned(), touched.label.clone()),
            (said::BOX.to_owned(), touched.bounds.to_string()),
            self.objects_found(),
        ]);
        if let Some(id) = &touched.object {
            fields.insert(said::OBJECT.to_owned(), id.clone());
        }
        if let Some(bounds) = &touched.beside {
            fields.insert(said::BESIDE.to_owned(), bounds.to_string());
        }
        fields.extend(self.naturalness(said::NATURALNESS, &scene.image));
        fields
    }

    fn objects_found(&self) -> (String, String) {
        (said::FOUND.to_owned(), self.found.found.len().to_string())
    }

    fn naturalness(&self, name: &str, image: &Image) -> Option<(String, String)> {
        let share = self.golden.naturalness(image)?;
        Some((name.to_owned(), format!("{share:.6}")))
    }
}
