//! Image faults: the target is shown a changed image.

use super::{Disturb, SeedScope, Trial};
use crate::golden_case::GoldenCase;
use crate::observation::{Observation, ShownImage};
use faultlens_core::{Image, ImageFault, Motion, Response, Seed};
use faultlens_record::store::FaultOn;

impl Disturb for Box<dyn ImageFault> {
    fn disturbs(&self) -> FaultOn {
        FaultOn::Image
    }

    fn seed_scope(&self) -> SeedScope {
        SeedScope::Case
    }

    fn run(&self, trial: &mut Trial<'_>) -> Observation {
        let golden = trial.golden;
        let image = self.change(&golden.case.image, trial.stream());
        let mut visual_change = None;
        if golden.context.measures_visual_change {
            visual_change = golden.visual_change(&image);
        }
        let shown = shown(trial, self.as_ref(), trial.seed.seed, image, visual_change);
        let answer = trial.ask(&shown.image).map(Some);
        Observation { shown: Some(Box::new(shown)), ..Observation::answered(answer) }
    }
}

/// A changed image, with what is expected of the answer where the fault has moved things. `seed` is
/// what the fault's random numbers started from: the motion draws the same ones.
pub(super) fn shown(
    trial: &Trial<'_>,
    fault: &dyn ImageFault,
    seed: u64,
    image: Image,
    visual_change: Option<f64>,
) -> ShownImage {
    let golden = trial.golden;
    let motion = motion(golden, fault, seed);
    let expected = motion.as_ref().map(|motion| {
        motion.response(&golden.answer, golden.case.image.width(), golden.case.image.height())
    });
    ShownImage { expected, motion, ..ShownImage::new(image, trial.fault, visual_change) }
}

/// How a fault moves things; `None` where answers have no positions that could move along.
fn motion(golden: &GoldenCase<'_>, fault: &dyn ImageFault, seed: u64) -> Option<Motion> {
    if !matches!(golden.answer, Response::Detections(_) | Response::Segments(_)) {
        return None;
    }
    let image = &golden.case.image;
    fault.motion(image.width(), image.height(), &mut Seed::new(seed).stream())
}
