//! A camera that points beside the scene.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::resample::{FILL, Fill, moved};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, Motion, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Shifts the image sideways and down by whole pixels.
    /// # When it happens
    /// A camera knocked out of place, a crop at the wrong position, a conveyor out of step.
    pub struct Translation {
        level: Level<2>,
        fill: Fill,
    }
}

impl Fault for Translation {
    const FACTS: Facts = Facts {
        name: "translation",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "position", "where else")),
        moves: true,
        parameters: &[
            SEVERITY,
            strength("right", "shift to the right, as a fraction of the width", -1.0, 1.0),
            strength("down", "shift downwards, as a fraction of the height", -1.0, 1.0),
            FILL,
        ],
        domain: Some(Domain::together(&[
            Range::new("right", 0.0, 0.4),
            Range::new("down", 0.0, 0.4),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { level: POINTS.level(settings)?, fill: Fill::of(settings)? })
    }
}

const POINTS: Points<2> = Points {
    names: ["right", "down"],
    photo: [[0.04, 0.04], [0.08, 0.08], [0.15, 0.15], [0.25, 0.25], [0.4, 0.4]],
    small: None,
};

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

    fn draws(&self) -> bool {
        false
    }

    fn motion(&self, width: usize, height: usize, _stream: &mut Stream) -> Option<Motion> {
        Some(self.shift(width, height))
    }
}
