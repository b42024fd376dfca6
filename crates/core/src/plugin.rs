//! Entries of the registries: what users can name in a campaign file, with its parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// One entry of a registry. The registries drive `faultlens list`, the documentation, the JSON
/// schema of the campaign file and the hints for misspelt names.
pub struct Plugin<T: ?Sized> {
    /// The name in campaign files.
    pub name: &'static str,
    /// What it does, in a sentence without a full stop.
    pub about: &'static str,
    /// When it happens, or when to use it.
    pub when: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// Makes it from settings, which are complete and in range.
    pub build: fn(&Settings) -> Result<Box<T>, SettingError>,
}

/// Something that can be set.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// The key in campaign files.
    pub name: &'static str,
    /// What it means, in a sentence without a full stop.
    pub about: &'static str,
    /// What it can be.
    pub kind: ParameterKind,
    /// What holds where the user does not set it.
    pub unset: Unset,
}

/// What a parameter can be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterKind {
    /// A whole number in a range, both ends included.
    Whole {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A number in a range, both ends included.
    Number {
        /// The smallest value.
        min: f64,
        /// The largest value.
        max: f64,
    },
    /// One of some words.
    Choice(&'static [&'static str]),
    /// A list of names; the only kind that a list in a campaign file does not sweep over.
    Names,
}

/// What holds where a parameter is not set.
#[derive(Debug, Clone, PartialEq)]
pub enum Unset {
    /// It must be set.
    Required,
    /// It stays unset, which has a meaning of its own.
    Absent,
    /// This value.
    Is(Setting),
}

/// What a parameter is set to.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// A number, whole or not.
    Number(f64),
    /// A word.
    Word(Cow<'static, str>),
    /// A list of names.
    Names(Vec<String>),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(word) => f.write_str(word),
            Self::Names(names) => write!(f, "[{}]", names.join(", ")),
        }
    }
}

/// Settings that do not fit together, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(pub String);

/// All parameters of an entry with their values; in order of their names, so that the same
/// settings always read the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings(BTreeMap<&'static str, Setting>);

impl Settings {
    /// Sets a parameter.
    pub fn set(&mut self, name: &'static str, setting: Setting) {
        self.0.insert(name, setting);
    }

    /// What a parameter is set to, if it is.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// All that is set, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.0.iter().map(|(name, setting)| (*name, setting))
    }

    /// A number that may be unset.
    pub fn number_if_set(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Setting::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<f64, SettingError> {
        self.number_if_set(name).ok_or_else(|| SettingError(format!("{name} must be a number")))
    }

    /// A word.
    pub fn word(&self, name: &str) -> Result<&str, SettingError> {
        match self.get(name) {
            Some(Setting::Word(word)) => Ok(word),
            _ => Err(SettingError(format!("{name} must be a word"))),
        }
    }

    /// A list of names; empty where it is unset.
    pub fn names(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Setting::Names(names)) => names,
            _ => &[],
        }
    }
}

/// `name=value` for all that is set, in order of the names: the text that a trial's identity is
/// made from.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, setting)) in self.iter().enumerate() {
            let gap = if at == 0 { "" } else { ", " };
            write!(f, "{gap}{name}={setting}")?;
        }
        Ok(())
    }
}

impl<T: ?Sized> Plugin<T> {
    /// The settings where a user sets nothing: every parameter that has a default.
    pub fn default_settings(&self) -> Settings {
        let mut settings = Settings::default();
        for parameter in self.parameters {
            if let Unset::Is(setting) = &parameter.unset {
                settings.set(parameter.name, setting.clone());
            }
        }
        settings
    }
}

impl<T: ?Sized> fmt::Debug for Plugin<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_the_same_whatever_their_order() {
        let mut a = Settings::default();
        a.set("severity", Setting::Number(3.0));
        a.set("in", Setting::Word("weights".into()));
        let mut b = Settings::default();
        b.set("in", Setting::Word("weights".into()));
        b.set("severity", Setting::Number(3.0));
        assert_eq!(a.to_string(), "in=weights, severity=3");
        assert_eq!(a.to_string(), b.to_string());
        assert_eq!(a.number("severity"), Ok(3.0));
        assert_eq!(a.number("in").unwrap_err().to_string(), "in must be a number");
        assert_eq!((a.word("in"), a.names("operators")), (Ok("weights"), &[][..]));
    }
}
