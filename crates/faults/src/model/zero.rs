//! Elements, gone.

use super::{Element, ModelFault, parameters};
use faultlens_core::{DType, Plugin, Stream};
use faultlens_engine::Edit;

/// # What it does
/// Sets elements to zero.
/// # When it happens
/// A lost packet, a dead unit, a cleared register; as a share of weights, sparsity.
pub(super) const ZERO: Plugin<dyn ModelFault> = Plugin {
    name: "zero",
    about: "sets elements to zero",
    when: "a lost packet, a dead unit, a cleared register; as a share of weights, sparsity",
    parameters: parameters![],
    build: |_| Ok(Box::new(Zero)),
};

/// Zero has no bit set, in every type.
const NOTHING: Edit = Edit::Set(0);

struct Zero;

impl ModelFault for Zero {
    fn edit(&self, _element: &Element<'_>, _stream: &mut Stream) -> Edit {
        NOTHING
    }

    fn listed(&self, _dtype: DType) -> Option<Vec<Edit>> {
        Some(vec![NOTHING])
    }
}
