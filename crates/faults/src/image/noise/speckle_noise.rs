//! Multiplicative noise (`speckle_noise` of imagecorruptions).

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Points, SEVERITY, TABLE, strength};
use crate::image::paint::byte_noise::{ByteNoise, Cumulative, normal_below};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Multiplies every channel of every pixel by a normally distributed number with mean 1.
    /// # When it happens
    /// Coherent light, as of lasers, radar and ultrasound; pixels of unequal gain.
    pub struct SpeckleNoise(ByteNoise);
}

impl Fault for SpeckleNoise {
    const FACTS: Facts = Facts {
        name: "speckle_noise",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::LightSource, "wave properties", "more")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength(
                "deviation",
                "standard deviation of the noise, as a fraction of the pixel's value",
                0.0,
                2.0,
            ),
        ],
        domain: Some(Domain::together(&[Range::new("deviation", 0.0, 0.6)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(ByteNoise::new(POINTS.level(settings)?, cumulative)))
    }
}

impl ImageFault for SpeckleNoise {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        self.0.change(image, stream)
    }

    fn dose(&self) -> Dose {
        self.0.dose()
    }
}

const POINTS: Points<1> = Points {
    names: ["deviation"],
    photo: [[0.15], [0.2], [0.35], [0.45], [0.6]],
    small: Some([[0.06], [0.1], [0.12], [0.16], [0.2]]),
};

fn cumulative(deviation: f64, byte: u8) -> Cumulative {
    let value = f64::from(byte);
    std::array::from_fn(|to| normal_below((to + 1) as f64 - value, value * deviation))
}
