//! One element, replaced by any number.

use super::element::bits_of;
use super::sites::{DRAW, IN, OPERATORS};
use super::{ModelFault, Sites, Where};
use faultlens_core::{Parameter, ParameterKind, Plugin, Setting, SettingError, Stream, Unset};
use faultlens_engine::Change;

/// # What it does
/// Replaces one element by a number drawn evenly from a range.
/// # When it happens
/// A wrong address, a stale buffer, a mixed-up message.
pub(super) const RANDOM_VALUE: Plugin<dyn ModelFault> = Plugin {
    name: "random_value",
    about: "replaces one element by a number drawn evenly from a range",
    when: "a wrong address, a stale buffer, a mixed-up message",
    parameters: &[DRAW, HIGH, IN, LOW, OPERATORS],
    build: |settings| {
        let (low, high) = (settings.number(LOW.name)?, settings.number(HIGH.name)?);
        if low >= high {
            return Err(SettingError(format!("low ({low}) must lie below high ({high})")));
        }
        Ok(Box::new(RandomValue { place: Where::set_in(settings)?, low, high }))
    },
};

const LOW: Parameter = Parameter {
    name: "low",
    about: "the least number that is drawn",
    kind: ParameterKind::Number { least: -1e30, most: 1e30 },
    unset: Unset::Is(Setting::Number(-1.0)),
};

const HIGH: Parameter = Parameter {
    name: "high",
    about: "what every number that is drawn lies below",
    kind: ParameterKind::Number { least: -1e30, most: 1e30 },
    unset: Unset::Is(Setting::Number(1.0)),
};

struct RandomValue {
    place: Where,
    low: f64,
    high: f64,
}

impl ModelFault for RandomValue {
    fn place(&self) -> &Where {
        &self.place
    }

    fn changes(&self, sites: &Sites<'_>, stream: &mut Stream) -> Vec<Change> {
        let replaced = sites.draw(stream).and_then(|(value, element)| {
            let (_, dtype) = sites.bits(value, element)?;
            let bits = bits_of(stream.between(self.low, self.high), dtype);
            Some(Change { value, element, bits })
        });
        replaced.into_iter().collect()
    }
}
