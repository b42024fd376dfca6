//! JPEG as most tools save it, and nothing else.

use crate::doc::described;
use crate::image::facts::Facts;
use crate::image::fault::Fault;
use crate::image::paint::jpeg::Jpeg;
use faultlens_core::{
    Image, ImageFault, Parameter, ParameterKind, Setting, SettingError, Settings, Stream, Unset,
};

described! {
    /// # What it does
    /// Saves the image as JPEG and loads it again, as a control for the effect of the codec.
    /// Nothing else changes.
    /// # When it happens
    /// To separate the effect of a fault from the effect of sending it as JPEG.
    pub struct Reencode(Jpeg);
}

impl Fault for Reencode {
    const FACTS: Facts = Facts {
        name: "reencode",
        doc: Self::DOC,
        parameters: &[Parameter {
            name: "quality",
            about: "quality on libjpeg's scale",
            kind: ParameterKind::Whole { min: 1, max: 100 },
            unset: Unset::Is(Setting::Number(75.0)),
        }],
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        let quality = settings.number_if_set("quality").unwrap_or(75.0);
        Ok(Self(Jpeg::new(quality as u16)))
    }
}

impl ImageFault for Reencode {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        self.0.lossy(image)
    }

    fn draws(&self) -> bool {
        false
    }
}
