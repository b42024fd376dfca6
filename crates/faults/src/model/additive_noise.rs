//! Elements, moved a little.

use super::{Element, ModelFault, parameters};
use crate::doc::{about, described, when};
use faultlens_core::{DType, Dose, Parameter, ParameterKind, Plugin, Setting, Stream, Unset};
use faultlens_engine::Edit;
use std::borrow::Cow;

described! {
    /// # What it does
    /// Adds a random number to elements.
    /// # When it happens
    /// Analogue computing, drifting memory cells, approximate arithmetic.
    struct AdditiveNoise {
        normal: bool,
        relative: bool,
        size: f64,
    }
}

pub(super) const ADDITIVE_NOISE: Plugin<dyn ModelFault> = Plugin {
    name: "additive_noise",
    about: about(AdditiveNoise::DOC),
    when: when(AdditiveNoise::DOC),
    parameters: parameters![FROM, OF, SIZE],
    build: |settings| {
        Ok(Box::new(AdditiveNoise {
            normal: settings.word(FROM.name)? == "normal",
            relative: settings.word(OF.name)? == "range",
            size: settings.number(SIZE.name)?,
        }))
    },
};

const FROM: Parameter = Parameter {
    name: "from",
    about: "how the noise is distributed: normal with size as its standard deviation, or evenly \
            between minus and plus size",
    kind: ParameterKind::Choice(&["normal", "uniform"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("normal"))),
};

const OF: Parameter = Parameter {
    name: "of",
    about: "what size is measured in: the tensor's own unit, or the width of the range that it has \
            undisturbed",
    kind: ParameterKind::Choice(&["unit", "range"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("range"))),
};

const SIZE: Parameter = Parameter {
    name: "size",
    about: "size of the noise",
    kind: ParameterKind::Number { min: 0.0, max: 1e30 },
    unset: Unset::Required,
};

impl ModelFault for AdditiveNoise {
    fn edit(&self, element: &Element<'_>, stream: &mut Stream) -> Edit {
        let drawn = if self.normal { stream.gaussian() } else { stream.between(-1.0, 1.0) };
        let unit = if self.relative { element.range().1 - element.range().0 } else { 1.0 };
        Edit::Add(drawn * self.size * unit)
    }

    fn listed(&self, _dtype: DType) -> Option<Vec<Edit>> {
        None
    }

    fn dose(&self) -> Option<Dose> {
        Some(Dose { axis: SIZE.name, amount: self.size })
    }
}
