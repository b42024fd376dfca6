//! The description of a model in a file, and as it is shown.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use faultlens::did_you_mean;
use faultlens::targets::onnx::{labels_from, read_small};
use faultlens::targets::{Description, PartialDescription};
use faultlens::vision::{InputDescription, OutputDescription};
use serde::{Deserialize, Serialize};

use crate::console::Console;

/// The `--input` file: what it leaves out is guessed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputFile {
    input: Option<InputDescription>,
    output: Option<OutputDescription>,
    labels: Option<PathBuf>,
}

/// What the user wrote: in the `--input` file, with the labels of `--labels` first.
pub(crate) fn written(
    file: Option<&Path>,
    labels: Option<&Path>,
) -> anyhow::Result<PartialDescription> {
    let InputFile { input, output, labels: own } =
        file.map(read_input_file).transpose()?.unwrap_or_default();
    let beside =
        |path: PathBuf| labels_from(file.and_then(Path::parent).unwrap_or(Path::new("")), &path);
    let labels = labels.map(Path::to_path_buf).or(own.map(beside));
    Ok(PartialDescription { input, output, labels })
}

/// Shows the description as a file that could be given to `--input`, with the reasons for what
/// the user did not write.
pub(crate) fn show(description: &Description, console: &mut Console) -> anyhow::Result<()> {
    for line in yaml(description)?.lines() {
        console.note(line)?;
    }
    for reason in &description.reasons {
        console.note(format_args!("# {reason}"))?;
    }
    Ok(console.note("")?)
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

/// The input of a description that an error offers for correction.
pub(crate) fn example_input(text: &str) -> anyhow::Result<InputDescription> {
    parse_input_file(text)?.input.context("the example describes no input")
}

fn read_input_file(path: &Path) -> anyhow::Result<InputFile> {
    let text = read_small(path).map_err(|why| anyhow!("in {}: {why}", path.display()))?;
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

#[cfg(test)]
mod tests {
    use faultlens::engine::Graph;
    use faultlens::vision::{ImageInput, Labels, VisionError, guess_input};

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
