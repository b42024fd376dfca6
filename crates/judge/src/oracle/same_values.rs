//! Numbers must stay where they were.

use faultlens_core::{
    Comparison, Measurement, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason, Setting,
    SettingError, Settings, Unset,
};

/// # What it does
/// Unchanged where no number of the answer moves further than the tolerance.
/// # When to use it
/// Steering angles and other regressions; with tolerance 0, any change of any score.
pub(super) const SAME_VALUES: Plugin<dyn Oracle> = Plugin {
    name: "same_values",
    about: "no number of the answer may move by more than the tolerance",
    when: "steering angles and other regressions, or with tolerance 0 any change of any score; \
           records the largest move as deviation",
    parameters: &[TOLERANCE, SCALE, FURTHER],
    build,
};

const TOLERANCE: Parameter = Parameter {
    name: "tolerance",
    about: "how far a number may move, in its own unit times scale",
    kind: ParameterKind::Number { min: 0.0, max: 1e30 },
    unset: Unset::Is(Setting::Number(0.0)),
};

const SCALE: Parameter = Parameter {
    name: "scale",
    about: "a factor that differences are multiplied by first, such as 57.2958 to turn radians into \
            degrees",
    kind: ParameterKind::Number { min: 1e-30, max: 1e30 },
    unset: Unset::Is(Setting::Number(1.0)),
};

const FURTHER: Parameter = Parameter {
    name: "further",
    about: "more tolerances to report rates for, such as [30, 60, 120]",
    kind: ParameterKind::Names,
    unset: Unset::Absent,
};

fn build(settings: &Settings) -> Result<Box<dyn Oracle>, SettingError> {
    let tolerance = settings.number(TOLERANCE.name)?;
    let scale = settings.number(SCALE.name)?;
    for text in settings.names(FURTHER.name) {
        let is_tolerance = text.trim().parse().is_ok_and(|n: f64| n.is_finite() && n >= 0.0);
        if !is_tolerance {
            return Err(SettingError(format!("further holds {text:?}, which is no tolerance")));
        }
    }
    Ok(Box::new(SameValues { tolerance, scale }))
}

struct SameValues {
    tolerance: f64,
    scale: f64,
}

impl SameValues {
    /// The largest move of a number, times the scale (the maximum norm); `None` where the answers
    /// have different lengths.
    fn deviation(&self, golden: &[f32], observed: &[f32]) -> Option<f64> {
        if golden.len() != observed.len() {
            return None;
        }
        let mut largest: f64 = 0.0;
        for (&a, &b) in golden.iter().zip(observed) {
            largest = largest.max((f64::from(a) - f64::from(b)).abs() * self.scale);
        }
        Some(largest)
    }
}

impl Oracle for SameValues {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        let numbers = comparison.golden.numbers().zip(comparison.observed.numbers());
        let Some((golden, observed)) = numbers else {
            return Outcome::Skipped(Reason::UnsupportedAnswer);
        };
        match self.deviation(golden, observed) {
            Some(deviation) if deviation <= self.tolerance => Outcome::Unchanged,
            _ => Outcome::Changed,
        }
    }

    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        let (golden, observed) = comparison.golden.numbers().zip(comparison.observed.numbers())?;
        Some(Measurement { name: "deviation", value: self.deviation(golden, observed)? })
    }
}
