//! A camera mounted at an angle.

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
    /// Rotates the image about its centre.
    /// # When it happens
    /// A camera mounted at an angle or knocked out of place, a leaning vehicle.
    pub struct Rotation {
        level: Level<1>,
        fill: Fill,
    }
}

impl Fault for Rotation {
    const FACTS: Facts = Facts {
        name: "rotation",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "orientation", "other than")),
        moves: true,
        parameters: &[
            SEVERITY,
            strength("angle", "rotation angle in degrees, clockwise", -180.0, 180.0),
            FILL,
        ],
        domain: Some(Domain::together(&[Range::new("angle", 0.0, 45.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { level: POINTS.level(settings)?, fill: Fill::of(settings)? })
    }
}

const POINTS: Points<1> =
    Points { names: ["angle"], photo: [[3.0], [7.5], [15.0], [30.0], [45.0]], small: None };

impl Rotation {
    fn turn(&self, width: usize, height: usize) -> Motion {
        let [angle] = self.level.numbers;
        let radians = angle.to_radians();
        let sin = libm::sin(radians);
        let cos = libm::cos(radians);
        let [x, y] = [width, height].map(|n| n as f64 / 2.0);
        // What is seen after a turn clockwise was a turn anticlockwise from there.
        Motion::Affine([[cos, sin, x - cos * x - sin * y], [-sin, cos, y + sin * x - cos * y]])
    }
}

impl ImageFault for Rotation {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        moved(image, &self.turn(image.width(), image.height()), self.fill)
    }

    fn dose(&self) -> Dose {
        self.level.dose
    }

    fn draws(&self) -> bool {
        false
    }

    fn motion(&self, width: usize, height: usize, _stream: &mut Stream) -> Option<Motion> {
        Some(self.turn(width, height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn a_quarter_turn_is_clockwise() {
        let image = Image::from_rgb(2, 2, [[10; 3], [20; 3], [30; 3], [40; 3]].concat()).unwrap();
        let dose = Dose { axis: "angle", amount: 90.0 };
        let fault = Rotation { level: Level { numbers: [90.0], dose }, fill: Fill::Black };
        let turned = fault.change(&image, &mut Seed::new(0).stream());
        let levels: Vec<u8> = turned.rgb().iter().step_by(3).copied().collect();
        assert_eq!(levels, [30, 10, 40, 20]);
    }
}
