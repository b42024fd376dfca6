//! Bits of an element, flipped.

use super::bits::{BIT, BIT_COUNT, BIT_WEIGHTS, BitChoice, FROM_BIT, TO_BIT};
use super::{Element, ModelFault, parameters};
use crate::doc::{about, described, when};
use faultlens_core::{DType, Dose, Plugin, Stream};
use faultlens_engine::Edit;

described! {
    /// # What it does
    /// Flips one or more bits of an element as it is stored: IEEE 754 for floats, two's
    /// complement for integers.
    /// # When it happens
    /// A particle strike or a voltage droop in a register, in memory or on a bus.
    struct BitFlip(BitChoice);
}

pub(super) const BIT_FLIP: Plugin<dyn ModelFault> = Plugin {
    name: "bit_flip",
    about: about(BitFlip::DOC),
    when: when(BitFlip::DOC),
    parameters: parameters![BIT, BIT_WEIGHTS, BIT_COUNT, FROM_BIT, TO_BIT],
    build: |settings| Ok(Box::new(BitFlip(BitChoice::set_in(settings)?))),
};

impl ModelFault for BitFlip {
    fn edit(&self, element: &Element<'_>, stream: &mut Stream) -> Edit {
        Edit::Flip(self.0.draw(element.dtype(), stream))
    }

    fn listed(&self, dtype: DType) -> Option<Vec<Edit>> {
        Some(self.0.listed(dtype)?.into_iter().map(Edit::Flip).collect())
    }

    fn fits(&self, dtype: DType) -> bool {
        self.0.fits(dtype)
    }

    fn misfit(&self) -> Option<String> {
        Some(self.0.text())
    }

    fn flips_one_bit(&self) -> bool {
        self.0.is_single()
    }

    fn is_weighted(&self) -> bool {
        self.0.is_weighted()
    }

    fn weight(&self, edit: Edit, dtype: DType) -> f64 {
        match edit {
            Edit::Flip(mask) if self.0.is_weighted() => self.0.weight(mask, dtype),
            _ => 1.0,
        }
    }

    fn dose(&self) -> Option<Dose> {
        self.0.dose()
    }
}
