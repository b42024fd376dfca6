//! Gaussian blur (`gaussian_blur` of imagecorruptions).

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::edge::Edge;
use crate::image::paint::smooth::{MAX_DEVIATION, blurred};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Replaces every pixel by a Gaussian-weighted average of its neighbourhood.
    /// # When it happens
    /// A lens slightly out of focus, a greasy film on it, an enlarged picture.
    pub struct GaussianBlur(Level<1>);
}

impl Fault for GaussianBlur {
    const FACTS: Facts = Facts {
        name: "gaussian_blur",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "focus", "less")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength(
                "deviation",
                "standard deviation of the Gaussian, in pixels",
                0.0,
                MAX_DEVIATION,
            ),
        ],
        domain: Some(Domain::together(&[Range::new("deviation", 0.0, 6.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> = Points {
    names: ["deviation"],
    photo: [[1.0], [2.0], [3.0], [4.0], [6.0]],
    small: Some([[0.4], [0.6], [0.7], [0.8], [1.0]]),
};

impl ImageFault for GaussianBlur {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [deviation] = self.0.numbers;
        blurred(image, deviation, Edge::Repeat)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}
