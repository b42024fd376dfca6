//! A camera that moves while the shutter is open.

use super::level::{Level, Points, SEVERITY, TABLE, strength};
use super::pixels::{FULL_SCALE, narrowed, widened};
use super::streak::Streak;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Smears the image along a line of random slope, up to 45° off the horizontal.
/// # When it happens
/// A camera or a scene that moves while the shutter is open.
pub(super) const MOTION_BLUR: Plugin<dyn ImageFault> = Plugin {
    name: "motion_blur",
    about: "smears the image along a line of random slope",
    when: "a camera or a scene that moves while the shutter is open",
    parameters: &[
        SEVERITY,
        TABLE,
        strength("radius", "half the length of the smear, in pixels", 0.0, 200.0),
        strength("deviation", "how slowly the smear fades, in pixels", 0.1, 200.0),
    ],
    build: |settings| Ok(Box::new(MotionBlur(POINTS.level(settings)?))),
};

const POINTS: Points<2> = Points {
    names: ["radius", "deviation"],
    photo: [[10.0, 3.0], [15.0, 5.0], [15.0, 8.0], [15.0, 12.0], [20.0, 15.0]],
    small: Some([[6.0, 1.0], [6.0, 1.5], [6.0, 2.0], [8.0, 2.0], [9.0, 2.5]]),
};

struct MotionBlur(Level<2>);

impl ImageFault for MotionBlur {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [radius, deviation] = self.0.numbers;
        let streak = Streak::new(radius, deviation, stream.between(-45.0, 45.0));
        let smeared = streak.smear(&widened(image, FULL_SCALE), image.width(), 3);
        narrowed(image, &smeared, FULL_SCALE)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "position", "faster"))
    }
}
