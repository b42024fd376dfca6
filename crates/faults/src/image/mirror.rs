//! Left for right.

use super::level::ONCE;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Motion, Place, Plugin, Stream};

/// # What it does
/// Mirrors the image, left for right.
/// # When it happens
/// A rear-view camera, a flipped video driver, data prepared for another camera. Things that have no
/// sides of their own should be found as before, in their mirrored places.
pub(super) const MIRROR: Plugin<dyn ImageFault> = Plugin {
    name: "mirror",
    about: "mirrors the image, left for right",
    when: "a rear-view camera, a flipped video driver, or data prepared for another camera",
    parameters: &[],
    build: |_| Ok(Box::new(Mirror)),
};

struct Mirror;

impl ImageFault for Mirror {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let mut mirrored = image.clone();
        for row in mirrored.rgb_mut().as_chunks_mut::<3>().0.chunks_exact_mut(image.width()) {
            row.reverse();
        }
        mirrored
    }

    fn dose(&self) -> Dose {
        ONCE
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "orientation", "reverse"))
    }

    fn draws(&self) -> bool {
        false
    }

    fn motion(&self, width: usize, _height: usize, _stream: &mut Stream) -> Option<Motion> {
        Some(Motion::Affine([[-1.0, 0.0, width as f64], [0.0, 1.0, 0.0]]))
    }
}
