//! Elements, grown or shrunk.

use super::{Element, ModelFault, parameters};
use faultlens_core::{DType, Dose, Parameter, ParameterKind, Plugin, Stream, Unset};
use faultlens_engine::Edit;

/// # What it does
/// Multiplies elements by a factor.
/// # When it happens
/// A wrong gain, a wrong scale of a quantised tensor, a missing normalisation.
pub(super) const SCALE: Plugin<dyn ModelFault> = Plugin {
    name: "scale",
    about: "multiplies elements by a factor",
    when: "a wrong gain, a wrong scale of a quantised tensor, a missing normalisation",
    parameters: parameters![FACTOR],
    build: |settings| Ok(Box::new(Scale { factor: settings.number(FACTOR.name)? })),
};

const FACTOR: Parameter = Parameter {
    name: "factor",
    about: "what elements are multiplied by",
    kind: ParameterKind::Number { min: -1e30, max: 1e30 },
    unset: Unset::Required,
};

struct Scale {
    factor: f64,
}

impl ModelFault for Scale {
    fn edit(&self, _element: &Element<'_>, _stream: &mut Stream) -> Edit {
        Edit::Scale(self.factor)
    }

    fn listed(&self, _dtype: DType) -> Option<Vec<Edit>> {
        Some(vec![Edit::Scale(self.factor)])
    }

    fn dose(&self) -> Option<Dose> {
        Some(Dose { axis: FACTOR.name, amount: self.factor })
    }
}
