//! What a model sees and answers: written down, in its own metadata, or guessed with reasons.

use super::OpenError;
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

/// Description and label files are small; what is larger is something else.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// What the user wrote about a model; what is left out is found out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// How images become the input.
    pub input: Option<InputDescription>,
    /// What the output means.
    pub output: Option<OutputDescription>,
    /// The file that names the classes, or a list that needs none, such as `coco`.
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
    /// Where all that comes from that the user did not write.
    #[serde(skip)]
    pub reasons: Vec<String>,
}

impl Description {
    /// Takes what the user wrote, finds the rest out, and checks both against the model.
    pub fn resolve(graph: &Graph, written: Written) -> Result<Self, OpenError> {
        let mut reasons = Vec::new();
        let input = match written.input {
            Some(input) => input,
            None => unwritten_input(graph, &mut reasons)?,
        };
        ImageInput::of(graph)?.fits(&input)?;
        let output = match written.output {
            Some(output) => output,
            None => unwritten_output(graph, &mut reasons)?,
        };
        OutputReader::new(&output, graph)?;
        let labels = match &written.labels {
            Some(path) => read_labels(path)?,
            None => unwritten_labels(graph, &output, &mut reasons)?,
        };
        Ok(Self { input, output, labels, reasons })
    }
}

impl Description {
    /// What was guessed, each with its reason.
    pub fn guesses(&self) -> impl Iterator<Item = &str> {
        self.reasons.iter().map(String::as_str).filter(|reason| reason.starts_with(GUESSED))
    }
}

/// What a reason begins with where the description is a guess.
const GUESSED: &str = "guessed ";

pub(super) fn unwritten_input(
    graph: &Graph,
    reasons: &mut Vec<String>,
) -> Result<InputDescription, OpenError> {
    if let Some(own) = own(graph, INPUT_KEY)? {
        reasons.push("the model's own metadata describes the input".to_owned());
        return Ok(own);
    }
    let guess = guess_input(graph, None)?;
    reasons.extend(guess.reasons.iter().map(guessed));
    Ok(guess.description)
}

fn unwritten_output(
    graph: &Graph,
    reasons: &mut Vec<String>,
) -> Result<OutputDescription, OpenError> {
    if let Some(own) = own(graph, OUTPUT_KEY)? {
        reasons.push("the model's own metadata describes the output".to_owned());
        return Ok(own);
    }
    let guess = guess_output(graph)?;
    reasons.extend(guess.reasons.iter().map(guessed));
    Ok(guess.description)
}

fn guessed(reason: impl Display) -> String {
    format!("{GUESSED}{reason}")
}

/// What an entry of the model's own metadata says.
pub(super) fn own<T: DeserializeOwned>(
    graph: &Graph,
    key: &'static str,
) -> Result<Option<T>, OpenError> {
    let read = |text| {
        serde_json::from_str(text)
            .map_err(|error| OpenError::Metadata { key, why: error.to_string() })
    };
    graph.metadata(key).map(read).transpose()
}

/// The classes' names, where the model's own metadata says them or its kind is known.
fn unwritten_labels(
    graph: &Graph,
    output: &OutputDescription,
    reasons: &mut Vec<String>,
) -> Result<Labels, OpenError> {
    labels_of(graph, || guess_labels(graph, output), reasons)
}

/// The same for a model that gives outlines.
pub(super) fn unwritten_instance_labels(
    graph: &Graph,
    classes: Option<usize>,
    reasons: &mut Vec<String>,
) -> Result<Labels, OpenError> {
    labels_of(graph, || guess_instance_labels(graph, classes), reasons)
}

fn labels_of(
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

/// Where labels are that a file in this folder names: a list that needs no file stays a name.
pub fn labels_from(folder: &Path, labels: &Path) -> PathBuf {
    match built_in(labels) {
        Some(_) => labels.to_path_buf(),
        None => folder.join(labels),
    }
}

fn built_in(labels: &Path) -> Option<Labels> {
    labels.to_str().and_then(Labels::built_in)
}

/// The classes' names in a file, or in a list that needs none.
pub fn read_labels(path: &Path) -> Result<Labels, OpenError> {
    if let Some(labels) = built_in(path) {
        return Ok(labels);
    }
    let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
    let wrong = |what: String| {
        let what = match path.exists() {
            true => what,
            false => format!("{what}; lists that need no file are {}", known.join(" and ")),
        };
        OpenError::File { what, path: path.to_path_buf() }
    };
    let text = read_small(path).map_err(wrong)?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    Labels::parse(&text, LabelFormat::of_extension(extension)).map_err(|e| wrong(e.to_string()))
}

/// The text of a file that is expected to be small, or what is wrong with it in words.
pub fn read_small(path: &Path) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| format!("cannot open the file: {error}"))?;
    if !about.is_file() {
        return Err("this is no file".to_owned());
    }
    if about.len() > MAX_FILE_BYTES {
        return Err(format!("the file has more than {} MB", MAX_FILE_BYTES >> 20));
    }
    fs::read_to_string(path).map_err(|error| format!("cannot read the file as text: {error}"))
}
