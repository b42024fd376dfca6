//! Photon noise (`shot_noise` of ImageNet-C): the Poisson distribution is tabulated once per grey level
//! and drawn by the alias method.

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
    /// Draws the photon count of every channel of every pixel from a Poisson distribution whose
    /// mean is the pixel's light.
    /// # When it happens
    /// Short exposures and small pixels, where few photons arrive.
    pub struct ShotNoise(ByteNoise);
}

impl Fault for ShotNoise {
    const FACTS: Facts = Facts {
        name: "shot_noise",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::LightSource, "intensity", "less")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("photons", "photons of a white pixel; fewer are noisier", 1.0, 10_000.0),
        ],
        domain: Some(Domain::together(&[Range::new("photons", 10_000.0, 3.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(ByteNoise::new(POINTS.level(settings)?, cumulative)))
    }
}

impl ImageFault for ShotNoise {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        self.0.change(image, stream)
    }

    fn dose(&self) -> Dose {
        self.0.dose()
    }
}

const POINTS: Points<1> = Points {
    names: ["photons"],
    photo: [[60.0], [25.0], [12.0], [5.0], [3.0]],
    small: Some([[500.0], [250.0], [100.0], [75.0], [50.0]]),
};

fn cumulative(photons: f64, byte: u8) -> Cumulative {
    let mean = f64::from(byte) / 255.0 * photons;
    let mut likely = [0.0; 256];
    for count in 0..photons.ceil() as u32 {
        let count = f64::from(count);
        if (count - mean).abs() > 40.0 + 10.0 * libm::sqrt(mean) {
            // Ten deviations off: no share of 65,536 is left.
            continue;
        }
        likely[(255.0 * (count / photons)) as usize] += poisson(mean, count);
    }
    let mut sum = 0.0;
    likely.map(|share| {
        sum += share;
        sum
    })
}

/// How likely exactly `count` photons are.
fn poisson(mean: f64, count: f64) -> f64 {
    if mean == 0.0 {
        return if count == 0.0 { 1.0 } else { 0.0 };
    }
    libm::exp(count * libm::log(mean) - mean - libm::lgamma(count + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the Poisson distribution from tables.
    #[test]
    fn photons_are_counted_as_poisson_did() {
        for (mean, count, wanted) in
            [(1.0, 0.0, 0.367_879), (2.5, 3.0, 0.213_763), (60.0, 60.0, 0.051_432), (0.0, 0.0, 1.0)]
        {
            assert!((poisson(mean, count) - wanted).abs() < 1e-6, "{mean}, {count}");
        }
        let white = cumulative(3.0, 255);
        assert!((white[254] - 0.423_190).abs() < 1e-6, "{}", white[254]);
        assert_eq!(cumulative(3.0, 0)[0], 1.0);
    }
}
