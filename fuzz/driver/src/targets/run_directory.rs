//! Run directories: the database of records, the manifest, and the campaign file beside them.

use super::with_scratch;
use crate::{FuzzTarget, mutate};
use faultlens_record::Spending;
use faultlens_record::store::{Store, StoreError};
use std::fs;
use std::path::Path;

/// One file of a run directory, among good ones.
pub const TARGET: FuzzTarget = FuzzTarget {
    name: "run_directory",
    run,
    fixtures: &[("crates/record/tests/fixtures", "")],
    mutate: mutate::run_directory,
};

const MANIFEST: &[u8] =
    include_bytes!("../../../../crates/record/tests/fixtures/format-5/manifest.json");
const RECORDS: &[u8] =
    include_bytes!("../../../../crates/record/tests/fixtures/format-5/records.sqlite");
const CAMPAIGN: &[u8] =
    include_bytes!("../../../../crates/record/tests/fixtures/format-5/campaign.yaml");

/// Puts the bytes in place of the file that they look like, and reads everything of the run.
pub fn run(bytes: &[u8]) {
    with_scratch(|folder| {
        let mut files =
            [("manifest.json", MANIFEST), ("records.sqlite", RECORDS), ("campaign.yaml", CAMPAIGN)];
        let which = if bytes.iter().take(100).any(|&byte| byte == 0) {
            1
        } else if bytes.first() == Some(&b'{') {
            0
        } else {
            2
        };
        files[which].1 = bytes;
        if files.iter().all(|(name, content)| fs::write(folder.join(name), content).is_ok()) {
            drop(read(folder));
        }
    });
}

fn read(folder: &Path) -> Result<(), StoreError> {
    drop(Spending::read(folder));
    let store = Store::read(folder)?;
    let _ = store.campaign_yaml();
    let _ = store.progress();
    let _ = store.done();
    let _ = store.cases();
    let _ = store.goldens();
    let _ = store.examples();
    let _ = store.pictures();
    let _ = store.pins();
    let _ = store.shown();
    let _ = store.find("0");
    store.for_each(|record| {
        drop(record.fields());
        Ok::<(), StoreError>(())
    })
}
