//! One bit of one element, flipped.

use super::element::bit_width;
use super::sites::{DRAW, IN, OPERATORS};
use super::{ModelFault, Sites, Where};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Stream, Unset};
use faultlens_engine::Change;

/// # What it does
/// Flips one bit of one element, of its IEEE 754 or integer representation.
/// # When it happens
/// A particle strike or a voltage droop in a register, in memory or on a bus.
pub(super) const BIT_FLIP: Plugin<dyn ModelFault> = Plugin {
    name: "bit_flip",
    about: "flips one bit of one element",
    when: "a particle strike or a voltage droop in a register, in memory or on a bus",
    parameters: &[BIT, DRAW, IN, OPERATORS],
    build: |settings| {
        let bit = settings.number_if_set(BIT.name).map(|bit| bit as u32);
        Ok(Box::new(BitFlip { place: Where::set_in(settings)?, bit }))
    },
};

const BIT: Parameter = Parameter {
    name: "bit",
    about: "which bit, 0 being the lowest; of an f32, 0-22 are the fraction, 23-30 the exponent, \
            31 is the sign. By default any",
    kind: ParameterKind::Whole { least: 0, most: 63 },
    unset: Unset::Absent,
};

struct BitFlip {
    place: Where,
    bit: Option<u32>,
}

impl ModelFault for BitFlip {
    fn place(&self) -> &Where {
        &self.place
    }

    fn changes(&self, sites: &Sites<'_>, stream: &mut Stream) -> Vec<Change> {
        let flipped = sites.draw(stream).and_then(|(value, element)| {
            let (bits, dtype) = sites.bits(value, element)?;
            let width = bit_width(dtype);
            let bit = self.bit.unwrap_or_else(|| stream.below(width as usize) as u32);
            // An element without that bit is no site.
            (bit < width).then(|| Change { value, element, bits: bits ^ 1 << bit })
        });
        flipped.into_iter().collect()
    }

    fn dose(&self) -> Option<Dose> {
        self.bit.map(|bit| Dose { axis: BIT.name, amount: f64::from(bit) })
    }
}
