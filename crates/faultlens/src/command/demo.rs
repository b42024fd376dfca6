//! `faultlens demo`: a campaign against shipped models on the embedded world.

use std::path::Path;

use faultlens::campaign::Campaign;
use faultlens::campaign::protect::{Options, protect};
use faultlens::campaign::run::RunOptions;
use faultlens::exit;
use faultlens::report::plain;

use crate::args::DemoArgs;
use crate::command::report::{self, Shown, Told};
use crate::command::run::perform;
use crate::console::Console;

/// The campaign of the demonstration; a user's own looks the same.
const CAMPAIGN: &str = include_str!("demo.yaml");

/// Runs the demonstration and tells what it found.
pub(crate) fn run(args: &DemoArgs, console: &mut Console) -> anyhow::Result<u8> {
    for line in CAMPAIGN.lines() {
        console.note(format_args!("  {line}"))?;
    }
    console.note("")?;
    let campaign = Campaign::parse(CAMPAIGN, Path::new("demo.yaml"))?;
    let options = RunOptions { output: Some(args.output.clone()), ..RunOptions::default() };
    if !perform(campaign, &options, None, console)? {
        console.note("interrupted; what was recorded is safe, the same command goes on")?;
        return Ok(exit::INTERRUPTED);
    }
    let advice = protect(&args.output, &Options::default())?;
    for finding in advice.findings.iter().take(1) {
        console.note(format_args!("protections on the same trials: {}\n", plain(finding)))?;
    }
    let shown = if args.json { Shown::Json } else { Shown::Text };
    report::tell(&args.output, &Told { junit: None, shown }, console)?;
    Ok(exit::OK)
}
