//! Image faults: the target is shown a changed image.

use super::{Disturb, Facts, SeedScope, Trial};
use crate::observation::{Observation, ShownImage};
use faultlens_core::{Image, ImageFault, Response, Seed};
use faultlens_record::store::FaultOn;

impl Disturb for Box<dyn ImageFault> {
    fn facts(&self) -> Facts<'_> {
        Facts::new(FaultOn::Image, SeedScope::Case)
    }

    fn run(&self, trial: &mut Trial<'_>) -> Observation {
        let golden = trial.golden;
        let image = self.change(&golden.case.image, &mut trial.stream);
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
    let width = golden.case.image.width();
    let height = golden.case.image.height();
    let mut shown = ShownImage::new(image, trial.fault, visual_change);
    // Other answers have no positions that could move along.
    if matches!(golden.answer, Response::Detections(_) | Response::Segments(_)) {
        shown.motion = fault.motion(width, height, &mut Seed::new(seed).stream());
    }
    let motion = shown.motion.as_ref();
    shown.expected = motion.map(|motion| motion.response(&golden.answer, width, height));
    shown
}
