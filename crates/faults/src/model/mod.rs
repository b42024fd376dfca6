//! Faults that change what a model computes: where they land, and what they put there.

mod bit_flip;
mod element;
mod random_value;
mod sites;
mod zero;

use faultlens_core::{Dose, Plugin, Stream};
use faultlens_engine::Change;

pub use element::number_of;
pub use sites::{Sites, Where, owner};

/// A deliberate, seeded change to what a model computes.
pub trait ModelFault: Send + Sync {
    /// Where it may land.
    fn place(&self) -> &Where;

    /// The changes to make to a golden run; the same numbers drawn give the same changes. None
    /// where there is no site to change.
    fn changes(&self, sites: &Sites<'_>, stream: &mut Stream) -> Vec<Change>;

    /// How much of the fault the model meets, where that has an axis.
    fn dose(&self) -> Option<Dose> {
        None
    }
}

/// Every model fault, in alphabetical order. Add yours here.
pub const MODEL_FAULTS: &[Plugin<dyn ModelFault>] =
    &[bit_flip::BIT_FLIP, random_value::RANDOM_VALUE, zero::ZERO];
