//! Bit flips inside an ONNX model, and the verdict on a requirement:
//!
//!     cargo run --release -p faultlens --example faults_in_a_model
//!
//! The campaign is written as in a campaign file, which can say everything that a campaign can do.

#![expect(clippy::print_stdout, reason = "the output is what the example shows")]

use anyhow::{Context, Result};
use faultlens::analysis::{format, summarise};
use faultlens::campaign::run::{Ending, Event, RunOptions, Sink, SinkError};
use faultlens::campaign::run_campaign;
use faultlens::spec::Campaign;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// One bit of one value flips while the model computes, as a particle strike does it.
const CAMPAIGN: &str = "
targets:
  - model: world:signs-deep        # or the path of an ONNX file
cases: {data: 'world:signs:40'}    # or a folder of images
guards: [golden_correct]           # a fault cannot break what was wrong before
faults:
  - {fault: bit_flip, in: outputs, trials: 50}
  - {fault: bit_flip, in: weights, trials: 50}
requirements:
  - {rate: changed, at_most: 0.05}
  - {rate: changed, at_most: 0.001, where: {fault: bit_flip}}
";

/// Follows the run. Trials of an event are on record already.
struct Counter(usize);

impl Sink for Counter {
    fn take(&mut self, event: &Event<'_>) -> Result<(), SinkError> {
        if let Event::Recorded(records) = event {
            self.0 += records.len();
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    // Paths in the text are relative to that of the file, had it been one. A mistake in it is an
    // error that shows the line and what was meant.
    let campaign = Campaign::parse(CAMPAIGN, Path::new("signs.yaml"))?;
    let folder = tempfile::tempdir()?;
    let run = folder.path().join("run");
    let options = RunOptions { output: Some(run.clone()), ..RunOptions::default() };
    let mut counter = Counter(0);
    // Setting the flag, from a signal handler for example, ends the run cleanly; it can be resumed.
    let interrupted = AtomicBool::new(false);
    let ending = run_campaign(campaign, &options, &mut [&mut counter], &interrupted)?;
    anyhow::ensure!(ending == Ending::Complete, "the run ended early");
    println!("{} trials", counter.0);

    // Of a 32-bit float, only the high bits of the exponent matter: they change its size by orders
    // of magnitude.
    let summary = summarise(&run, &["bit".to_owned()])?;
    for row in &summary.groupings[0].rows {
        if row.tally.changed > 0 {
            println!("bit {}: {}", row.name(), format::rate(&row.tally.rate));
        }
    }

    // A requirement is met where the whole interval lies within the limit, and not met where it
    // lies beyond; between the two, more trials would tell.
    println!();
    for check in &summary.checks.requirements {
        let rate = format::rate(&check.rate);
        println!("{}: {}, measured {rate}", check.requirement, check.verdict.text());
    }
    let verdict = summary.checks.verdict.context("the campaign requires nothing")?;
    println!("\nverdict: {}", verdict.text());
    // In continuous integration, a program would now exit with a status of its own.
    Ok(())
}
