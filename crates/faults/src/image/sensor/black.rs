//! A black frame.

use crate::doc::described;
use crate::image::facts::Facts;
use crate::image::fault::Fault;
use faultlens_core::{Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream};

described! {
    /// # What it does
    /// Makes every pixel black.
    /// # When it happens
    /// A covered lens, a dead sensor, a lost frame.
    pub struct Black;
}

impl Fault for Black {
    const FACTS: Facts = Facts {
        name: "black",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "exposure", "no")),
        ..Facts::DEFAULT
    };

    fn build(_settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self)
    }
}

impl ImageFault for Black {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let mut changed = image.clone();
        changed.rgb_mut().fill(0);
        changed
    }

    fn draws(&self) -> bool {
        false
    }
}
