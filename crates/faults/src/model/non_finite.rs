//! Elements that are no numbers.

use super::{Element, ModelFault, parameters};
use crate::doc::{about, described, when};
use faultlens_core::{DType, Parameter, ParameterKind, Plugin, Setting, Stream, Unset};
use faultlens_engine::Edit;
use std::borrow::Cow;

described! {
    /// # What it does
    /// Sets elements to an infinity or to NaN.
    /// # When it happens
    /// An overflow or a division by zero; shows whether the model makes such faults detectable.
    struct NonFinite {
        to: &'static [f64],
    }
}

pub(super) const NON_FINITE: Plugin<dyn ModelFault> = Plugin {
    name: "non_finite",
    about: about(NonFinite::DOC),
    when: when(NonFinite::DOC),
    parameters: parameters![TO],
    build: |settings| {
        let to = match settings.word(TO.name)? {
            "infinity" => &[f64::INFINITY][..],
            "minus_infinity" => &[f64::NEG_INFINITY],
            "any" => &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            _ => &[f64::NAN],
        };
        Ok(Box::new(NonFinite { to }))
    },
};

const TO: Parameter = Parameter {
    name: "to",
    about: "value that elements get",
    kind: ParameterKind::Choice(&["nan", "infinity", "minus_infinity", "any"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("nan"))),
};

impl ModelFault for NonFinite {
    fn edit(&self, element: &Element<'_>, stream: &mut Stream) -> Edit {
        let to = stream.pick(self.to).copied().unwrap_or(f64::NAN);
        Edit::Set(element.dtype().bits(to))
    }

    fn listed(&self, dtype: DType) -> Option<Vec<Edit>> {
        Some(self.to.iter().map(|&to| Edit::Set(dtype.bits(to))).collect())
    }

    fn fits(&self, dtype: DType) -> bool {
        dtype.is_float()
    }

    fn misfit(&self) -> Option<String> {
        Some("only floats can be other than numbers".to_owned())
    }
}
