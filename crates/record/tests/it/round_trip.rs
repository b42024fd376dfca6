//! What was written is what is read.

use crate::sample::*;
use faultlens_record::Record;
use faultlens_record::TrialId;
use faultlens_record::store::{
    Batch, ExampleRecord, Manifest, PinRecord, Session, Store, StoreError,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn everything_comes_back_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("deep/run");
    drop(written(&run, (0..3000).rev()));
    let store = Store::read(&run).unwrap();
    assert_eq!(store.manifest(), &manifest());
    assert_eq!(store.campaign_yaml().unwrap(), "name: signs\n");
    assert_eq!(all(&store), expected(0..3000));
    assert_eq!(store.cases().unwrap(), (0..CASES).map(case).collect::<Vec<_>>());
    assert_eq!(exact_goldens(&store.goldens().unwrap()), exact_goldens(&goldens()));
    assert_eq!(exact(&store.record(77).unwrap().unwrap()), exact(&record(77)));
    assert!(store.record(3000).unwrap().is_none() && store.record(u64::MAX).unwrap().is_none());
    let files: Vec<_> = fs::read_dir(&run).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files.len(), 4, "campaign, manifest, records, lock, and no more: {files:?}");
}

#[test]
fn a_trial_that_was_done_twice_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = written(dir.path(), 0..100);
    let mut other: Vec<_> = (50..150).map(record).collect();
    other.iter_mut().for_each(|record| record.cost.micros = 1);
    other.iter_mut().for_each(|record| record.extra = BTreeMap::from([("a".into(), "b".into())]));
    let mut changed = golden(0, 0);
    changed.answer = Some("another".into());
    let mut moved = case(0);
    moved.strata.insert("new".to_owned(), "x".to_owned());
    let (goldens, cases) = ([changed], [moved]);
    store.write(&Batch { records: &other, goldens: &goldens, cases: &cases }).unwrap();
    assert_eq!(all(&store)[..100], expected(0..100));
    assert_eq!(store.progress().unwrap().recorded, 150);
    assert_eq!(store.cases().unwrap()[0], case(0));
    let first = &store.goldens().unwrap()[..1];
    assert_eq!(exact_goldens(first), exact_goldens(&[golden(0, 0)]));
}

#[test]
fn other_records_can_be_looked_up_on_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let store = written(dir.path(), 0..20);
    let each = |record: Record| {
        let before = store.record(record.number.saturating_sub(1))?.unwrap();
        assert!(before.number <= record.number && store.cases()?.len() == 20);
        Ok::<_, StoreError>(())
    };
    store.for_each(each).unwrap();
    // An error of the caller ends it and comes through; the store stays usable.
    let stop = |_| Err(StoreError::NothingToMerge);
    assert!(matches!(store.for_each(stop), Err(StoreError::NothingToMerge)));
    assert_eq!(all(&store), expected(0..20));
}

#[test]
fn progress_tells_how_a_run_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = written(dir.path(), [0, 1, 2, 7, 9]);
    let progress = store.progress().unwrap();
    assert_eq!((progress.recorded, progress.complete, progress.stopped_early), (5, false, false));
    let done = store.done().unwrap();
    assert_eq!((done.count(), done.missing(11)), (5, vec![(3, 6), (8, 8), (10, 10)]));
    store.mark_complete(true).unwrap();
    assert!(store.progress().unwrap().complete && store.progress().unwrap().stopped_early);
    store.mark_complete(false).unwrap();
    let error = store.progress().unwrap_err();
    assert!(
        matches!(error, StoreError::NotComplete { recorded: 5, planned: 2_000_000, .. }),
        "{error}"
    );
    let whole = dir.path().join("whole");
    let mut store = written_as(&whole, &Manifest { planned: 5, ..manifest() }, 0..5);
    store.mark_complete(false).unwrap();
    assert!(store.progress().unwrap().complete && !store.progress().unwrap().stopped_early);
}

#[test]
fn a_trial_is_found_by_number_and_by_the_start_of_its_identity() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = written(dir.path(), 0..50);
    let twin = |number| Record { trial: TrialId([0xab; 16]), ..record(number) };
    put(&mut store, &[twin(1000), twin(1001)]);
    assert_eq!(store.find("17").unwrap().number, 17);
    let id = record(23).trial.to_string();
    assert_eq!(store.find(&id[..9]).unwrap().number, 23);
    assert_eq!(store.find(&id.to_uppercase()).unwrap().number, 23);
    let error = store.find("abab").unwrap_err().to_string();
    assert!(error.contains(&format!("1000 ({0}), 1001 ({0})", "ab".repeat(16))), "{error}");
    for text in ["60", &id[..3], "", "x", "-1"] {
        let error = store.find(text).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchTrial { .. }), "{text}: {error}");
    }
}

#[test]
fn examples_and_pins_replace_those_that_were_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = written(dir.path(), 0..10);
    let picture = store.put_artifact(b"a picture").unwrap();
    let example = |number| ExampleRecord {
        number,
        golden: vec![("stop".to_owned(), 0.1), ("yield".to_owned(), -0.0)],
        observed: vec![("yield".to_owned(), None), ("stop".to_owned(), Some(1e-300))],
        before: Some(picture.clone()),
        after: None,
    };
    let pin = |name: &str| PinRecord {
        name: name.to_owned(),
        what: "brightness on case 3".to_owned(),
        outcome: "unchanged".to_owned(),
        reason: None,
    };
    store.put_examples(&[example(9), example(1)]).unwrap();
    store.put_examples(&[example(7), example(3)]).unwrap();
    store.put_pins(&[pin("z")]).unwrap();
    store.put_pins(&[pin("b"), pin("a")]).unwrap();
    assert_eq!(store.examples().unwrap(), [example(3), example(7)]);
    assert_eq!(store.pins().unwrap(), [pin("b"), pin("a")]);
    assert_eq!(store.artifact(&picture).unwrap(), b"a picture");
    let error = store.artifact("../../secret.png").unwrap_err();
    assert!(matches!(error, StoreError::NotAnArtifact { .. }));
}

#[test]
fn what_is_no_run_is_refused_and_a_run_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (run, other) = (dir.path().join("run"), dir.path().join("other"));
    assert!(matches!(Store::open(&run), Err(StoreError::NotARun { .. })));
    assert!(matches!(Store::read(&run), Err(StoreError::NotARun { .. })));
    assert!(!run.exists(), "looking makes nothing");
    drop(written(&run, 0..10));
    assert!(matches!(Store::create(&run, &manifest(), ""), Err(StoreError::Exists { .. })));
    let store = Store::open(&run).unwrap();
    store.expect_campaign("signs", "f00df00df00d").unwrap();
    let error = store.expect_campaign("lights", "0123456789").unwrap_err().to_string();
    assert!(error.contains("\"signs f00df00d\", not \"lights 01234567\""), "{error}");
    drop(store);
    fs::remove_file(run.join("manifest.json")).unwrap();
    assert!(matches!(Store::create(&run, &manifest(), ""), Err(StoreError::NotARun { .. })));
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.tex"), "").unwrap();
    assert!(matches!(Store::create(&other, &manifest(), ""), Err(StoreError::NotEmpty { .. })));
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
}

#[test]
fn a_newer_or_damaged_database_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    drop(written(dir.path(), 0..500));
    let path = dir.path().join("records.sqlite");
    let sound = fs::read(&path).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    for store in [Store::open(dir.path()), Store::read(dir.path())] {
        assert!(matches!(store, Err(StoreError::Newer { found: 99, .. })));
    }
    for damage in [&b""[..], b"SQLite format 4", &[0x55; 9000]] {
        fs::write(&path, damage).unwrap();
        for store in [Store::open(dir.path()), Store::read(dir.path())] {
            assert!(matches!(store, Err(StoreError::Corrupt { .. })), "{store:?}");
        }
    }
    // Whatever is damaged inside: an error or other records, but nothing panics.
    for at in (100..sound.len()).step_by(997) {
        let mut damaged = sound.clone();
        damaged[at..(at + 40).min(sound.len())].fill(0xff);
        fs::write(&path, damaged).unwrap();
        if let Ok(store) = Store::read(dir.path()) {
            let _ = store.for_each(|_| Ok::<_, StoreError>(()));
            let _ = (store.done(), store.cases(), store.goldens(), store.examples());
        }
    }
}

/// The targets and faults that people see beside the records.
fn described(dir: &Path) -> Vec<String> {
    let database = rusqlite::Connection::open(dir.join("records.sqlite")).unwrap();
    let query = "SELECT name FROM (SELECT 0 AS part, target AS at, name FROM targets \
                 UNION ALL SELECT 1, fault, label FROM faults) ORDER BY part, at";
    let mut statement = database.prepare(query).unwrap();
    let names = statement.query_map((), |row| row.get(0)).unwrap();
    names.map(|name| name.unwrap()).collect()
}

#[test]
fn the_tables_say_what_the_manifest_says() {
    let dir = tempfile::tempdir().unwrap();
    let whole = ["small", "large", "brightness 3", "bit_flip 0.5"];
    // As a process leaves it that ends before the manifest is written, or soon after.
    let mut store = written(dir.path(), []);
    let pin = PinRecord {
        name: "a".to_owned(),
        what: "b".to_owned(),
        outcome: "unchanged".to_owned(),
        reason: None,
    };
    store.put_pins(&[pin]).unwrap();
    store.mark_complete(false).unwrap();
    drop(store);
    assert_eq!(described(dir.path()), whole);
    fs::remove_file(dir.path().join("manifest.json")).unwrap();
    let mut other = manifest();
    other.fingerprint = "other".to_owned();
    other.targets.remove(0);
    other.faults[0].label = "bright".to_owned();
    let store = Store::create(dir.path(), &other, "").unwrap();
    assert!(store.cases().unwrap().is_empty() && store.goldens().unwrap().is_empty());
    assert!(store.pins().unwrap().is_empty() && !store.progress().unwrap().complete);
    drop(store);
    assert_eq!(described(dir.path()), ["large", "bright", "bit_flip 0.5"]);
    Store::open(dir.path()).unwrap().renew(&manifest(), "name: new\n").unwrap();
    assert_eq!(described(dir.path()), whole);
    let store = Store::read(dir.path()).unwrap();
    assert_eq!(store.campaign_yaml().unwrap(), "name: new\n");
    assert_eq!(store.manifest().targets, manifest().targets);
}

#[test]
fn all_who_worked_on_a_run_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let by = |faultlens: &str, machine: &str, created: &str| Manifest {
        faultlens: faultlens.to_owned(),
        machine: machine.to_owned(),
        created: created.to_owned(),
        threads: 7,
        ..manifest()
    };
    drop(Store::create(dir.path(), &by("1", "a", "t1"), "").unwrap());
    for (faultlens, machine, created) in
        [("1", "a", "t2"), ("2", "a", "t3"), ("2", "b", "t4"), ("2", "b", "t5"), ("1", "a", "t6")]
    {
        let mut store = Store::open(dir.path()).unwrap();
        store.renew(&by(faultlens, machine, created), "").unwrap();
    }
    let store = Store::read(dir.path()).unwrap();
    assert_eq!(store.manifest(), &by("1", "a", "t1"), "who began it");
    let describe =
        |session: &Session| format!("{} {} {}", session.faultlens, session.machine, session.from);
    let sessions: Vec<_> = store.sessions().iter().map(describe).collect();
    assert_eq!(sessions, ["1 a t1", "2 a t3", "2 b t4", "1 a t6"]);
}

#[test]
fn words_of_a_newer_version_are_told_from_damage() {
    let dir = tempfile::tempdir().unwrap();
    for (column, word) in [("reason", "the moon is full"), ("outcome", "evaded")] {
        let run = dir.path().join(column);
        drop(written(&run, 0..100));
        let database = rusqlite::Connection::open(run.join("records.sqlite")).unwrap();
        let change = format!("UPDATE groups SET {column} = ? WHERE outcome = 'skipped'");
        assert!(database.execute(&change, [word]).unwrap() > 0);
        drop(database);
        let error = Store::read(&run).unwrap().record(0).unwrap_err();
        assert!(matches!(&error, StoreError::NewerWord { word: found, .. } if found == word));
        let error = error.to_string();
        assert!(error.starts_with("a newer version of faultlens wrote this"), "{error}");
        assert!(error.contains(word) && error.ends_with("records.sqlite"), "{error}");
    }
}
