//! `faultlens init` and `faultlens schema`: how a campaign file begins.

use std::path::Path;

use crate::exit;
use anyhow::bail;
use faultlens::spec::{example, schema as campaign_schema};
use faultlens::targets::{Description, OnnxTarget, PartialDescription};
use faultlens::vision::OutputKind;

use crate::args::InitArgs;
use crate::command::run::{Source, translate};
use crate::command::write_new;
use crate::console::{Console, error_text};

/// Writes a campaign file to start from; an existing file is not overwritten.
pub(crate) fn run(args: &InitArgs, console: &mut Console) -> anyhow::Result<u8> {
    let path = &args.output;
    // A TensorFI file may be wrong, and then nothing is written.
    let text = match &args.tensorfi {
        Some(conf) => Some(translated(args, conf, console)?),
        None => None,
    };
    // Before the model is looked at, which may take a while.
    if path.exists() {
        bail!("the file exists already; choose another with -o: {}", path.display());
    }
    let text = match text {
        Some(text) => text,
        None => commented(args, console)?,
    };
    write_new(path, &text, "choose another with -o")?;
    let path = path.display();
    console.note(format_args!("wrote {path}; review it, then:  faultlens run {path}"))?;
    Ok(exit::OK)
}

/// The campaign that a TensorFI file becomes.
fn translated(args: &InitArgs, conf: &Path, console: &mut Console) -> anyhow::Result<String> {
    let model = &args.model;
    let data = &args.data;
    let path = &args.output;
    translate(&Source { conf, model, data, besides: &args.besides, path }, console)
}

/// A commented campaign that shows what else can be set.
fn commented(args: &InitArgs, console: &mut Console) -> anyhow::Result<String> {
    let text = example(&args.model, &args.data);
    match OnnxTarget::open(Path::new(&args.model), PartialDescription::default()) {
        Ok(target) => described(&text, target.description()),
        Err(error) => {
            console.note(format_args!("note: {}: {}", args.model, error_text(&error.into())))?;
            Ok(text)
        }
    }
}

/// The example with what is known about the model in place of its samples.
fn described(text: &str, description: &Description) -> anyhow::Result<String> {
    let oracle = match description.output.kind {
        OutputKind::Logits | OutputKind::Probabilities => None,
        OutputKind::Values => Some("oracle: {name: same_values, tolerance: 0.1}"),
        OutputKind::Detections => Some("oracle: {name: same_detections, iou: 0.5}"),
        OutputKind::Segments => Some("oracle: {name: same_segments, iou: 0.9}"),
        OutputKind::Picture => Some("oracle: {name: same_picture, psnr: 30}"),
        OutputKind::Text => Some("oracle: {name: same_text, edits: 0}"),
    };
    let input = flow(&description.input)?;
    let output = flow(&description.output)?;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let start = line.trim_start();
        let indent = &line[..line.len() - start.len()];
        lines.push(match start {
            _ if start.starts_with("# input: {") => format!("{indent}# input: {input}"),
            _ if start.starts_with("# output: {") => format!("{indent}# output: {output}"),
            _ if start.starts_with("oracle: {") => oracle.unwrap_or(line).to_owned(),
            _ => line.to_owned(),
        });
    }
    Ok(lines.join("\n") + "\n")
}

/// On one line, as YAML takes it too.
pub(crate) fn flow(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(value)?.replace("\":", "\": ").replace(',', ", "))
}

/// Prints the JSON schema of the campaign file.
pub(crate) fn schema(console: &mut Console) -> anyhow::Result<u8> {
    console.line(serde_json::to_string_pretty(&campaign_schema())?)?;
    Ok(exit::OK)
}
