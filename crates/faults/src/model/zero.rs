//! One element, gone.

use super::sites::{DRAW, IN, OPERATORS};
use super::{ModelFault, Sites, Where};
use faultlens_core::{Plugin, Stream};
use faultlens_engine::Change;

/// # What it does
/// Sets one element to zero.
/// # When it happens
/// A lost packet, a dead unit, a cleared register.
pub(super) const ZERO: Plugin<dyn ModelFault> = Plugin {
    name: "zero",
    about: "sets one element to zero",
    when: "a lost packet, a dead unit, a cleared register",
    parameters: &[DRAW, IN, OPERATORS],
    build: |settings| Ok(Box::new(Zero { place: Where::set_in(settings)? })),
};

struct Zero {
    place: Where,
}

impl ModelFault for Zero {
    fn place(&self) -> &Where {
        &self.place
    }

    fn changes(&self, sites: &Sites<'_>, stream: &mut Stream) -> Vec<Change> {
        // Zero has no bit set, in every type.
        let zeroed = sites.draw(stream).map(|(value, element)| Change { value, element, bits: 0 });
        zeroed.into_iter().collect()
    }
}
