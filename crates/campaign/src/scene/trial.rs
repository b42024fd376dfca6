//! One changed scene, asked about and judged; and the way of an object that disturbs an answer.

use super::object_pool::Beside;
use crate::inject::{GoldenCase, Observation, TrialSeed, micros, persistently};
use crate::show::told;
use faultlens_core::{
    Bounds, Detections, Image, Mask, Outcome, Reason, Response, Seed, TargetError, Trial,
};
use faultlens_faults::SceneFault;
use faultlens_faults::scene::{Relocation, Scene, View};
use faultlens_judge::{HogSettings, hog, hog_intersection};
use faultlens_record::said;
use faultlens_spec::change_of;
use std::collections::BTreeMap;
use std::time::Instant;

impl GoldenCase<'_> {
    /// Why scenes cannot be changed for a target: it does not say the same of the undisturbed one
    /// twice, so that nobody could tell what a change does. Asked of services alone; models repeat.
    pub(crate) fn unsteady(&self) -> Result<Option<Reason>, TargetError> {
        let service = self.subject.service().filter(|_| self.setup.changes_scenes());
        if service.is_none() {
            return Ok(None);
        }
        let again = persistently(|| self.subject.second(&self.case.image));
        match again {
            Err(closed @ TargetError::Closed(_)) => Err(closed),
            Err(_) => Ok(Some(Reason::NoResponse)),
            Ok(answer) => {
                let again = Observation::inside(Ok(Some(answer)), 0);
                Ok((self.judge(&again) == Outcome::Changed).then_some(Reason::GoldenUnstable))
            }
        }
    }

    /// Changes what stands in the scene, and asks.
    pub(crate) fn restage(
        &self,
        name: &'static str,
        fault: &dyn SceneFault,
        turn: TrialSeed,
    ) -> Observation {
        let start = Instant::now();
        let Response::Detections(golden) = &self.answer else {
            return void(Reason::UnsupportedAnswer);
        };
        let found = (said::FOUND.to_owned(), golden.found.len().to_string());
        let told = |void: Observation| Observation { extra: BTreeMap::from([found]), ..void };
        let set = Set::new(self, name, golden);
        let mut trial = Trial::new(self.subject, Seed::new(turn.seed).stream());
        let scene = match fault.change(&set.view(turn.repeat), trial.stream()) {
            Ok(scene) => scene,
            Err(reason) => return told(void(reason)),
        };
        let changed = start.elapsed();
        let mut observed = set.ask(&mut trial, &scene);
        observed.extra.extend(set.said(&scene));
        if self.judge(&observed) == Outcome::Changed {
            match set.relocate(fault, &mut trial, &scene, turn) {
                Ok(told) => observed.extra.extend(told),
                // Who may not be asked any more is asked again later, from the start.
                Err(closed) => observed.answer = Err(closed),
            }
        }
        let elapsed = start.elapsed();
        self.setup.clock.add(changed, elapsed - changed);
        Observation { queries: trial.queries(), micros: micros(elapsed), ..observed }
    }
}

/// A case as its trials change it.
pub(super) struct Set<'s> {
    stage: &'s GoldenCase<'s>,
    name: &'static str,
    golden: &'s Detections,
    beside: Beside<'s>,
    masks: Vec<(Bounds, &'s Mask)>,
}

impl<'s> Set<'s> {
    pub(super) fn new(
        stage: &'s GoldenCase<'_>,
        name: &'static str,
        golden: &'s Detections,
    ) -> Self {
        let case = &stage.case;
        let beside =
            Beside { object_pool: &stage.setup.object_pool, image: &case.image, case: &case.name };
        let masks = case.objects.iter().filter(|object| !object.crowd);
        let masks = masks.filter_map(|object| Some((object.bounds, object.mask.as_ref()?)));
        Self { stage, name, golden, beside, masks: masks.collect() }
    }

    /// The scene for the trial that so many came before.
    pub(super) fn view(&self, repeat: u32) -> View<'_> {
        View {
            repeat,
            image: &self.stage.case.image,
            found: &self.golden.found,
            names: &self.golden.names,
            masks: &self.masks,
            supply: &self.beside,
        }
    }

    /// Asks about a scene. What is found of the thing that came or went is left out of the answer,
    /// and what went is not expected.
    pub(super) fn ask(&self, trial: &mut Trial<'_>, scene: &Scene) -> Observation {
        let mut own = Vec::new();
        let answer = trial.ask(&scene.image).map(|answer| match answer {
            Response::Detections(mut all) => {
                (own, all.found) = scene.parted(std::mem::take(&mut all.found));
                Some(Response::Detections(all))
            }
            other => Some(other),
        });
        let went = scene.stays.len() < self.golden.found.len();
        let moved = went.then(|| {
            let Detections { names, finite, .. } = self.golden.clone();
            Box::new(Response::Detections(Detections { found: scene.stays.clone(), names, finite }))
        });
        let looked_at = self.stage.setup.judge.needs_visual_change();
        let original = looked_at.then(|| self.stage.original()).flatten();
        let visual_change = original.and_then(|original| change_of(original, &scene.image));
        Observation {
            shown_under: Some(self.name),
            moved,
            visual_change,
            extra: told(visual_change),
            image: Some(scene.image.clone()),
            touched: Some(scene.touched.bounds),
            own,
            ..Observation::inside(answer, 0)
        }
    }

    /// Moves the object towards its destination, as far as the answer stays disturbed.
    fn relocate(
        &self,
        fault: &dyn SceneFault,
        trial: &mut Trial<'_>,
        scene: &Scene,
        turn: TrialSeed,
    ) -> Result<BTreeMap<String, String>, TargetError> {
        let view = self.view(turn.repeat);
        let way = fault.destination(&view).and_then(|to| Relocation::new(scene, to));
        let Some(mut way) = way else { return Ok(BTreeMap::new()) };
        let mut places = Vec::new();
        let mut furthest = None;
        while let Some((share, at)) = way.next() {
            let there = scene.at(&view, at);
            let disturbs = match &there {
                Some(there) => {
                    let observed = self.ask(trial, there);
                    match observed.answer {
                        Err(closed @ TargetError::Closed(_)) => return Err(closed),
                        // Nobody knows whether the answer is disturbed there.
                        Err(TargetError::Lost(_) | TargetError::TimedOut(_)) => {
                            return Ok(BTreeMap::new());
                        }
                        _ => self.stage.judge(&observed) == Outcome::Changed,
                    }
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
        let mut told = BTreeMap::from([(said::MOVED.to_owned(), way.share().to_string())]);
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
            (said::BOX.to_owned(), touched.bounds.to_string()),
            (said::FOUND.to_owned(), self.golden.found.len().to_string()),
        ]);
        told.extend(touched.object.iter().map(|id| (said::OBJECT.to_owned(), id.clone())));
        told.extend(touched.beside.iter().map(|b| (said::BESIDE.to_owned(), b.to_string())));
        told.extend(self.naturalness(said::NATURALNESS, &scene.image));
        told
    }

    /// How natural an image looks beside the undisturbed one; nothing for images too small to
    /// tell.
    fn naturalness(&self, name: &str, image: &Image) -> Option<(String, String)> {
        let edges = |image: &Image| hog(image, &HogSettings::default()).ok();
        let original = self.stage.edges.get_or_init(|| edges(&self.stage.case.image)).as_ref()?;
        let share = hog_intersection(original, &edges(image)?)?;
        Some((name.to_owned(), format!("{share:.6}")))
    }
}

fn void(reason: Reason) -> Observation {
    Observation { queries: 0, void: Some(reason), ..Observation::inside(Ok(None), 0) }
}
