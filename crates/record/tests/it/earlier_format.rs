//! A run that an earlier version of faultlens wrote (format 5: measures as texts) is read, exported
//! and merged; it is not written to.

use faultlens_core::OutcomeKind;
use faultlens_record::Record;
use faultlens_record::store::{Store, StoreError, export_csv, merge, verify};
use std::fs;
use std::path::{Path, PathBuf};

/// A copy of the run, since reading leaves no file behind but opening may.
fn earlier(dir: &Path) -> PathBuf {
    copied(dir, "format-5")
}

fn copied(dir: &Path, format: &str) -> PathBuf {
    let run = dir.join("earlier");
    fs::create_dir(&run).unwrap();
    for file in ["campaign.yaml", "manifest.json", "records.sqlite"] {
        let from =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format).join(file);
        fs::copy(from, run.join(file)).unwrap();
    }
    run
}

fn records(store: &Store) -> Vec<Record> {
    let mut records = Vec::new();
    store
        .for_each(|record| {
            records.push(record);
            Ok::<_, StoreError>(())
        })
        .unwrap();
    records
}

#[test]
fn measures_outcomes_and_pins_come_in_the_words_of_today() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::read(&earlier(dir.path())).unwrap();
    let records = records(&store);
    assert_eq!(records.len(), 24);
    let noise = &records[0];
    assert_eq!(noise.outcome.kind(), OutcomeKind::Changed);
    assert_eq!(noise.measures.rank, Some(2));
    assert_eq!(noise.measures.confidence, Some(0.197_352_19));
    assert_eq!(noise.measures.visual_change, Some(0.787_817));
    let flip = &records[1];
    assert!(flip.measures.confidence.unwrap().is_nan() && flip.site.is_some());
    let attack = records[3].measures.attack.as_ref().unwrap();
    let success = attack.success.as_ref().unwrap();
    assert_eq!((attack.gradients, success.first.queries, success.distance_0), (5, 5, 5728.0));
    assert!(records.iter().all(|record| record.extra.is_empty()));
    assert_eq!(store.pins().unwrap()[0].outcome, "changed");
    assert_eq!(noise.field("confidence").as_deref(), Some("0.19735219"));
}

#[test]
fn it_is_exported_and_merged_but_not_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let run = earlier(dir.path());
    let error = Store::open(&run).unwrap_err();
    assert!(matches!(error, StoreError::NotResumable { found: 5, .. }), "{error}");
    assert!(error.to_string().contains("but not resumed"), "{error}");
    let before = Store::read(&run).unwrap();
    let into = dir.path().join("merged");
    let merged = merge(&[run], &into).unwrap();
    assert_eq!((merged.records, merged.differing.len()), (24, 0));
    let after = Store::read(&into).unwrap();
    for (one, other) in records(&before).iter().zip(records(&after)) {
        assert!(one.is_same(&other), "{one:?}\n{other:?}");
    }
    let export = |store: &Store| {
        let mut csv = Vec::new();
        export_csv(store, &mut csv).unwrap();
        String::from_utf8(csv).unwrap()
    };
    assert_eq!(export(&before), export(&after));
    assert!(export(&after).contains("visual_change"));
}

/// Formats 5 and 6 keep the objects of undisturbed cases in the same text.
#[test]
fn objects_of_undisturbed_cases_are_read_from_their_text() {
    let dir = tempfile::tempdir().unwrap();
    let run = earlier(dir.path());
    let set_scene = |text: &str| {
        let database = rusqlite::Connection::open(run.join("records.sqlite")).unwrap();
        database.execute("UPDATE goldens SET scene = ?", [text]).unwrap();
    };
    set_scene("4 0 0.1 1.5 10 20;2 1 0 0 5 5|1 0.5 3 1.5 10 10");
    let goldens = Store::read(&run).unwrap().goldens().unwrap();
    let scene = goldens[0].scene.as_ref().unwrap();
    assert_eq!((scene.known.len(), scene.found.len()), (2, 1));
    assert_eq!((scene.known[0].class, scene.known[0].height), (4, 20.0));
    assert!(scene.known[1].crowd);
    assert_eq!((scene.found[0].class, scene.found[0].score), (1, 0.5));
    // Merged into a run of today's format, they stay the same.
    let into = dir.path().join("merged");
    merge(std::slice::from_ref(&run), &into).unwrap();
    assert_eq!(Store::read(&into).unwrap().goldens().unwrap(), goldens);
    set_scene("words");
    let error = Store::read(&run).unwrap().goldens().unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    set_scene("4 0 0.1 1.5 10 20|1 0.5 3 1.5 x 10");
    assert!(Store::read(&run).unwrap().goldens().is_err());
}

#[test]
fn a_run_without_checksums_is_read_and_merged_but_not_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let run = copied(dir.path(), "format-6");
    let error = Store::open(&run).unwrap_err();
    assert!(matches!(error, StoreError::NotResumable { found: 6, .. }), "{error}");
    let store = Store::read(&run).unwrap();
    assert!(!store.has_checksums() && store.progress().unwrap().stopped_early);
    let before = records(&store);
    assert_eq!((before.len(), store.cases().unwrap().len()), (24, 20));
    let into = dir.path().join("merged");
    merge(std::slice::from_ref(&run), &into).unwrap();
    let merged = Store::read(&into).unwrap();
    assert!(merged.has_checksums());
    assert_eq!(merged.sessions().len(), 1, "a manifest that knew only who began");
    for (before, after) in before.iter().zip(records(&merged)) {
        assert!(before.is_same(&after), "{before:?}");
    }
    let verified = verify(&run).unwrap();
    assert!(verified.is_sound() && !verified.has_checksums, "{:?}", verified.damage);
    // The manifest says which format the records have, so that a flipped bit cannot make them
    // look old.
    let database = rusqlite::Connection::open(into.join("records.sqlite")).unwrap();
    database.pragma_update(None, "user_version", 6).unwrap();
    drop(database);
    assert!(matches!(Store::read(&into), Err(StoreError::Corrupt { .. })));
}
