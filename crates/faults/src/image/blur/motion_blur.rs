//! Motion blur (`motion_blur` of ImageNet-C).

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::pixels::{FULL_SCALE, narrowed, widened};
use crate::image::paint::streak::Streak;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Smears the image along a line of random slope, up to 45° from the horizontal.
    /// # When it happens
    /// A camera or a scene that moves while the shutter is open.
    pub struct MotionBlur(Level<2>);
}

impl Fault for MotionBlur {
    const FACTS: Facts = Facts {
        name: "motion_blur",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "position", "faster")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("radius", "half the length of the smear, in pixels", 0.0, 200.0),
            strength("deviation", "how slowly the smear fades, in pixels", 0.1, 200.0),
        ],
        domain: Some(Domain::together(&[
            Range::whole("radius", 0.0, 20.0),
            Range::new("deviation", 0.1, 15.0),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<2> = Points {
    names: ["radius", "deviation"],
    photo: [[10.0, 3.0], [15.0, 5.0], [15.0, 8.0], [15.0, 12.0], [20.0, 15.0]],
    small: Some([[6.0, 1.0], [6.0, 1.5], [6.0, 2.0], [8.0, 2.0], [9.0, 2.5]]),
};

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
}
