//! Reads the records of a run, typed, and makes its report:
//!
//!     cargo run --release -p faultlens --example records_and_report -- fog.html
//!
//! Everything comes from the run directory; nothing is run again.

#![expect(clippy::print_stdout, reason = "the output is what the example shows")]

use anyhow::Result;
use faultlens::analysis::summarise;
use faultlens::data::DataSet;
use faultlens::faults::image::{Fault, Fog, Rain, Snow};
use faultlens::record::Record;
use faultlens::record::store::{Store, StoreError, export_csv};
use faultlens::report::Terminal;
use faultlens::targets::{OnnxTarget, PartialDescription};
use faultlens::world::{SIGN_CLASSES, TEST, signs};
use faultlens::{Campaign, Outcome, Seed, report};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

fn main() -> Result<()> {
    let page = env::args_os().nth(1).map_or_else(|| "weather.html".into(), PathBuf::from);
    let folder = tempfile::tempdir()?;
    let run = folder.path().join("run");
    run_campaign(&run)?;

    // What was run is in the manifest, what happened in the records. These name targets, cases and
    // faults by their places in the campaign.
    let store = Store::read(&run)?;
    let manifest = store.manifest();
    println!("{}: {} trials, seed {}", manifest.name, manifest.planned, manifest.seed);
    let mut worst: Option<Record> = None;
    let mut confusions: BTreeMap<(Arc<str>, Arc<str>), u32> = BTreeMap::new();
    let mut golden = BTreeMap::new();
    for answer in store.goldens()? {
        golden.insert((answer.target, answer.case), answer.answer);
    }
    store.for_each(|record| {
        if record.outcome != Outcome::Changed {
            return Ok(());
        }
        if let Some(Some(before)) = golden.get(&(record.target, record.case))
            && let Some(after) = &record.answer
        {
            *confusions.entry((before.clone(), after.clone())).or_default() += 1;
        }
        // How far the right answer fell: a typed measure, `None` where it was not measured.
        if record.measures.rank > worst.as_ref().and_then(|worst| worst.measures.rank) {
            worst = Some(record);
        }
        Ok::<_, StoreError>(())
    })?;

    let mut confusions: Vec<_> = confusions.into_iter().collect();
    confusions.sort_by_key(|(_, count)| Reverse(*count));
    println!("\nthe most frequent confusions");
    for ((before, after), count) in confusions.iter().take(3) {
        println!("{count:>4}  {before} taken for {after}");
    }
    if let Some(record) = worst {
        let case = &store.cases()?[record.case as usize].name;
        let fault = &manifest.faults[record.fault as usize].label;
        let rank = record.measures.rank.unwrap_or_default();
        println!("\nunder {fault}, the best answer to {case} fell to rank {rank}");
    }

    // The same records for pandas, R or a spreadsheet.
    let mut csv = Vec::new();
    export_csv(&store, &mut csv)?;
    println!("\n{} bytes of CSV", csv.len());

    // Every report is made from the summary; the page holds all that it shows.
    let summary = summarise(&run, &[])?;
    println!("\n{}", report::terminal(&summary, Terminal { colour: false, width: 80 }).trim_end());
    fs::write(&page, report::html(&summary, &run))?;
    println!("the report is in {}", page.display());
    Ok(())
}

/// A small network that reads signs, in bad weather.
fn run_campaign(run: &Path) -> Result<()> {
    let model = Path::new("world:signs-middle");
    let cases = signs(Seed::new(1).child(TEST), 100);
    Campaign::builder("signs in bad weather")
        .target("signs", OnnxTarget::open(model, PartialDescription::default())?)
        .cases(DataSet::new(SIGN_CLASSES.map(str::to_owned).into(), cases))
        .trials(3)
        .fault("fog", Fog::severity(3)?)
        .fault("rain", Rain::severity(3)?)
        .fault("snow", Snow::severity(3)?)
        .run(run)?;
    Ok(())
}
