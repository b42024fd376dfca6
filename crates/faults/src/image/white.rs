//! Nothing but light.

use super::level::ONCE;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Makes every pixel white.
/// # When it happens
/// A shutter that stays open, a lamp right in front of the lens.
pub(super) const WHITE: Plugin<dyn ImageFault> = Plugin {
    name: "white",
    about: "makes every pixel white",
    when: "a shutter that stays open, or a lamp right in front of the lens",
    parameters: &[],
    build: |_| Ok(Box::new(White)),
};

struct White;

impl ImageFault for White {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let mut changed = image.clone();
        changed.rgb_mut().fill(255);
        changed
    }

    fn dose(&self) -> Dose {
        ONCE
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::LightSource, "position", "close"))
    }

    fn draws(&self) -> bool {
        false
    }
}
