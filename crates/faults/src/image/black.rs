//! No light at all.

use super::level::ONCE;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Makes every pixel black.
/// # When it happens
/// A covered lens, a dead sensor, a lost frame.
pub(super) const BLACK: Plugin<dyn ImageFault> = Plugin {
    name: "black",
    about: "makes every pixel black",
    when: "a covered lens, a dead sensor, or a lost frame",
    parameters: &[],
    build: |_| Ok(Box::new(Black)),
};

struct Black;

impl ImageFault for Black {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let mut changed = image.clone();
        changed.rgb_mut().fill(0);
        changed
    }

    fn dose(&self) -> Dose {
        ONCE
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "exposure", "no"))
    }

    fn draws(&self) -> bool {
        false
    }
}
