//! No fault.

use super::level::ONCE;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Plugin, Stream};

/// # What it does
/// Nothing: the target sees the image once more.
/// # When it happens
/// As a control: a target that answers differently here is no steady one, and its rates under
/// other faults hold that much of its own.
pub(super) const UNCHANGED: Plugin<dyn ImageFault> = Plugin {
    name: "unchanged",
    about: "changes nothing, as a control for targets whose answers vary by themselves",
    when: "to see how steady a target is, above all a service",
    parameters: &[],
    build: |_| Ok(Box::new(Unchanged)),
};

struct Unchanged;

impl ImageFault for Unchanged {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        image.clone()
    }

    fn dose(&self) -> Dose {
        ONCE
    }

    fn hazard(&self) -> Option<Hazard> {
        None
    }

    fn draws(&self) -> bool {
        false
    }
}
