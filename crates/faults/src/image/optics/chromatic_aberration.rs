//! Colour fringes.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::lanczos::enlarged;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Enlarges green a little and blue more about the image centre, so that edges get colour
    /// fringes that grow towards the corners.
    /// # When it happens
    /// Cheap or damaged lenses, which refract blue light more than red.
    pub struct ChromaticAberration(Level<1>);
}

impl Fault for ChromaticAberration {
    const FACTS: Facts = Facts {
        name: "chromatic_aberration",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "spectrum", "where else")),
        parameters: &[
            SEVERITY,
            strength(
                "factor",
                "1 enlarges green by 1.8% and blue by 4.4%, 2 by twice that",
                0.0,
                10.0,
            ),
        ],
        domain: Some(Domain::together(&[Range::new("factor", 0.0, 3.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> =
    Points { names: ["factor"], photo: [[0.2], [0.5], [1.0], [2.0], [3.0]], small: None };

/// What a factor of 1 enlarges green and blue by.
const GROWTH: [(usize, f64); 2] = [(1, 0.018), (2, 0.044)];

impl ImageFault for ChromaticAberration {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let size = [image.width(), image.height()];
        let mut changed = image.clone();
        for (channel, growth) in GROWTH {
            let factor = 1.0 + growth * self.0.numbers[0];
            let plane: Vec<u8> = image.rgb().iter().skip(channel).step_by(3).copied().collect();
            let large = size.map(|side| libm::rint(factor * side as f64) as usize);
            let plane = enlarged(&plane, size, large);
            for (pixel, value) in changed.rgb_mut().as_chunks_mut::<3>().0.iter_mut().zip(plane) {
                pixel[channel] = value;
            }
        }
        changed
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}
