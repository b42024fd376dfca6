//! Elements, grown or shrunk.

use super::{Element, ModelFault, parameters};
use crate::doc::{about, described, when};
use faultlens_core::{DType, Dose, Parameter, ParameterKind, Plugin, Stream, Unset};
use faultlens_engine::Edit;

described! {
    /// # What it does
    /// Multiplies elements by a factor.
    /// # When it happens
    /// A wrong gain, a wrong scale of a quantised tensor, a missing normalisation.
    struct Scale {
        factor: f64,
    }
}

pub(super) const SCALE: Plugin<dyn ModelFault> = Plugin {
    name: "scale",
    about: about(Scale::DOC),
    when: when(Scale::DOC),
    parameters: parameters![FACTOR],
    build: |settings| Ok(Box::new(Scale { factor: settings.number(FACTOR.name)? })),
};

const FACTOR: Parameter = Parameter {
    name: "factor",
    about: "factor that elements are multiplied by",
    kind: ParameterKind::Number { min: -1e30, max: 1e30 },
    unset: Unset::Required,
};

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
