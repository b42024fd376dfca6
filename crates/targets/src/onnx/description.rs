//! How a model is fed and what its output means: given by the user, in its own metadata, or guessed
//! with reasons.

use super::error::OpenError;
use faultlens_engine::Graph;
use faultlens_vision::{
    BUILT_IN, Guess, INPUT_KEY, ImageInput, InputDescription, LABELS_KEY, LabelFormat, Labels,
    OUTPUT_KEY, OutputDescription, OutputReader, guess_input, guess_instance_labels, guess_labels,
    guess_output,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

/// Description and label files are small; a larger file is something else.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// What the user says about a model; what is left out is read from the model or guessed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartialDescription {
    /// How images become the input.
    pub input: Option<InputDescription>,
    /// What the output means.
    pub output: Option<OutputDescription>,
    /// The file that names the classes, or a built-in list such as `coco`.
    pub labels: Option<PathBuf>,
}

/// All that is needed to ask a model about an image.
#[derive(Debug, Clone, Serialize)]
pub struct Description {
    /// How images become the input.
    pub input: InputDescription,
    /// What the output means.
    pub output: OutputDescription,
    /// The classes' names.
    #[serde(skip)]
    pub labels: Labels,
    /// Where everything comes from that the user did not say.
    #[serde(skip)]
    pub reasons: Vec<String>,
}

impl Description {
    /// Completes what the user says, and checks the result against the model.
    pub fn resolve(graph: &Graph, given: PartialDescription) -> Result<Self, OpenError> {
        let mut reasons = Vec::new();
        let input = match given.input {
            Some(input) => input,
            None => default_input(graph, &mut reasons)?,
        };
        ImageInput::of(graph)?.fits(&input)?;
        let output = match given.output {
            Some(output) => output,
            None => default_output(graph, &mut reasons)?,
        };
        OutputReader::new(&output, graph)?;
        let labels = match &given.labels {
            Some(path) => read_labels(path)?,
            None => default_labels(graph, &output, &mut reasons)?,
        };
        Ok(Self { input, output, labels, reasons })
    }
}

impl Description {
    /// The guesses, each with its reason.
    pub fn guesses(&self) -> impl Iterator<Item = &str> {
        self.reasons.iter().map(String::as_str).filter(|reason| reason.starts_with(GUESSED))
    }
}

/// The prefix of the reasons of guesses.
const GUESSED: &str = "guessed ";

pub(super) fn default_input(
    graph: &Graph,
    reasons: &mut Vec<String>,
) -> Result<InputDescription, OpenError> {
    if let Some(own) = from_metadata(graph, INPUT_KEY)? {
        reasons.push("the model's own metadata describes the input".to_owned());
        return Ok(own);
    }
    let guess = guess_input(graph, None)?;
    reasons.extend(guess.reasons.iter().map(guessed));
    Ok(guess.description)
}

fn default_output(
    graph: &Graph,
    reasons: &mut Vec<String>,
) -> Result<OutputDescription, OpenError> {
    if let Some(own) = from_metadata(graph, OUTPUT_KEY)? {
        reasons.push("the model's own metadata describes the output".to_owned());
        return Ok(own);
    }
    let guess = guess_output(graph)?;
    // What `faultlens train` wrote is known, not guessed.
    if guess.description.decoder.as_deref() == Some("world") {
        reasons.extend(guess.reasons);
    } else {
        reasons.extend(guess.reasons.iter().map(guessed));
    }
    Ok(guess.description)
}

fn guessed(reason: impl Display) -> String {
    format!("{GUESSED}{reason}")
}

/// An entry of the model's own metadata.
pub(super) fn from_metadata<T: DeserializeOwned>(
    graph: &Graph,
    key: &'static str,
) -> Result<Option<T>, OpenError> {
    let Some(text) = graph.metadata(key) else { return Ok(None) };
    serde_json::from_str(text)
        .map(Some)
        .map_err(|error| OpenError::Metadata { key, why: error.to_string() })
}

/// The classes' names, where the model's own metadata has them or its output is of a known kind.
fn default_labels(
    graph: &Graph,
    output: &OutputDescription,
    reasons: &mut Vec<String>,
) -> Result<Labels, OpenError> {
    metadata_or_guess(graph, || guess_labels(graph, output), reasons)
}

/// The same for a model that outlines instances.
pub(super) fn default_instance_labels(
    graph: &Graph,
    classes: Option<usize>,
    reasons: &mut Vec<String>,
) -> Result<Labels, OpenError> {
    metadata_or_guess(graph, || guess_instance_labels(graph, classes), reasons)
}

fn metadata_or_guess(
    graph: &Graph,
    guess: impl FnOnce() -> Option<Guess<Labels>>,
    reasons: &mut Vec<String>,
) -> Result<Labels, OpenError> {
    if let Some(text) = graph.metadata(LABELS_KEY) {
        return Ok(Labels::parse(text, LabelFormat::Json)?);
    }
    let Some(guess) = guess() else { return Ok(Labels::default()) };
    reasons.extend(guess.reasons.iter().map(guessed));
    Ok(guess.description)
}

/// The path of labels that a file in this folder refers to; the name of a built-in list stays as it
/// is.
pub fn labels_from(folder: &Path, labels: &Path) -> PathBuf {
    if built_in(labels).is_some() {
        return labels.to_path_buf();
    }
    folder.join(labels)
}

fn built_in(labels: &Path) -> Option<Labels> {
    labels.to_str().and_then(Labels::built_in)
}

/// The classes' names in a file, or in a built-in list.
pub fn read_labels(path: &Path) -> Result<Labels, OpenError> {
    if let Some(labels) = built_in(path) {
        return Ok(labels);
    }
    let text = match read_small(path) {
        Ok(text) => text,
        Err(mut what) => {
            if !path.exists() {
                let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
                what = format!("{what}; built-in lists are {}", known.join(" and "));
            }
            return Err(OpenError::File { what, path: path.to_path_buf() });
        }
    };
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    Labels::parse(&text, LabelFormat::of_extension(extension))
        .map_err(|error| OpenError::File { what: error.to_string(), path: path.to_path_buf() })
}

/// The text of a file that is expected to be small, or a message about what is wrong with it.
pub fn read_small(path: &Path) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| format!("cannot open the file: {error}"))?;
    if !about.is_file() {
        return Err("this is not a file".to_owned());
    }
    if about.len() > MAX_FILE_BYTES {
        return Err(format!("the file has more than {} MB", MAX_FILE_BYTES >> 20));
    }
    fs::read_to_string(path).map_err(|error| format!("cannot read the file as text: {error}"))
}
