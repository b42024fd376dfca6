//! Salt-and-pepper noise (`impulse_noise` of ImageNet-C).

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Points, SEVERITY, TABLE, strength};
use crate::image::paint::byte_noise::{ByteNoise, Cumulative};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Sets a fraction of all values, each channel on its own, to 0 or 255 with equal probability
    /// (salt and pepper). The fraction is resolved in steps of 1/65,536.
    /// # When it happens
    /// Bit errors between sensor and memory, or a broken analogue-to-digital converter.
    pub struct ImpulseNoise(ByteNoise);
}

impl Fault for ImpulseNoise {
    const FACTS: Facts = Facts {
        name: "impulse_noise",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "transmission", "spatial aperiodic")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("share", "fraction of all values that are lost", 0.0, 1.0),
        ],
        domain: Some(Domain::together(&[Range::new("share", 0.0, 0.27)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(ByteNoise::new(POINTS.level(settings)?, cumulative)))
    }
}

impl ImageFault for ImpulseNoise {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        self.0.change(image, stream)
    }

    fn dose(&self) -> Dose {
        self.0.dose()
    }
}

const POINTS: Points<1> = Points {
    names: ["share"],
    photo: [[0.03], [0.06], [0.09], [0.17], [0.27]],
    small: Some([[0.01], [0.02], [0.03], [0.05], [0.07]]),
};

fn cumulative(share: f64, byte: u8) -> Cumulative {
    std::array::from_fn(|to| {
        let kept = if to >= usize::from(byte) { 1.0 - share } else { 0.0 };
        share / 2.0 + kept
    })
}
