//! Shards together are the run that was never split.

use crate::sample::*;
use faultlens_record::store::{
    Batch, Manifest, Merged, Store, StoreError, merge, merge_keeping_first,
};
use std::path::{Path, PathBuf};

/// The campaign of 200 trials that shards are of.
pub(crate) fn small() -> Manifest {
    let mut small = Manifest { planned: 200, ..manifest() };
    small.faults = vec![small.faults[0].clone(); 40];
    small
}

pub(crate) fn shards(dir: &Path, numbers: &[&[u64]]) -> Vec<PathBuf> {
    shards_of(dir, &small(), numbers)
}

fn shards_of(dir: &Path, manifest: &Manifest, numbers: &[&[u64]]) -> Vec<PathBuf> {
    let mut shards = Vec::new();
    for (at, numbers) in numbers.iter().enumerate() {
        let path = dir.join(format!("shard-{at}"));
        drop(written_as(&path, manifest, numbers.iter().copied()));
        shards.push(path);
    }
    shards
}

#[test]
fn merged_shards_are_the_run_that_was_never_split() {
    let dir = tempfile::tempdir().unwrap();
    let of = |shard| (0..200).filter(|number| number % 3 == shard).collect::<Vec<u64>>();
    let shards = shards(dir.path(), &[&of(0), &of(1), &of(2)]);
    let into = dir.path().join("all");
    let merged = merge(&shards, &into).unwrap();
    let whole = Merged { records: 200, duplicates: 0, differing: vec![], missing: vec![] };
    assert_eq!(merged, whole);
    let (store, unsplit) =
        (Store::read(&into).unwrap(), written_as(&dir.path().join("one"), &small(), 0..200));
    assert_eq!(all(&store), all(&unsplit));
    assert_eq!(store.cases().unwrap(), unsplit.cases().unwrap());
    let goldens = |store: &Store| exact_goldens(&store.goldens().unwrap());
    assert_eq!(goldens(&store), goldens(&unsplit));
    assert!(store.progress().unwrap().complete);
}

#[test]
fn overlaps_and_gaps_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[0, 1, 2, 7], &[2, 3, 7], &[7, 190]]);
    let mut second = Store::open(&shards[1]).unwrap();
    let mut other = record(5);
    put(&mut second, &[other.clone()]);
    drop(second);
    other.cost.queries += 1;
    other.cost.micros = 0;
    put(&mut Store::open(&shards[2]).unwrap(), &[other]);
    let into = dir.path().join("all");
    let error = merge(&shards, &into).unwrap_err();
    let named = |first: &Path, second: &Path| (first == shards[1], second == shards[2]);
    assert!(
        matches!(&error, StoreError::Contradiction { number: 5, first, second }
            if named(first, second) == (true, true)),
        "{error}"
    );
    let merged = merge_keeping_first(&shards, &into).unwrap();
    assert_eq!((merged.records, merged.duplicates, merged.differing), (7, 4, vec![5]));
    assert_eq!(merged.missing, [(4, 4), (6, 6), (8, 189), (191, 199)]);
    let store = Store::read(&into).unwrap();
    assert_eq!(all(&store), expected([0, 1, 2, 3, 5, 7, 190]));
    assert!(!store.progress().unwrap().complete);
}

#[test]
fn the_run_of_another_campaign_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut shards = shards(dir.path(), &[&[0], &[1]]);
    let odd = dir.path().join("odd");
    let manifest = Manifest { fingerprint: "bad".to_owned(), ..manifest() };
    drop(Store::create(&odd, &manifest, "").unwrap());
    shards.insert(0, odd);
    let into = dir.path().join("all");
    let error = merge(&shards, &into).unwrap_err();
    assert!(matches!(&error, StoreError::OtherCampaign { path, .. } if *path == shards[0]));
    assert!(!into.exists(), "nothing is made");
    drop(written(&into, [3]));
    assert!(matches!(merge(&shards[1..], &into), Err(StoreError::Exists { .. })), "no merge");
    let into = dir.path().join("none");
    assert!(matches!(merge(&[], &into), Err(StoreError::NothingToMerge)));
}

#[test]
fn many_pages_merge_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (even, odd): (Vec<u64>, Vec<u64>) = (0..20_000).partition(|number| number % 2 == 0);
    let shards = shards_of(dir.path(), &manifest(), &[&odd, &even]);
    let into = dir.path().join("all");
    // A merged run can be gone on with.
    assert_eq!(merge(&shards, &into).unwrap().records, 20_000);
    let mut store = Store::open(&into).unwrap();
    store.write(&Batch { records: &[record(20_000)], ..Batch::default() }).unwrap();
    assert_eq!(all(&store), expected(0..20_001));
}

/// All that a run holds but examples, in words.
fn held(dir: &Path) -> String {
    let store = Store::read(dir).unwrap();
    let goldens = exact_goldens(&store.goldens().unwrap());
    let (cases, pins) = (store.cases().unwrap(), store.pins().unwrap());
    format!("{:?} {:?} {goldens:?} {cases:?} {pins:?}", store.manifest(), all(&store))
}

#[test]
fn an_incomplete_merge_is_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let of = |shard| (0..200).filter(|number| number % 3 == shard).collect::<Vec<u64>>();
    let shards = shards(dir.path(), &[&of(0), &of(1), &of(2)]);
    let (into, at_once) = (dir.path().join("all"), dir.path().join("at once"));
    let whole = merge(&shards, &at_once).unwrap();
    let part = merge(&shards[..2], &into).unwrap();
    let held_part = held(&into);
    assert_eq!(merge(&shards[..2], &into).unwrap(), part);
    assert_eq!(held(&into), held_part, "the same again changes nothing");
    // Stands in for a process that ends in the middle of a merge.
    let database = || rusqlite::Connection::open(into.join("records.sqlite")).unwrap();
    let trigger = "CREATE TRIGGER ends BEFORE INSERT ON trials WHEN new.number = 101 \
                   BEGIN SELECT RAISE(FAIL, 'ends'); END";
    database().execute_batch(trigger).unwrap();
    merge(&shards, &into).unwrap_err();
    database().execute_batch("DROP TRIGGER ends").unwrap();
    assert_eq!(merge(&shards, &into).unwrap(), whole);
    assert_eq!(held(&into), held(&at_once));
    assert!(Store::read(&into).unwrap().progress().unwrap().complete);
    assert!(!into.join("records.sqlite-wal").exists(), "one file again");
    assert!(matches!(merge(&shards, &into), Err(StoreError::Exists { .. })), "it is complete");
}

#[test]
fn what_an_incomplete_merge_has_is_kept_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[0, 1], &[2], &[3, 4]]);
    let into = dir.path().join("all");
    merge(&shards[..2], &into).unwrap();
    let mut other = record(1);
    other.cost.queries += 1;
    put(&mut Store::open(&shards[1]).unwrap(), &[other]);
    assert!(matches!(merge(&shards[1..], &into), Err(StoreError::Contradiction { number: 1, .. })));
    let merged = merge_keeping_first(&shards[1..], &into).unwrap();
    assert_eq!((merged.records, merged.duplicates, merged.differing), (5, 0, vec![1]));
    assert_eq!(all(&Store::read(&into).unwrap()), expected(0..5));
    let odd = dir.path().join("odd");
    let manifest = Manifest { planned: 7, ..small() };
    drop(written_as(&odd, &manifest, [5]));
    let error = merge(std::slice::from_ref(&odd), &into).unwrap_err();
    assert!(matches!(error, StoreError::Differs { path, .. } if path == odd));
}

#[test]
fn a_merged_run_tells_all_who_worked_on_its_shards() {
    let dir = tempfile::tempdir().unwrap();
    let by = |at: &str, machine: &str| {
        let (created, machine) = (format!("2026-01-0{at}T00:00:00Z"), machine.to_owned());
        let path = dir.path().join(at);
        drop(written_as(&path, &Manifest { created, machine, ..manifest() }, [0]));
        path
    };
    let shards = [by("3", "large"), by("1", "small"), by("2", "large")];
    let into = dir.path().join("all");
    merge(&shards, &into).unwrap();
    let store = Store::read(&into).unwrap();
    let sessions = store.sessions().iter().map(|session| (&*session.machine, &session.from[..10]));
    assert_eq!(sessions.collect::<Vec<_>>(), [("small", "2026-01-01"), ("large", "2026-01-02")]);
    let Manifest { machine, created, .. } = store.manifest();
    assert_eq!((&**machine, &created[..10]), ("small", "2026-01-01"));
}
