//! One changed scene, asked about and judged; and the way of an object that disturbs an answer.

use super::said;
use super::shelf::Beside;
use crate::changes::sides;
use crate::config::Disturbance;
use crate::inject::{Observed, Stage, Turn, micros};
use crate::show::told;
use crate::varied::change_of;
use faultlens_core::{
    Bounds, Detections, Image, Mask, Outcome, Reason, Response, Seed, TargetError, Trial,
};
use faultlens_faults::SceneFault;
use faultlens_faults::scene::{Relocation, Scene, View};
use faultlens_judge::{HogSettings, hog, hog_intersection};
use std::collections::BTreeMap;
use std::time::Instant;

impl Stage<'_> {
    /// Whether a target that scenes are changed for says the same of the undisturbed one twice:
    /// else nobody could tell what a change does. Asked of services alone; models repeat.
    pub(crate) fn is_steady(&self) -> Result<bool, TargetError> {
        let faults = &self.setup.campaign.faults;
        if !faults.iter().any(|fault| matches!(fault.disturbance, Disturbance::Scene(_))) {
            return Ok(true);
        }
        match self.subject.second(&self.case.image) {
            Some(Err(closed @ TargetError::Closed(_))) => Err(closed),
            Some(answer) => {
                let again = Observed::inside(answer.map(Some), 0);
                Ok(matches!(self.judge(&again), Outcome::Masked | Outcome::Unjudged(_)))
            }
            None => Ok(true),
        }
    }

    /// Changes what stands in the scene, and asks.
    pub(crate) fn restage(
        &self,
        name: &'static str,
        fault: &dyn SceneFault,
        turn: Turn,
    ) -> Observed {
        let start = Instant::now();
        let Response::Detections(golden) = &self.answer else { return void(Reason::Unsuited) };
        if golden.found.is_empty() {
            return void(Reason::GoldenEmpty);
        }
        let trials = fault.per_object().map(|each| u64::from(each) * golden.found.len() as u64);
        if trials.is_some_and(|trials| u64::from(turn.repeat) >= trials) {
            return void(Reason::Surplus);
        }
        let set = Set::new(self, name, golden);
        let mut trial = Trial::new(self.subject, Seed::new(turn.seed).stream());
        let scene = match fault.change(&set.view(), trial.stream()) {
            Ok(scene) => scene,
            Err(reason) => return void(reason),
        };
        let changed = start.elapsed();
        let mut observed = set.ask(&mut trial, &scene);
        observed.extra.extend(set.said(&scene));
        if self.judge(&observed) == Outcome::Deviated {
            match set.relocate(fault, &mut trial, &scene) {
                Ok(told) => observed.extra.extend(told),
                // Who may not be asked any more is asked again later, from the start.
                Err(closed) => observed.answer = Err(closed),
            }
        }
        let elapsed = start.elapsed();
        self.setup.clock.add(changed, elapsed - changed);
        Observed { queries: trial.queries(), micros: micros(elapsed), ..observed }
    }
}

/// A case as its trials change it.
pub(super) struct Set<'s> {
    stage: &'s Stage<'s>,
    name: &'static str,
    golden: &'s Detections,
    beside: Beside<'s>,
    masks: Vec<(Bounds, &'s Mask)>,
}

impl<'s> Set<'s> {
    pub(super) fn new(stage: &'s Stage<'_>, name: &'static str, golden: &'s Detections) -> Self {
        let case = &stage.case;
        let beside = Beside { shelf: &stage.setup.shelf, image: &case.image, case: &case.name };
        let masks = case.objects.iter().filter(|object| !object.crowd);
        let masks = masks.filter_map(|object| Some((object.bounds, object.mask.as_ref()?)));
        Self { stage, name, golden, beside, masks: masks.collect() }
    }

    pub(super) fn view(&self) -> View<'_> {
        View {
            image: &self.stage.case.image,
            found: &self.golden.found,
            names: &self.golden.names,
            masks: &self.masks,
            supply: &self.beside,
        }
    }

    /// Asks about a scene. What is found of the thing that came or went is left out of the answer,
    /// and what went is not expected.
    pub(super) fn ask(&self, trial: &mut Trial<'_>, scene: &Scene) -> Observed {
        let answer = trial.ask(&scene.image).map(|answer| match answer {
            Response::Detections(mut all) => {
                all.found.retain(|found| !scene.touched.is(found));
                Some(Response::Detections(all))
            }
            other => Some(other),
        });
        let went = scene.stays.len() < self.golden.found.len();
        let moved = went.then(|| {
            let Detections { names, finite, .. } = self.golden.clone();
            Box::new(Response::Detections(Detections { found: scene.stays.clone(), names, finite }))
        });
        let looked_at = self.stage.setup.judge.looks_at_changes();
        let original = looked_at.then(|| self.stage.original()).flatten();
        let visual_change = original.and_then(|original| change_of(original, &scene.image));
        Observed {
            shown_under: Some(self.name),
            moved,
            visual_change,
            extra: told(visual_change),
            image: Some(scene.image.clone()),
            touched: Some(scene.touched.bounds),
            ..Observed::inside(answer, 0)
        }
    }

    /// Moves the object towards its destination, as far as the answer stays disturbed.
    fn relocate(
        &self,
        fault: &dyn SceneFault,
        trial: &mut Trial<'_>,
        scene: &Scene,
    ) -> Result<BTreeMap<String, String>, TargetError> {
        let view = self.view();
        let way = fault.destination(&view).and_then(|to| Relocation::new(scene, to));
        let Some(mut way) = way else { return Ok(BTreeMap::new()) };
        let mut places = Vec::new();
        let mut furthest = None;
        while let Some((share, at)) = way.next() {
            let there = scene.at(&view, at);
            let disturbs = match &there {
                Some(there) => {
                    let observed = self.ask(trial, there);
                    if let Err(closed @ TargetError::Closed(_)) = observed.answer {
                        return Err(closed);
                    }
                    self.stage.judge(&observed) == Outcome::Deviated
                }
                None => false,
            };
            way.tell(share, disturbs);
            if let Some(there) = there.filter(|_| disturbs) {
                let b = there.touched.bounds;
                places.push(format!("{} {}", b.left, b.top));
                furthest = Some(there);
            }
        }
        let mut told = BTreeMap::from([(said::MOVED.to_owned(), format!("{:.4}", way.share()))]);
        if let Some(furthest) = furthest {
            told.insert(said::MOVED_TO.to_owned(), places.join("; "));
            told.extend(self.naturalness(said::MOVED_NATURALNESS, &furthest.image));
        }
        Ok(told)
    }

    /// What a record says of a scene.
    fn said(&self, scene: &Scene) -> BTreeMap<String, String> {
        let touched = &scene.touched;
        let mut told = BTreeMap::from([
            (said::LABEL.to_owned(), touched.label.clone()),
            (said::BOX.to_owned(), sides(&touched.bounds)),
            (said::FOUND.to_owned(), self.golden.found.len().to_string()),
        ]);
        told.extend(touched.object.iter().map(|id| (said::OBJECT.to_owned(), id.clone())));
        told.extend(touched.beside.iter().map(|b| (said::BESIDE.to_owned(), sides(b))));
        told.extend(self.naturalness(said::NATURALNESS, &scene.image));
        told
    }

    /// How natural an image looks beside the undisturbed one; nothing for images too small to
    /// tell.
    fn naturalness(&self, name: &str, image: &Image) -> Option<(String, String)> {
        let edges = |image: &Image| hog(image, &HogSettings::default()).ok();
        let original = self.stage.edges.get_or_init(|| edges(&self.stage.case.image)).as_ref()?;
        let share = hog_intersection(original, &edges(image)?);
        Some((name.to_owned(), format!("{share:.6}")))
    }
}

fn void(reason: Reason) -> Observed {
    Observed { queries: 0, void: Some(reason), ..Observed::inside(Ok(None), 0) }
}
