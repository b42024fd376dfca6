//! Trials that show a target a changed image.

use crate::inject::{GoldenCase, Observation, micros};
use faultlens_core::{Image, ImageFault, Motion, Reason, Response, Seed, Trial};
use faultlens_judge::visual::Reference;
use faultlens_record::keys::{TRIED, VISUAL_CHANGE};
use faultlens_spec::{Drawn, Varied, change_of};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

impl GoldenCase<'_> {
    /// Shows the target a changed image.
    pub(crate) fn show(
        &self,
        name: &'static str,
        fault: &dyn ImageFault,
        seed: u64,
    ) -> Observation {
        let start = Instant::now();
        let mut trial = Trial::new(self.subject, Seed::new(seed).stream());
        let image = fault.change(&self.case.image, trial.stream());
        let visual_change = match self.setup.tells_changes() {
            true => self.original().and_then(|original| change_of(original, &image)),
            false => None,
        };
        let changed = start.elapsed();
        let shown = self.asked(trial, image, start, changed);
        let motion = self.motion(fault, seed);
        Observation {
            shown_under: Some(name),
            moved: motion.as_ref().map(|motion| self.moved(motion)),
            motion: motion.map(Box::new),
            visual_change,
            extra: told(visual_change),
            ..shown
        }
    }

    /// Shows the target an image that is changed by as much as is drawn.
    pub(crate) fn show_varied(
        &self,
        name: &'static str,
        varied: &Varied,
        seed: u64,
    ) -> Observation {
        let start = Instant::now();
        let mut trial = Trial::new(self.subject, Seed::new(seed).stream());
        let drawn = varied.draw(&self.case.image, self.original(), trial.stream());
        let changed = start.elapsed();
        let Some(drawn) = drawn else {
            let void = Some(Reason::StrengthNotFound);
            return Observation {
                queries: 0,
                void,
                ..Observation::inside(Ok(None), micros(changed))
            };
        };
        let Drawn { fault, seed, image, visual_change, strengths, tried, fits } = drawn;
        let mut extra = told(visual_change);
        extra.extend(strengths.iter().map(|(name, at)| ((*name).to_owned(), at.to_string())));
        if tried > 1 {
            extra.insert(TRIED.to_owned(), tried.to_string());
        }
        let motion = self.motion(fault.as_ref(), seed);
        let moved = motion.as_ref().map(|motion| self.moved(motion));
        // What would say nothing is not asked.
        let shown = match fits {
            true => self.asked(trial, image, start, changed),
            false => Observation {
                queries: 0,
                image: Some(image),
                void: Some(match visual_change {
                    Some(_) => Reason::StrengthNotFound,
                    None => Reason::VisualChangeUnknown,
                }),
                ..Observation::inside(Ok(None), micros(changed))
            },
        };
        let motion = motion.map(Box::new);
        Observation { shown_under: Some(name), moved, motion, visual_change, extra, ..shown }
    }

    fn asked(
        &self,
        mut trial: Trial<'_>,
        image: Image,
        start: Instant,
        changed: Duration,
    ) -> Observation {
        let answer = trial.ask(&image).map(Some);
        let elapsed = start.elapsed();
        self.setup.clock.add(changed, elapsed - changed);
        let queries = trial.queries();
        Observation { image: Some(image), queries, ..Observation::inside(answer, micros(elapsed)) }
    }

    /// What changes of the image are held against; `None` where there is no telling.
    pub(crate) fn original(&self) -> Option<&Reference> {
        self.original.get_or_init(|| Reference::new(&self.case.image).ok()).as_ref()
    }

    /// How a fault moves things, where answers give places of them.
    fn motion(&self, fault: &dyn ImageFault, seed: u64) -> Option<Motion> {
        if !matches!(self.answer, Response::Detections(_) | Response::Segments(_)) {
            return None;
        }
        let (width, height) = (self.case.image.width(), self.case.image.height());
        fault.motion(width, height, &mut Seed::new(seed).stream())
    }

    /// What the target should answer where things have moved.
    fn moved(&self, motion: &Motion) -> Box<Response> {
        let (width, height) = (self.case.image.width(), self.case.image.height());
        Box::new(motion.response(&self.answer, width, height))
    }
}

/// A visual change as records have it: more digits would say more than anybody sees.
pub(crate) fn told(visual_change: Option<f64>) -> BTreeMap<String, String> {
    let change = visual_change.map(|change| (VISUAL_CHANGE.to_owned(), format!("{change:.6}")));
    change.into_iter().collect()
}
