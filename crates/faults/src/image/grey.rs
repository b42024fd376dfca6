//! No colour.

use super::channels::{luma, map_colours};
use super::level::ONCE;
use super::vectors::wide;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Shows the luma of every pixel (0.299 red, 0.587 green, 0.114 blue) in all three channels.
/// # When it happens
/// Infrared and night cameras, scans, old footage.
pub(super) const GREY: Plugin<dyn ImageFault> = Plugin {
    name: "grey",
    about: "takes the colour away and leaves the luma",
    when: "infrared and night cameras, scans, or old footage",
    parameters: &[],
    build: |_| Ok(Box::new(Grey)),
};

struct Grey;

impl ImageFault for Grey {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        grey(image)
    }

    fn dose(&self) -> Dose {
        ONCE
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "spectrum", "part of"))
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
