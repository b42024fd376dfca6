//! Elements, replaced by any number.

use super::{Element, ModelFault, parameters};
use crate::doc::{about, described, when};
use faultlens_core::{
    DType, Parameter, ParameterKind, Plugin, Setting, SettingError, Settings, Stream, Unset,
};
use faultlens_engine::Edit;
use std::borrow::Cow;

described! {
    /// # What it does
    /// Replaces elements by random numbers. They are drawn from a range, from a normal
    /// distribution, or from the range of the tensor in the golden run.
    /// # When it happens
    /// A wrong address, a stale buffer, a mixed-up message.
    struct RandomValue {
        source: Source,
    }
}

pub(super) const RANDOM_VALUE: Plugin<dyn ModelFault> = Plugin {
    name: "random_value",
    about: about(RandomValue::DOC),
    when: when(RandomValue::DOC),
    parameters: parameters![DEVIATION, FROM, HIGH, LOW, MEAN],
    build: |settings| Ok(Box::new(RandomValue { source: Source::set_in(settings)? })),
};

const FROM: Parameter = Parameter {
    name: "from",
    about: "where the numbers come from: evenly from low up to high; from a normal distribution of \
            mean and deviation; or evenly from the range that the tensor has undisturbed",
    kind: ParameterKind::Choice(&["uniform", "normal", "golden_range"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("uniform"))),
};

const LOW: Parameter = number("low", "smallest random number", 0.0);
const HIGH: Parameter = number("high", "upper limit of the random numbers", 1.0);
const MEAN: Parameter = number("mean", "the mean of the normal distribution", 0.0);

const DEVIATION: Parameter = Parameter {
    name: "deviation",
    about: "the standard deviation of the normal distribution",
    kind: ParameterKind::Number { min: 0.0, max: 1e30 },
    unset: Unset::Is(Setting::Number(1.0)),
};

const fn number(name: &'static str, about: &'static str, unset: f64) -> Parameter {
    let kind = ParameterKind::Number { min: -1e30, max: 1e30 };
    Parameter { name, about, kind, unset: Unset::Is(Setting::Number(unset)) }
}

enum Source {
    Uniform { low: f64, high: f64 },
    Normal { mean: f64, deviation: f64 },
    GoldenRange,
}

impl Source {
    fn set_in(settings: &Settings) -> Result<Self, SettingError> {
        let low = settings.number(LOW.name)?;
        let high = settings.number(HIGH.name)?;
        Ok(match settings.word(FROM.name)? {
            "normal" => Self::Normal {
                mean: settings.number(MEAN.name)?,
                deviation: settings.number(DEVIATION.name)?,
            },
            "golden_range" => Self::GoldenRange,
            _ if low >= high => {
                return Err(SettingError(format!("low ({low}) must lie below high ({high})")));
            }
            _ => Self::Uniform { low, high },
        })
    }
}

impl ModelFault for RandomValue {
    fn edit(&self, element: &Element<'_>, stream: &mut Stream) -> Edit {
        let number = match self.source {
            Source::Uniform { low, high } => stream.between(low, high),
            Source::Normal { mean, deviation } => mean + deviation * stream.gaussian(),
            Source::GoldenRange => {
                let (low, high) = element.range();
                stream.between(low, high)
            }
        };
        Edit::Set(element.dtype().bits(number))
    }

    fn listed(&self, _dtype: DType) -> Option<Vec<Edit>> {
        None
    }
}
