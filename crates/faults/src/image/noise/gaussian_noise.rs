//! Sensor noise in low light (`gaussian_noise` of ImageNet-C).

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
    /// Adds normally distributed noise to every channel of every pixel.
    /// # When it happens
    /// Low light, high gain, a warm sensor.
    pub struct GaussianNoise(ByteNoise);
}

impl Fault for GaussianNoise {
    const FACTS: Facts = Facts {
        name: "gaussian_noise",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "noise", "more")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength(
                "deviation",
                "standard deviation of the noise, as a fraction of the full range",
                0.0,
                2.0,
            ),
        ],
        // The range of Hu et al. (ICSE 2022).
        domain: Some(Domain::together(&[Range::new("deviation", 0.08, 0.9)])),
        small_domain: Some(Domain::together(&[Range::new("deviation", 0.0, 0.9)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(ByteNoise::new(POINTS.level(settings)?, cumulative)))
    }
}

impl ImageFault for GaussianNoise {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        self.0.change(image, stream)
    }

    fn dose(&self) -> Dose {
        self.0.dose()
    }
}

const POINTS: Points<1> = Points {
    names: ["deviation"],
    photo: [[0.08], [0.12], [0.18], [0.26], [0.38]],
    small: Some([[0.04], [0.06], [0.08], [0.09], [0.10]]),
};

/// Truncated to a byte, so at most `to` means below `to + 1`.
fn cumulative(deviation: f64, byte: u8) -> Cumulative {
    std::array::from_fn(|to| normal_below((to + 1) as f64 - f64::from(byte), 255.0 * deviation))
}
