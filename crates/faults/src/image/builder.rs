//! Faults made in code: settings that are checked as a campaign file's are.

use super::facts::Facts;
use super::level::SEVERITY;
use faultlens_core::{
    Parameter, ParameterKind, Setting, SettingError, Settings, Unset, did_you_mean,
};

/// Why a fault could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// The registry has no fault of that name.
    #[error("no image fault is called {name:?}{hint}")]
    UnknownFault {
        /// The name.
        name: String,
        /// `; did you mean …?` where a name is close to it.
        hint: String,
    },
    /// The fault has no such parameter.
    #[error("{fault} has no parameter {name:?}{hint}")]
    UnknownParameter {
        /// The fault.
        fault: &'static str,
        /// The parameter.
        name: String,
        /// `; did you mean …?` where a name is close to it.
        hint: String,
    },
    /// A value that the parameter does not take.
    #[error("{parameter} takes {takes}, not {value}")]
    Value {
        /// The parameter.
        parameter: &'static str,
        /// What it takes.
        takes: String,
        /// The value.
        value: String,
    },
    /// Settings that do not fit together.
    #[error(transparent)]
    Settings(#[from] SettingError),
}

/// A value of a setting: a number or a word.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word, such as `white`.
    Word(String),
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

/// A fault in the making. Errors of settings are reported by [`build`](Self::build), the first one.
#[derive(Debug)]
#[must_use = "`build` or `severity` makes the fault"]
pub struct Builder<F> {
    facts: &'static Facts,
    settings: Settings,
    build: fn(&Settings) -> Result<F, SettingError>,
    error: Option<FaultError>,
}

impl<F> Builder<F> {
    /// The defaults of a fault.
    pub(super) fn new(
        facts: &'static Facts,
        build: fn(&Settings) -> Result<F, SettingError>,
    ) -> Self {
        let mut settings = Settings::default();
        for parameter in facts.parameters {
            if let Unset::Is(setting) = &parameter.unset {
                settings.set(parameter.name, setting.clone());
            }
        }
        Self { facts, settings, build, error: None }
    }

    /// Sets a parameter.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        let result = self.parameter(name).and_then(|own| Ok((own.name, checked(own, value)?)));
        match result {
            Ok((name, setting)) => self.settings.set(name, setting),
            Err(error) => self.error = self.error.or(Some(error)),
        }
        self
    }

    /// The fault at a severity from 1 to 5, with what else is set.
    pub fn severity(self, severity: u8) -> Result<F, FaultError> {
        self.set(SEVERITY.name, f64::from(severity)).build()
    }

    /// The fault, if all settings are known, in range and fit together.
    pub fn build(self) -> Result<F, FaultError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        Ok((self.build)(&self.settings)?)
    }

    fn parameter(&self, name: &str) -> Result<&'static Parameter, FaultError> {
        let known = self.facts.parameters.iter().find(|parameter| parameter.name == name);
        known.ok_or_else(|| FaultError::UnknownParameter {
            fault: self.facts.name,
            name: name.to_owned(),
            hint: hint(name, self.facts.parameters.iter().map(|parameter| parameter.name)),
        })
    }
}

/// `; did you mean …?` where one of the names is close.
pub(super) fn hint(name: &str, known: impl Iterator<Item = &'static str>) -> String {
    did_you_mean(name, known).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

/// The value as a setting, if the parameter takes it.
fn checked(parameter: &'static Parameter, value: impl Into<Value>) -> Result<Setting, FaultError> {
    let value = value.into();
    let takes = match parameter.kind {
        ParameterKind::Whole { min, max } => format!("a whole number from {min} to {max}"),
        ParameterKind::Number { min, max } => format!("a number from {min} to {max}"),
        ParameterKind::Choice(words) => format!("one of {}", words.join(", ")),
        ParameterKind::Names => "a list of names".to_owned(),
    };
    match (parameter.kind, &value) {
        (ParameterKind::Whole { min, max }, Value::Number(number))
            if number.fract() == 0.0 && (min as f64..=max as f64).contains(number) =>
        {
            Ok(Setting::Number(*number))
        }
        (ParameterKind::Number { min, max }, Value::Number(number))
            if (min..=max).contains(number) =>
        {
            Ok(Setting::Number(*number))
        }
        (ParameterKind::Choice(words), Value::Word(word)) if words.contains(&word.as_str()) => {
            Ok(Setting::Word(word.clone().into()))
        }
        _ => {
            let value = match value {
                Value::Number(number) => number.to_string(),
                Value::Word(word) => format!("{word:?}"),
            };
            Err(FaultError::Value { parameter: parameter.name, takes, value })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::image::{Black, DeadPixels, Fault, Fog, ImageFault, named};
    use faultlens_core::Image;

    #[test]
    fn the_short_call_the_builder_and_the_name_make_the_same_fault() {
        let rgb = (0..16 * 12 * 3).map(|at| (at * 7 % 256) as u8).collect();
        let image = Image::from_rgb(16, 12, rgb).unwrap();
        let foggy = Fog::severity(3).unwrap().apply(&image, 7);
        assert_eq!(named("fog").unwrap().severity(3).unwrap().apply(&image, 7), foggy);
        let set = Fog::set("density", 2.5).set("decay", 1.7).build().unwrap();
        assert_eq!(set.apply(&image, 7), foggy);
        assert_ne!(set.apply(&image, 8), foggy);
        let small = Fog::set("table", "cifar10-c").severity(3).unwrap();
        assert_ne!(small.apply(&image, 7), foggy);
        assert!(Black::builder().build().is_ok());
    }

    #[test]
    fn wrong_names_and_values_are_refused() {
        let refused = [
            (named("fogg").err(), "no image fault is called \"fogg\"; did you mean \"fog\"?"),
            (Fog::severity(6).err(), "severity takes a whole number from 1 to 5, not 6"),
            (Fog::builder().build().err(), "set severity (1 to 5), or density and decay"),
            (
                Fog::set("densty", 1.0).set("decay", 99).build().err(),
                "fog has no parameter \"densty\"; did you mean \"density\"?",
            ),
            (Fog::set("decay", "x").build().err(), "decay takes a number from 1 to 10, not \"x\""),
            (
                DeadPixels::set("shows", "grey").build().err(),
                "shows takes one of black, white, not \"grey\"",
            ),
            (Black::severity(1).err(), "black has no parameter \"severity\""),
        ];
        for (error, wanted) in refused {
            assert_eq!(error.unwrap().to_string(), wanted);
        }
    }
}
