//! Faults that change what a model computes.
//!
//! A fault says what happens to one element; [`Injection`] adds where it lands, how often, and in
//! which pattern, which is the same for every fault.

mod additive_noise;
mod anatomy;
mod bit_flip;
mod bits;
mod control;
mod injection;
mod non_finite;
mod pattern;
mod placement;
mod random_value;
mod scale;
mod selection;
mod sites;
mod stuck_at;
mod weights;
mod zero;

use faultlens_core::{DType, Dose, Plugin, Stream};
use faultlens_engine::Edit;

pub use anatomy::Anatomy;
pub use injection::{Candidate, Injection, SiteError, Strike, check};
pub use placement::SitePlan;
pub use selection::Selection;
pub use sites::{Element, Sites, is_data};

/// A deliberate, seeded change to one element of what a model computes.
pub trait ModelFault: Send + Sync {
    /// What happens to an element of a type that [`ModelFault::fits`]; the same numbers drawn give
    /// the same edit.
    fn edit(&self, element: &Element<'_>, stream: &mut Stream) -> Edit;

    /// Every edit that an element of this type can have; `None` where they cannot be listed.
    fn listed(&self, dtype: DType) -> Option<Vec<Edit>>;

    /// Whether an element of this type can have the fault.
    fn fits(&self, _dtype: DType) -> bool {
        true
    }

    /// What an element must have, in words, where not all types fit.
    fn misfit(&self) -> Option<String> {
        None
    }

    /// Whether it is the flip of a single bit, whose bits can be searched.
    fn flips_one_bit(&self) -> bool {
        false
    }

    /// Whether some edits are drawn more often than they should be.
    fn is_weighted(&self) -> bool {
        false
    }

    /// How much a trial with this edit counts.
    fn weight(&self, _edit: Edit, _dtype: DType) -> f64 {
        1.0
    }

    /// How much of the fault the model meets, where that has an axis.
    fn dose(&self) -> Option<Dose> {
        None
    }
}

/// Every model fault, in alphabetical order. Add yours here.
pub const MODEL_FAULTS: &[Plugin<dyn ModelFault>] = &[
    additive_noise::ADDITIVE_NOISE,
    bit_flip::BIT_FLIP,
    non_finite::NON_FINITE,
    random_value::RANDOM_VALUE,
    scale::SCALE,
    stuck_at::STUCK_AT,
    zero::ZERO,
];

/// A fault's own parameters, and those that say where and how often it lands.
macro_rules! parameters {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            $crate::model::placement::AMOUNT,
            $crate::model::selection::CONTROL_VALUES,
            $crate::model::placement::DRAW,
            $crate::model::placement::DURATION,
            $crate::model::selection::EXCEPT,
            $crate::model::selection::FROM_DEPTH,
            $crate::model::selection::IN,
            $crate::model::placement::LAYER_WEIGHTS,
            $crate::model::selection::LAYERS,
            $crate::model::pattern::LENGTH,
            $crate::model::placement::MODE,
            $crate::model::selection::ONLY,
            $crate::model::selection::OPERATORS,
            $crate::model::pattern::PATTERN,
            $crate::model::placement::RATE,
            $crate::model::placement::SHARE,
            $crate::model::placement::SITES,
            $crate::model::selection::TO_DEPTH,
            $crate::model::selection::VALUES,
        ]
    };
}
use parameters;

#[cfg(test)]
mod tests;
