//! `faultlens convert`: experiments of mlaas-fi as campaign files.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::exit;
use anyhow::Context;
use faultlens::spec::mlaas_fi;

use crate::args::ConvertArgs;
use crate::command::write_new;
use crate::console::Console;

/// A configuration is small; what is larger is something else.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Writes one campaign file per experiment; existing files are not overwritten.
pub(crate) fn run(args: &ConvertArgs, console: &mut Console) -> anyhow::Result<u8> {
    let providers = args.providers.as_deref().map(text).transpose()?;
    let experiments = mlaas_fi(&text(&args.experiments)?, providers.as_deref())?;
    fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot create the folder {}", args.output.display()))?;
    for experiment in experiments {
        let name: String = experiment.name.chars().map(plain).collect();
        let path = args.output.join(format!("{name}.yaml"));
        write_new(&path, &experiment.text, "choose another folder with -o")?;
        for note in &experiment.notes {
            console.note(format_args!("note: {}: {note}", experiment.name))?;
        }
        console.note(format_args!("wrote {}", path.display()))?;
    }
    Ok(exit::OK)
}

/// Names of experiments are anything, names of files are not.
fn plain(letter: char) -> char {
    if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' }
}

fn text(path: &Path) -> anyhow::Result<String> {
    let wrong = || format!("cannot read {}", path.display());
    let mut text = String::new();
    let file = File::open(path).with_context(wrong)?;
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).with_context(wrong)?;
    Ok(text)
}
