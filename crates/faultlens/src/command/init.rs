//! `faultlens init` and `faultlens schema`: how a campaign file begins.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, bail};
use faultlens::campaign::config::{example, schema as campaign_schema};
use faultlens::engine::vision::OutputKind;
use faultlens::exit;
use faultlens::targets::{Description, OnnxTarget, Written};

use crate::args::InitArgs;
use crate::console::{Console, told};

/// Writes a campaign file to start from; one that is there stays.
pub(crate) fn run(args: &InitArgs, console: &mut Console) -> anyhow::Result<u8> {
    let path = &args.output;
    let mut file = match File::create_new(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("the file is there already; choose another with -o: {}", path.display())
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot write {}", path.display()));
        }
    };
    let mut text = example(&args.model, &args.data);
    match OnnxTarget::open(Path::new(&args.model), Written::default()) {
        Ok(target) => text = described(&text, target.description())?,
        Err(error) => {
            console.note(format_args!("note: {}: {}", args.model, told(&error.into())))?;
        }
    }
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    let path = path.display();
    console.note(format_args!("wrote {path}; look it over, then:  faultlens run {path}"))?;
    Ok(exit::OK)
}

/// The example with what is known about the model in place of its samples.
fn described(text: &str, description: &Description) -> anyhow::Result<String> {
    let values = description.output.kind == OutputKind::Values;
    let (input, output) = (flow(&description.input)?, flow(&description.output)?);
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let start = line.trim_start();
        let indent = &line[..line.len() - start.len()];
        lines.push(match start {
            _ if start.starts_with("# input: {") => format!("{indent}# input: {input}"),
            _ if start.starts_with("# output: {") => format!("{indent}# output: {output}"),
            _ if values && start.starts_with("oracle: {") => {
                "oracle: {name: same_values, tolerance: 0.1}".to_owned()
            }
            _ => line.to_owned(),
        });
    }
    Ok(lines.join("\n") + "\n")
}

/// On one line, as YAML takes it too.
fn flow(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(value)?.replace("\":", "\": ").replace(',', ", "))
}

/// Prints the JSON schema of the campaign file.
pub(crate) fn schema(console: &mut Console) -> anyhow::Result<u8> {
    console.line(serde_json::to_string_pretty(&campaign_schema())?)?;
    Ok(exit::OK)
}
