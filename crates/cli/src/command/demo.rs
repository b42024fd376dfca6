//! `faultlens demo`: campaigns on the embedded models on the embedded world.

use std::path::Path;

use crate::exit;
use faultlens::analysis::summarise;
use faultlens::campaign::run::RunOptions;
use faultlens::protect::{Options, protect, read};
use faultlens::record::store::Store;
use faultlens::report::plain;
use faultlens::report::prose::findings;
use faultlens::spec::Campaign;

use crate::args::DemoArgs;
use crate::command::report::{self, ReportOptions, Shown};
use crate::command::run::perform;
use crate::console::Console;

/// The campaign of the demonstration; a user's own looks the same.
const CAMPAIGN: &str = include_str!("demo.yaml");

/// The campaign on a detector, which gets a run of its own.
const SCENES: &str = include_str!("demo-scenes.yaml");

/// How many findings about the detector are shown.
const TOLD: usize = 3;

/// Runs the demonstration and reports its findings.
pub(crate) fn run(args: &DemoArgs, console: &mut Console) -> anyhow::Result<u8> {
    let scenes = args.output.join("scenes");
    let was_complete = is_complete(&args.output);
    for (text, dir) in [(CAMPAIGN, &args.output), (SCENES, &scenes)] {
        for line in text.lines() {
            console.note(format_args!("  {line}"))?;
        }
        console.note("")?;
        let campaign = Campaign::parse(text, Path::new("demo.yaml"))?;
        let options = RunOptions { output: Some(dir.clone()), ..RunOptions::default() };
        if !perform(campaign, &options, None, console)?.is_finished() {
            console.aside("interrupted; recorded trials are kept, run the same command to resume");
            return Ok(exit::INTERRUPTED);
        }
    }
    let advice = match read(&args.output) {
        // Protections were evaluated on these trials before, and trials repeat bit for bit.
        Ok(Some(advice)) if was_complete => advice,
        _ => protect(&args.output, &Options::default())?,
    };
    for finding in advice.findings.iter().take(1) {
        console.note(format_args!("protections on the same trials: {}", plain(finding)))?;
    }
    console.note("a detector in changed scenes:")?;
    let summary = summarise(&scenes, &[])?;
    for finding in findings(&summary).iter().take(TOLD) {
        console.note(format_args!("  • {}", plain(finding)))?;
    }
    report::write_page(&summary, &scenes)?;
    let page = scenes.join("report.html");
    console.note(format_args!("  report: {}\n", page.display()))?;
    let shown = if args.json { Shown::Json } else { Shown::Text };
    report::report_run(&args.output, &ReportOptions { junit: None, shown }, console)?;
    Ok(exit::OK)
}

/// Whether a run is in the folder, with nothing left to do.
fn is_complete(dir: &Path) -> bool {
    let progress = Store::read(dir).and_then(|store| store.progress());
    progress.is_ok_and(|progress| progress.complete)
}
