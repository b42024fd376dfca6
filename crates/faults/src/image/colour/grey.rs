//! No colour.

use crate::doc::described;
use crate::image::facts::Facts;
use crate::image::fault::Fault;
use crate::image::paint::channels::{luma, map_colours};
use crate::image::paint::vectors::wide;
use faultlens_core::{Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream};

described! {
    /// # What it does
    /// Removes colour and keeps luma: 0.299 red + 0.587 green + 0.114 blue in all three channels.
    /// # When it happens
    /// Infrared and night cameras, scans, old footage.
    pub struct Grey;
}

impl Fault for Grey {
    const FACTS: Facts = Facts {
        name: "grey",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "spectrum", "part of")),
        ..Facts::DEFAULT
    };

    fn build(_settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self)
    }
}

impl ImageFault for Grey {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        grey(image)
    }

    fn draws(&self) -> bool {
        false
    }
}

wide!(fn grey<'a>(image: &'a Image) -> Image = grey_kernel);

#[inline(always)]
fn grey_kernel(image: &Image) -> Image {
    map_colours(image, |colour| [luma(colour); 3])
}
