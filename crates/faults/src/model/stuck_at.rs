//! Bits of an element that stay as they are.

use super::bits::{BIT, BIT_COUNT, BitChoice, FROM_BIT, TO_BIT};
use super::{Element, ModelFault, parameters};
use crate::doc::{about, described, when};
use faultlens_core::{DType, Dose, Parameter, ParameterKind, Plugin, Stream, Unset};
use faultlens_engine::Edit;

described! {
    /// # What it does
    /// Holds bits of an element at 0 or at 1, whatever is written there.
    /// # When it happens
    /// A broken cell or wire; with `duration: permanent`, one that stays broken for all images.
    struct StuckAt {
        bits: BitChoice,
        one: bool,
    }
}

pub(super) const STUCK_AT: Plugin<dyn ModelFault> = Plugin {
    name: "stuck_at",
    about: about(StuckAt::DOC),
    when: when(StuckAt::DOC),
    parameters: parameters![BIT, BIT_COUNT, FROM_BIT, TO, TO_BIT],
    build: |settings| {
        let bits = BitChoice::set_in(settings)?;
        Ok(Box::new(StuckAt { bits, one: settings.number(TO.name)? == 1.0 }))
    },
};

const TO: Parameter = Parameter {
    name: "to",
    about: "value that the bits are held at, 0 or 1",
    kind: ParameterKind::Whole { min: 0, max: 1 },
    unset: Unset::Required,
};

impl StuckAt {
    fn held(&self, mask: u64) -> Edit {
        if self.one { Edit::Raise(mask) } else { Edit::Clear(mask) }
    }
}

impl ModelFault for StuckAt {
    fn edit(&self, element: &Element<'_>, stream: &mut Stream) -> Edit {
        self.held(self.bits.draw(element.dtype(), stream))
    }

    fn listed(&self, dtype: DType) -> Option<Vec<Edit>> {
        Some(self.bits.listed(dtype)?.into_iter().map(|mask| self.held(mask)).collect())
    }

    fn fits(&self, dtype: DType) -> bool {
        self.bits.fits(dtype)
    }

    fn misfit(&self) -> Option<String> {
        Some(self.bits.text())
    }

    fn dose(&self) -> Option<Dose> {
        self.bits.dose()
    }
}
