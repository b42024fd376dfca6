//! Numbers must stay where they were.

use faultlens_core::{Exhibit, Oracle, Outcome, Parameter, ParameterKind, Plugin, Setting, Unset};

/// # What it does
/// Masked where no number of the answer moves further than the tolerance.
/// # When to use it
/// Steering angles and other regressions; with tolerance 0, any change of any score.
pub(super) const SAME_VALUES: Plugin<dyn Oracle> = Plugin {
    name: "same_values",
    about: "no number of the answer may move further than the tolerance",
    when: "steering angles and other regressions; with tolerance 0, any change of any score",
    parameters: &[TOLERANCE],
    build: |settings| Ok(Box::new(SameValues { tolerance: settings.number(TOLERANCE.name)? })),
};

const TOLERANCE: Parameter = Parameter {
    name: "tolerance",
    about: "how far a number may move, in its own unit",
    kind: ParameterKind::Number { least: 0.0, most: 1e30 },
    unset: Unset::Is(Setting::Number(0.0)),
};

struct SameValues {
    tolerance: f64,
}

impl Oracle for SameValues {
    fn judge(&self, exhibit: &Exhibit<'_>) -> Outcome {
        let (golden, observed) = (exhibit.golden.numbers(), exhibit.observed.numbers());
        let near = |(a, b): (&f32, &f32)| (f64::from(*a) - f64::from(*b)).abs() <= self.tolerance;
        let same = golden.len() == observed.len() && golden.iter().zip(observed).all(near);
        if same { Outcome::Masked } else { Outcome::Deviated }
    }
}
