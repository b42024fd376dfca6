//! What the model sees and answers: from the user's file, or guessed, and always shown.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use faultlens::did_you_mean;
use faultlens::engine::Graph;
use faultlens::engine::vision::{
    ImageInput, InputDescription, LabelFormat, Labels, OutputDescription, guess_input, guess_output,
};
use serde::{Deserialize, Serialize};

use crate::console::Console;

/// Where a model's metadata describes its input, as JSON.
pub(crate) const INPUT_KEY: &str = "faultlens.input";
/// Where a model's metadata describes its output, as JSON.
pub(crate) const OUTPUT_KEY: &str = "faultlens.output";
/// Where a model's metadata names its classes, as a JSON list.
pub(crate) const LABELS_KEY: &str = "faultlens.labels";

/// Description and label files are small; what is larger is something else.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The `--input` file: what it leaves out is guessed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputFile {
    input: Option<InputDescription>,
    output: Option<OutputDescription>,
    labels: Option<PathBuf>,
}

/// All that is needed to ask a model about an image.
#[derive(Debug, Serialize)]
pub(crate) struct Description {
    pub(crate) input: InputDescription,
    pub(crate) output: OutputDescription,
    #[serde(skip)]
    pub(crate) labels: Labels,
    #[serde(skip)]
    reasons: Vec<String>,
}

impl Description {
    /// Takes what the user wrote, guesses the rest, and checks both against the model.
    pub(crate) fn resolve(
        graph: &Graph,
        file: Option<&Path>,
        labels: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let written = file.map(read_input_file).transpose()?.unwrap_or_default();
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
        output.position(graph)?;
        let beside =
            |path: PathBuf| file.and_then(Path::parent).map_or(path.clone(), |p| p.join(path));
        let labels = labels.map(Path::to_path_buf).or(written.labels.map(beside));
        let labels = labels.as_deref().map(read_labels).transpose()?;
        let labels = match labels {
            Some(labels) => labels,
            None => own_labels(graph)?,
        };
        Ok(Self { input, output, labels, reasons })
    }

    /// Shows the description as a file that could be given to `--input`, with the reasons for
    /// what the user did not write.
    pub(crate) fn show(&self, console: &mut Console) -> anyhow::Result<()> {
        for line in yaml(self)?.lines() {
            console.note(line)?;
        }
        for reason in &self.reasons {
            console.note(format_args!("# {reason}"))?;
        }
        Ok(console.note("")?)
    }
}

/// How images are fed, where the user does not say so: from the model's own metadata, or guessed.
fn unwritten_input(graph: &Graph, reasons: &mut Vec<String>) -> anyhow::Result<InputDescription> {
    if let Some(own) = own_input(graph)? {
        reasons.push("the model's own metadata describes the input".to_owned());
        return Ok(own);
    }
    let guess = guess_input(graph, None)?;
    reasons.extend(guess.reasons.iter().map(guessed));
    Ok(guess.description)
}

/// What the answer means, where the user does not say so: from the model's own metadata, or guessed.
fn unwritten_output(graph: &Graph, reasons: &mut Vec<String>) -> anyhow::Result<OutputDescription> {
    if let Some(text) = graph.metadata(OUTPUT_KEY) {
        reasons.push("the model's own metadata describes the output".to_owned());
        return serde_json::from_str(text).context("the model's metadata faultlens.output");
    }
    let guess = guess_output(graph)?;
    reasons.extend(guess.reasons.iter().map(guessed));
    Ok(guess.description)
}

fn guessed(reason: impl Display) -> String {
    format!("guessed {reason}")
}

/// How images are fed, where the model's own metadata says so.
fn own_input(graph: &Graph) -> anyhow::Result<Option<InputDescription>> {
    let read = |text| serde_json::from_str(text).context("the model's metadata faultlens.input");
    graph.metadata(INPUT_KEY).map(read).transpose()
}

/// The classes' names, where the model's own metadata says them.
fn own_labels(graph: &Graph) -> anyhow::Result<Labels> {
    match graph.metadata(LABELS_KEY) {
        Some(text) => Ok(Labels::parse(text, LabelFormat::Json)?),
        None => Ok(Labels::default()),
    }
}

/// YAML with lists of numbers on one line.
pub(crate) fn yaml(value: &impl Serialize) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut list: Vec<String> = Vec::new();
    let block = serde_saphyr::to_string(value)?;
    for line in block.lines().chain([""]) {
        if let Some(entry) = line.trim_start().strip_prefix("- ") {
            list.push(entry.to_owned());
            continue;
        }
        if !list.is_empty() {
            text.push_str(&format!(" [{}]", std::mem::take(&mut list).join(", ")));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }
    Ok(text.trim_end().to_owned())
}

fn read_input_file(path: &Path) -> anyhow::Result<InputFile> {
    let text = read_small(path).with_context(|| format!("in {}", path.display()))?;
    parse_input_file(&text).with_context(|| format!("in {}", path.display()))
}

fn parse_input_file(text: &str) -> anyhow::Result<InputFile> {
    serde_saphyr::from_str(text).map_err(|error| {
        let plain = error.without_snippet();
        let meant = match plain {
            serde_saphyr::Error::SerdeUnknownField { field, expected, .. } => {
                did_you_mean(field, expected.iter().copied())
            }
            serde_saphyr::Error::SerdeUnknownVariant { variant, expected, .. } => {
                did_you_mean(variant, expected.iter().copied())
            }
            _ => None,
        };
        match meant {
            Some(name) => anyhow!("{plain}; did you mean `{name}`?"),
            None => anyhow!("{plain}"),
        }
    })
}

fn read_labels(path: &Path) -> anyhow::Result<Labels> {
    let named = || format!("in {}", path.display());
    let text = read_small(path).with_context(named)?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    Labels::parse(&text, LabelFormat::of_extension(extension)).with_context(named)
}

fn read_small(path: &Path) -> anyhow::Result<String> {
    let about = fs::metadata(path).context("cannot open the file")?;
    ensure!(about.is_file(), "this is no file");
    ensure!(about.len() <= MAX_FILE_BYTES, "the file has more than {} MB", MAX_FILE_BYTES >> 20);
    fs::read_to_string(path).context("cannot read the file as text")
}

#[cfg(test)]
mod tests {
    use faultlens::engine::vision::VisionError;

    use super::*;

    #[test]
    fn what_is_shown_can_be_given_back() {
        let text = "input:\n  size: [416, 320]\n  resize: {letterbox: {align: top_left}}\n  \
                    channels: bgr\n  scale: 1\n  mean: [1.5]\noutput: {kind: logits, softmax: true}";
        let file = parse_input_file(text).unwrap();
        let shown = Description {
            input: file.input.unwrap(),
            output: file.output.unwrap(),
            labels: Labels::default(),
            reasons: Vec::new(),
        };
        let written = yaml(&shown).unwrap();
        assert!(written.contains("  size: [416, 320]\n"), "{written}");
        let again = parse_input_file(&written).unwrap();
        assert_eq!((again.input.unwrap(), again.output.unwrap()), (shown.input, shown.output));
    }

    #[test]
    fn slips_are_answered_with_the_likely_name() {
        for (text, wanted) in [
            ("input:\n  size: [4, 4]\n  scle: 1\n", "`scle`"),
            ("input:\n  size: [4, 4]\n  scle: 1\n", "line 3, column 3; did you mean `scale`?"),
            ("input:\n  size: [4, 4]\n  resize: strech\n", "did you mean `stretch`?"),
            ("inputs: {}\n", "did you mean `input`?"),
            ("input:\n  size: [4, 0]\n", "out of range"),
        ] {
            let error = parse_input_file(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn the_example_of_an_unsafe_guess_is_a_valid_file() {
        use faultlens::DType;
        use faultlens::engine::onnx::ModelBuilder;

        let mut model = ModelBuilder::new("detector");
        let dims = [1.into(), 3.into(), 416.into(), 320.into()];
        model.input("images", DType::F32, &dims);
        model.node("Relu", &["images"], &["y"]);
        model.output("y", DType::F32, &dims);
        let graph = Graph::new(&model.build()).unwrap();
        let error = guess_input(&graph, None).unwrap_err();
        let VisionError::NotSafe { example, .. } = error else { panic!("{error}") };
        let file = parse_input_file(&example).unwrap();
        ImageInput::of(&graph).unwrap().fits(&file.input.unwrap()).unwrap();
    }
}
