//! A white frame.

use crate::doc::described;
use crate::image::facts::Facts;
use crate::image::fault::Fault;
use faultlens_core::{Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream};

described! {
    /// # What it does
    /// Makes every pixel white.
    /// # When it happens
    /// A shutter that stays open, or a lamp right in front of the lens.
    pub struct White;
}

impl Fault for White {
    const FACTS: Facts = Facts {
        name: "white",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::LightSource, "position", "close")),
        ..Facts::DEFAULT
    };

    fn build(_settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self)
    }
}

impl ImageFault for White {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let mut changed = image.clone();
        changed.rgb_mut().fill(255);
        changed
    }

    fn draws(&self) -> bool {
        false
    }
}
