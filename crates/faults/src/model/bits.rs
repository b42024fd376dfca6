//! Which bits of an element a fault takes.

use super::weights::Weights;
use faultlens_core::{
    DType, Dose, Parameter, ParameterKind, Setting, SettingError, Settings, Stream, Unset,
};

const ANY_BIT: ParameterKind = ParameterKind::Whole { min: 0, max: 63 };

pub(super) const BIT: Parameter = Parameter {
    name: "bit",
    about: "which bit, 0 being the lowest; of an f32, 0-22 are the fraction, 23-30 the exponent, \
            31 is the sign. By default any",
    kind: ANY_BIT,
    unset: Unset::Absent,
};

pub(super) const BIT_COUNT: Parameter = Parameter {
    name: "bit_count",
    about: "number of distinct bits of each element",
    kind: ParameterKind::Whole { min: 1, max: 64 },
    unset: Unset::Is(Setting::Number(1.0)),
};

pub(super) const FROM_BIT: Parameter = Parameter {
    name: "from_bit",
    about: "the lowest bit that is drawn; 0 by default",
    kind: ANY_BIT,
    unset: Unset::Absent,
};

pub(super) const TO_BIT: Parameter = Parameter {
    name: "to_bit",
    about: "the highest bit that is drawn; the element's highest by default",
    kind: ANY_BIT,
    unset: Unset::Absent,
};

pub(super) const BIT_WEIGHTS: Parameter = Parameter {
    name: "bit_weights",
    about: "importance sampling: draws some bits more often, such as 30=16 or 23..29=4, to estimate \
            rare outcomes sooner; rates are corrected for it",
    kind: ParameterKind::Names,
    unset: Unset::Absent,
};

/// Bits to choose from, and how many.
pub(super) struct BitChoice {
    bit: Option<u32>,
    low: Option<u32>,
    high: Option<u32>,
    count: u32,
    weights: Weights,
}

impl BitChoice {
    pub(super) fn set_in(settings: &Settings) -> Result<Self, SettingError> {
        let choice = Self {
            bit: whole(settings, &BIT),
            low: whole(settings, &FROM_BIT),
            high: whole(settings, &TO_BIT),
            count: whole(settings, &BIT_COUNT).unwrap_or(1),
            weights: Weights::read(settings.names(BIT_WEIGHTS.name))?,
        };
        choice.fits_together().map_err(|what| SettingError(what.to_owned()))?;
        Ok(choice)
    }

    fn fits_together(&self) -> Result<(), &'static str> {
        match (self.bit, self.low, self.high) {
            (Some(_), None, None) if self.count > 1 => Err("one bit cannot be several bits"),
            (Some(_), None, None) | (None, _, None) => Ok(()),
            (Some(_), ..) => Err("give bit, or from_bit and to_bit, not both"),
            (None, low, Some(high)) if low.unwrap_or(0) > high => Err("from_bit lies above to_bit"),
            (None, low, Some(high)) if high - low.unwrap_or(0) + 1 < self.count => {
                Err("there are fewer bits from from_bit to to_bit than bit_count asks for")
            }
            _ => Ok(()),
        }?;
        if !self.weights.is_empty() && (self.bit.is_some() || self.count > 1) {
            return Err("bit_weights need one bit that is drawn: leave out bit and bit_count");
        }
        Ok(())
    }

    /// The bits of an element of this type that may be taken.
    fn range(&self, dtype: DType) -> std::ops::Range<u32> {
        let width = dtype.bit_width();
        match self.bit {
            Some(bit) if bit < width => bit..bit + 1,
            Some(_) => 0..0,
            None => self.low.unwrap_or(0)..self.high.map_or(width, |high| width.min(high + 1)),
        }
    }

    /// Whether an element of this type has enough of them.
    pub(super) fn fits(&self, dtype: DType) -> bool {
        let within = self.high.is_none_or(|high| high < dtype.bit_width());
        within && self.range(dtype).len() >= self.count as usize
    }

    /// What is asked for, in words.
    pub(super) fn text(&self) -> String {
        match (self.bit, self.low, self.high) {
            (Some(bit), ..) => format!("bit {bit}"),
            (None, None, None) => format!("{} bits", self.count),
            (None, low, Some(high)) => format!("bits {} to {high}", low.unwrap_or(0)),
            (None, Some(low), None) => format!("bits from {low}"),
        }
    }

    /// Some of them, as a mask.
    pub(super) fn draw(&self, dtype: DType, stream: &mut Stream) -> u64 {
        let mut free: Vec<u32> = self.range(dtype).collect();
        let mut mask = 0;
        for _ in 0..self.count.min(free.len() as u32) {
            let at = if self.weights.is_empty() {
                stream.below(free.len())
            } else {
                self.favoured(&free, stream)
            };
            mask |= 1 << free.swap_remove(at);
        }
        mask
    }

    /// One of the bits, each as likely as its weight says.
    fn favoured(&self, bits: &[u32], stream: &mut Stream) -> usize {
        let all: f64 = bits.iter().map(|&bit| self.weights.of(bit)).sum();
        let mut at = stream.uniform() * all;
        let found = bits.iter().position(|&bit| {
            at -= self.weights.of(bit);
            at < 0.0
        });
        found.unwrap_or(bits.len() - 1)
    }

    /// Whether some are drawn more often.
    pub(super) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// How much a trial counts that drew this mask.
    pub(super) fn weight(&self, mask: u64, dtype: DType) -> f64 {
        let range = self.range(dtype);
        let count = range.len().max(1) as f64;
        let all: f64 = range.map(|bit| self.weights.of(bit)).sum();
        all / count / self.weights.of(mask.trailing_zeros())
    }

    /// All masks, where each is one bit.
    pub(super) fn listed(&self, dtype: DType) -> Option<Vec<u64>> {
        (self.count == 1).then(|| self.range(dtype).map(|bit| 1 << bit).collect())
    }

    /// Whether one bit is taken.
    pub(super) fn is_single(&self) -> bool {
        self.count == 1
    }

    pub(super) fn dose(&self) -> Option<Dose> {
        let bit = self.bit.map(|bit| Dose { axis: BIT.name, amount: f64::from(bit) });
        let count = Dose { axis: BIT_COUNT.name, amount: f64::from(self.count) };
        bit.or_else(|| (self.count > 1).then_some(count))
    }
}

fn whole(settings: &Settings, parameter: &Parameter) -> Option<u32> {
    settings.number_if_set(parameter.name).map(|number| number as u32)
}
