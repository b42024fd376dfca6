//! What `faultlens run` is asked to run: a campaign, a sweep, or a TensorFI file.

use super::tensorfi::{Source, translate};
use crate::args::RunArgs;
use crate::console::Console;
use anyhow::Context;
use faultlens::spec::{Campaign, file};
use faultlens::sweep::Sweep;
use std::path::Path;

/// What a file asks for.
pub(super) enum Wanted {
    Campaign(Box<Campaign>),
    Sweep(Box<Sweep>),
}

/// The campaign or sweep of a file, or the campaign that a TensorFI file becomes.
pub(super) fn wanted(args: &RunArgs, console: &mut Console) -> anyhow::Result<Wanted> {
    let (Some(conf), Some(model), Some(data)) = (&args.tensorfi, &args.model, &args.cases) else {
        let path = args.campaign.as_deref().context("no campaign file is named")?;
        let text = file::text(path)?;
        if Sweep::is_sweep(&text) {
            return Ok(Wanted::Sweep(Box::new(Sweep::parse(&text, path)?)));
        }
        return Ok(Wanted::Campaign(Box::new(Campaign::parse(&text, path)?)));
    };
    // Paths are the user's, so the campaign stands where the user does.
    let name = conf.file_name().context("--tensorfi takes a file")?;
    let source = Source { conf, model, data, besides: &args.besides, path: Path::new(name) };
    let text = translate(&source, console)?;
    Ok(Wanted::Campaign(Box::new(Campaign::parse(&text, source.path)?)))
}
