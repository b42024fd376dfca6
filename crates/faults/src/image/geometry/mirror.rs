//! A flipped image.

use crate::doc::described;
use crate::image::facts::Facts;
use crate::image::fault::Fault;
use faultlens_core::{
    Hazard, HazardLocation, Image, ImageFault, Motion, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Flips the image horizontally.
    /// # When it happens
    /// A rear-view camera, a flipped video driver, data prepared for another camera. Objects
    /// without a handedness should be found as before, at their mirrored positions.
    pub struct Mirror;
}

impl Fault for Mirror {
    const FACTS: Facts = Facts {
        name: "mirror",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "orientation", "reverse")),
        moves: true,
        ..Facts::DEFAULT
    };

    fn build(_settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self)
    }
}

impl ImageFault for Mirror {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let mut mirrored = image.clone();
        for row in mirrored.rgb_mut().as_chunks_mut::<3>().0.chunks_exact_mut(image.width()) {
            row.reverse();
        }
        mirrored
    }

    fn draws(&self) -> bool {
        false
    }

    fn motion(&self, width: usize, _height: usize, _stream: &mut Stream) -> Option<Motion> {
        Some(Motion::Affine([[-1.0, 0.0, width as f64], [0.0, 1.0, 0.0]]))
    }
}
