//! A camera that looks beside the scene.

use super::level::{Level, Points, SEVERITY, strength};
use super::resample::{FILL, Fill, moved};
use faultlens_core::{Dose, Hazard, Image, ImageFault, Motion, Place, Plugin, Stream};

/// # What it does
/// Moves the image sideways and down, by whole pixels.
/// # When it happens
/// A camera knocked out of place, a crop at the wrong spot, a conveyor out of step.
pub(super) const TRANSLATION: Plugin<dyn ImageFault> = Plugin {
    name: "translation",
    about: "moves the image sideways and down",
    when: "a camera knocked out of place, a crop at the wrong spot, a conveyor out of step",
    parameters: &[
        SEVERITY,
        strength("right", "how far to the right, in shares of the width", -1.0, 1.0),
        strength("down", "how far down, in shares of the height", -1.0, 1.0),
        FILL,
    ],
    build: |settings| {
        Ok(Box::new(Translation { level: POINTS.level(settings)?, fill: Fill::of(settings)? }))
    },
};

const POINTS: Points<2> = Points {
    names: ["right", "down"],
    photo: [[0.04, 0.04], [0.08, 0.08], [0.15, 0.15], [0.25, 0.25], [0.4, 0.4]],
    small: None,
};

struct Translation {
    level: Level<2>,
    fill: Fill,
}

impl Translation {
    fn shift(&self, width: usize, height: usize) -> Motion {
        let [right, down] = self.level.numbers;
        let [right, down] = [right * width as f64, down * height as f64].map(libm::round);
        Motion::Affine([[1.0, 0.0, -right], [0.0, 1.0, -down]])
    }
}

impl ImageFault for Translation {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        moved(image, &self.shift(image.width(), image.height()), self.fill)
    }

    fn dose(&self) -> Dose {
        self.level.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "position", "where else"))
    }

    fn draws(&self) -> bool {
        false
    }

    fn motion(&self, width: usize, height: usize, _stream: &mut Stream) -> Option<Motion> {
        Some(self.shift(width, height))
    }
}
