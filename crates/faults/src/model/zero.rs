//! Elements, gone.

use super::{Element, ModelFault, parameters};
use crate::doc::{about, described, when};
use faultlens_core::{DType, Plugin, Stream};
use faultlens_engine::Edit;

described! {
    /// # What it does
    /// Sets elements to zero.
    /// # When it happens
    /// A lost packet, a dead unit, a cleared register; as a share of weights, sparsity.
    struct Zero;
}

pub(super) const ZERO: Plugin<dyn ModelFault> = Plugin {
    name: "zero",
    about: about(Zero::DOC),
    when: when(Zero::DOC),
    parameters: parameters![],
    build: |_| Ok(Box::new(Zero)),
};

/// Zero has no bit set, in every type.
const NOTHING: Edit = Edit::Set(0);

impl ModelFault for Zero {
    fn edit(&self, _element: &Element<'_>, _stream: &mut Stream) -> Edit {
        NOTHING
    }

    fn listed(&self, _dtype: DType) -> Option<Vec<Edit>> {
        Some(vec![NOTHING])
    }
}
