//! A camera too far away, or too near.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::edge::Edge;
use crate::image::paint::resample::{FILL, Fill, moved};
use crate::image::paint::smooth::{MAX_DEVIATION, blurred};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, Motion, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Shrinks or enlarges the content about the image centre.
    /// # When it happens
    /// A camera mounted too far away, another lens, preprocessing with the wrong size.
    pub struct Rescale {
        level: Level<1>,
        fill: Fill,
    }
}

impl Fault for Rescale {
    const FACTS: Facts = Facts {
        name: "rescale",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "position", "remote")),
        moves: true,
        parameters: &[
            SEVERITY,
            strength(
                "factor",
                "new size of the content over the old; above 1 zooms in",
                0.05,
                20.0,
            ),
            FILL,
        ],
        domain: Some(Domain::together(&[Range::new("factor", 1.0, 0.35)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { level: POINTS.level(settings)?, fill: Fill::of(settings)? })
    }
}

const POINTS: Points<1> =
    Points { names: ["factor"], photo: [[0.9], [0.8], [0.65], [0.5], [0.35]], small: None };

impl Rescale {
    fn zoom(&self, width: usize, height: usize) -> Motion {
        let pace = 1.0 / self.level.numbers[0];
        let [x, y] = [width, height].map(|n| (1.0 - pace) * n as f64 / 2.0);
        Motion::Affine([[pace, 0.0, x], [0.0, pace, y]])
    }
}

impl ImageFault for Rescale {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let zoom = self.zoom(image.width(), image.height());
        let [factor] = self.level.numbers;
        if factor >= 1.0 {
            return moved(image, &zoom, self.fill);
        }
        // Smooth what becomes too small to be seen, so that no patterns appear.
        let deviation = (0.5 * (1.0 / factor - 1.0)).min(MAX_DEVIATION);
        moved(&blurred(image, deviation, Edge::Reflect), &zoom, self.fill)
    }

    fn dose(&self) -> Dose {
        self.level.dose
    }

    fn draws(&self) -> bool {
        false
    }

    fn motion(&self, width: usize, height: usize, _stream: &mut Stream) -> Option<Motion> {
        Some(self.zoom(width, height))
    }
}
