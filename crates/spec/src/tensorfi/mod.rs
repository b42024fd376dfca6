//! Configuration files of TensorFI 1 and 2, turned into campaigns.
//!
//! A file becomes the text of a campaign, which the ordinary parser reads: so users can look at
//! it, keep it and go on from there. docs/tensorfi.md says what every key becomes.

mod first;
mod operators;
mod second;
#[cfg(test)]
mod tests;
mod write;

use super::error::{ConfigError, Diagnostic};
use super::section::keys_of;
use super::tree::{self, Value};
use super::words::unknown_key;
use faultlens_engine::Graph;
use faultlens_targets::PartialDescription;
use first::First;
use second::Second;
use std::path::{Path, PathBuf};
use write::{FaultText, Parts};

/// A configuration file of TensorFI, checked as far as no model is needed.
///
/// ```
/// use faultlens_spec::TensorFi;
/// use std::path::Path;
///
/// let text = "{Target: layer_states, Mode: single, Type: bitflips, Amount: 1, Bit: N}";
/// assert_eq!(TensorFi::parse(text, Path::new("conf.yaml"))?.version(), 2);
/// let error = TensorFi::parse("Opps: [ALL = 1.0]", Path::new("conf.yaml")).unwrap_err();
/// assert!(error.to_string().contains("did you mean \"Ops\"?"));
/// # Ok::<(), faultlens_spec::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct TensorFi {
    settings: Version,
    text: String,
    path: PathBuf,
}

#[derive(Debug)]
enum Version {
    First(First),
    Second(Second),
}

/// What a TensorFI file does not say, because a program says it there.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The model as the campaign names it.
    pub model: &'a str,
    /// How images become its input, and what its output means, where the user says so.
    pub written: &'a PartialDescription,
    /// The cases as the campaign names them.
    pub data: &'a str,
    /// Only so many cases.
    pub sample: Option<usize>,
    /// Trials per case.
    pub trials: u32,
    /// How answers can be judged.
    pub judged: Judged,
}

/// How a model's answers on some cases can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// Classes, and the right ones are known.
    Labelled,
    /// Classes, and nobody says which are right.
    Unlabelled,
    /// Numbers, whose order means nothing.
    Values,
    /// Something else, which this oracle judges.
    By(&'static str),
}

impl Asked<'_> {
    /// A campaign of the same model and cases with any fault: what opens both before it is known
    /// which fault fits the model, and how answers can be judged.
    pub fn any_campaign(&self) -> String {
        let fault = FaultText::new("bit_flip");
        let origin = "the command line".to_owned();
        let asked = Asked { judged: Judged::Unlabelled, ..*self };
        Parts { origin, notes: &[], seed: None, fault }.text(&asked)
    }
}

/// A campaign that says what a TensorFI file said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// The campaign file.
    pub text: String,
    /// What a user of TensorFI must know about it, each without a full stop; they stand in the
    /// text as well.
    pub notes: Vec<String>,
}

impl TensorFi {
    /// Checks the text of a file; its keys tell the version. `path` is where it comes from.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let settings = version(text).map_err(|error| error.within(text, path))?;
        Ok(Self { settings, text: text.to_owned(), path: path.to_path_buf() })
    }

    /// 1 or 2.
    pub fn version(&self) -> u8 {
        match self.settings {
            Version::First(_) => 1,
            Version::Second(_) => 2,
        }
    }

    /// The campaign that does to this model what the file asks for.
    pub fn campaign(&self, asked: &Asked<'_>, graph: &Graph) -> Result<Translation, ConfigError> {
        let mut notes = Vec::new();
        let (fault, seed) = match &self.settings {
            Version::First(first) => (first.fault(graph, &mut notes), first.seed()),
            Version::Second(second) => (Ok(second.fault(graph, &mut notes)), None),
        };
        let fault = fault.map_err(|error| error.within(&self.text, &self.path))?;
        let name = self.path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let origin = format!("the TensorFI {} file {name}", self.version());
        let text = Parts { origin, notes: &notes, seed, fault }.text(asked);
        Ok(Translation { text, notes })
    }
}

fn version(text: &str) -> Result<Version, Diagnostic> {
    let tree = tree::parse(text)?;
    let entries = match &tree.value {
        Value::Map(entries) if !entries.is_empty() => entries,
        Value::Nothing | Value::Map(_) => {
            return Err(Diagnostic::new(tree.at, "this file is empty"));
        }
        other => {
            let what = format!("a TensorFI file has keys such as Ops or Target; this is {other}");
            return Err(Diagnostic::new(tree.at, what));
        }
    };
    let first_keys = keys_of::<first::FirstFile>();
    let second_keys = keys_of::<second::SecondFile>();
    let first_count = entries.iter().filter(|entry| first_keys.contains(&entry.key)).count();
    let second_count = entries.iter().filter(|entry| second_keys.contains(&entry.key)).count();
    match (first_count, second_count) {
        (0, 0) => {
            let names = first_keys.iter().chain(&second_keys).map(String::as_str).collect();
            let key = &entries[0].key;
            let at = entries[0].key_at;
            Err(unknown_key(at, "neither TensorFI 1 nor 2 has a key", key, names))
        }
        (one, two) if one >= two => First::read(&tree).map(Version::First),
        _ => Second::read(&tree).map(Version::Second),
    }
}

/// A number from a text that holds nothing else.
fn number_in(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}
