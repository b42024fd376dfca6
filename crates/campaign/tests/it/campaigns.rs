//! Campaigns run in a test's own folder.

use faultlens_campaign::OpenCampaign;
use faultlens_campaign::run::{Ending, RunOptions};
use faultlens_record::Record;
use faultlens_record::store::{Store, StoreError};
use faultlens_spec::Campaign;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A campaign file that stands in a folder.
pub(crate) fn parse(dir: &Path, text: &str) -> Campaign {
    Campaign::parse(text, &dir.join("campaign.yaml")).unwrap()
}

/// Runs a campaign to its end; gives its records.
pub(crate) fn run(dir: &Path, name: &str, text: &str, threads: usize) -> Vec<Record> {
    let output = dir.join(name);
    let options = RunOptions {
        output: Some(output.clone()),
        threads: Some(threads),
        ..RunOptions::default()
    };
    let ending = faultlens_campaign::run_campaign(
        parse(dir, text),
        &options,
        &mut [],
        &AtomicBool::new(false),
    )
    .unwrap();
    assert_eq!(ending, Ending::Complete);
    records(&output)
}

/// The records of a run directory.
pub(crate) fn records(run: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    let store = Store::read(run).unwrap();
    store
        .for_each::<StoreError>(|record| {
            records.push(record);
            Ok(())
        })
        .unwrap();
    records
}

/// Why a campaign cannot be set up.
pub(crate) fn refused(dir: &Path, text: &str) -> String {
    OpenCampaign::open(parse(dir, text)).err().unwrap().to_string()
}
