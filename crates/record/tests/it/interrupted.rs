//! Processes that are killed, that fail, and that work beside each other.

use crate::sample::*;
use faultlens_record::Record;
use faultlens_record::store::{Batch, Store, StoreError};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn a_number_that_does_not_fit_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = written(dir.path(), 0..10);
    let mut bad: Vec<_> = (10..20).map(record).collect();
    bad[9].number = u64::MAX;
    let error = store.write(&Batch { records: &bad, ..Batch::default() }).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { what: "trial", number: u64::MAX, .. }));
    bad.truncate(9);
    let site = bad.iter_mut().find_map(|record| record.site.as_mut()).unwrap();
    site.element = 1 << 60;
    let error = store.write(&Batch { records: &bad, ..Batch::default() }).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { what: "element", .. }));
    assert_eq!(all(&store), expected(0..10));
}

#[test]
fn an_error_of_the_database_undoes_the_batch_and_the_next_one_is_sound() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = written(dir.path(), 0..10);
    // Stands in for a disk that fills up in the middle of a batch.
    let other = rusqlite::Connection::open(dir.path().join("records.sqlite")).unwrap();
    let trigger = "CREATE TRIGGER full BEFORE INSERT ON trials WHEN new.number = 1500 \
                   BEGIN SELECT RAISE(FAIL, 'full'); END";
    other.execute_batch(trigger).unwrap();
    let batch: Vec<_> = (10..2000).map(record).collect();
    store.write(&Batch { records: &batch, ..Batch::default() }).unwrap_err();
    assert_eq!(all(&store), expected(0..10));
    other.execute_batch("DROP TRIGGER full").unwrap();
    put(&mut store, &batch);
    assert_eq!(all(&store), expected(0..2000));
}

#[test]
fn two_writers_are_refused_and_the_first_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = written(dir.path(), 0..10);
    let error = Store::open(dir.path()).unwrap_err().to_string();
    let pid = format!("another process works on this run (pid {})", std::process::id());
    assert!(error.starts_with(&pid), "{error}");
    drop(store);
    Store::open(dir.path()).unwrap();
}

#[test]
fn a_reader_works_beside_a_writer_and_sees_one_moment() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = written(dir.path(), 0..500);
    let reader = Store::read(dir.path()).unwrap();
    let mut seen = 0;
    let add: Vec<_> = (500..600).map(record).collect();
    let each = |_| {
        if seen == 3 {
            put(&mut writer, &add);
        }
        seen += 1;
        Ok::<_, StoreError>(())
    };
    reader.for_each(each).unwrap();
    assert_eq!(seen, 500);
    assert_eq!(all(&reader), expected(0..600));
    // The writer leaves while the reader stays, and the next reader finds all.
    drop(writer);
    assert_eq!(all(&reader), expected(0..600));
    drop(reader);
    assert_eq!(all(&Store::read(dir.path()).unwrap()), expected(0..600));
    put(&mut Store::open(dir.path()).unwrap(), &[record(600)]);
}

#[test]
fn a_reader_finds_what_rows_point_to_while_a_writer_adds_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut many = manifest();
    many.faults = vec![many.faults[0].clone(); 1500];
    let mut writer = written_as(dir.path(), &many, []);
    let reader = Store::read(dir.path()).unwrap();
    // Every record brings a name and a group of its own.
    let new = |number: u64| Record {
        answer: Some(format!("answer {number}").into()),
        fault: u32::try_from(number).unwrap(),
        ..record(number)
    };
    std::thread::scope(|scope| {
        let adding = scope.spawn(move || (0..1500).for_each(|at| put(&mut writer, &[new(at)])));
        while !adding.is_finished() {
            assert!(all(&reader).len() <= 1500);
        }
        adding.join().unwrap();
    });
    assert_eq!(all(&reader), (0..1500).map(|at| exact(&new(at))).collect::<Vec<_>>());
}

#[test]
fn reading_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    drop(written(dir.path(), 0..10));
    let listed = || {
        let files = fs::read_dir(dir.path()).unwrap();
        files.map(|file| file.unwrap().file_name()).collect::<BTreeSet<_>>()
    };
    let before = listed();
    let store = Store::read(dir.path()).unwrap();
    assert_eq!((all(&store), listed()), (expected(0..10), before.clone()));
    drop(store);
    // As a writer leaves it that could not put all into one file.
    let database = rusqlite::Connection::open(dir.path().join("records.sqlite")).unwrap();
    database.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    drop(database);
    let store = Store::read(dir.path()).unwrap();
    assert_eq!((all(&store), listed()), (expected(0..10), before));
}

/// Not a test of its own: what [`a_killed_writer_loses_nothing_that_it_committed`] kills.
#[test]
#[ignore = "runs in a process that is killed"]
fn writer_to_kill() {
    let Some(dir) = std::env::var_os("FAULTLENS_TEST_RUN").map(PathBuf::from) else { return };
    let mut store = written(&dir, []);
    for first in (0..1_000_000).step_by(50) {
        put(&mut store, &(first..first + 50).map(record).collect::<Vec<_>>());
        fs::write(dir.with_extension("committed"), (first + 50).to_string()).unwrap();
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_it_committed() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "interrupted::writer_to_kill"])
        .env("FAULTLENS_TEST_RUN", &run)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let committed = || -> usize {
        let text = fs::read_to_string(run.with_extension("committed")).unwrap_or_default();
        text.parse().unwrap_or(0)
    };
    while committed() < 1000 {
        assert!(child.try_wait().unwrap().is_none(), "the writer ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let error = Store::open(&run).unwrap_err();
    assert!(matches!(error, StoreError::Locked { pid, .. } if pid == Some(child.id())));
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = all(&Store::read(&run).unwrap());
    assert!(killed.len() >= committed() && killed.len().is_multiple_of(50), "whole batches");
    let last = killed.len() as u64;
    assert_eq!(killed, expected(0..last));
    let mut store = Store::open(&run).unwrap();
    assert_eq!(store.done().unwrap().ranges(), [(0, last - 1)]);
    put(&mut store, &(0..last + 500).map(record).collect::<Vec<_>>());
    assert_eq!(all(&store), expected(0..last + 500));
}
