//! What stands beside the records of shards comes along.

use crate::merge::shards;
use crate::sample::*;
use faultlens_core::Outcome;
use faultlens_record::Record;
use faultlens_record::store::{
    ExampleRecord, PictureOf, PictureRecord, PinRecord, ShownRecord, Store, merge,
};
use std::collections::BTreeSet;
use std::fs;

fn example(store: &Store, number: u64) -> ExampleRecord {
    let picture = |kind: u8| Some(store.put_artifact(&[number as u8, kind]).unwrap());
    let (golden, observed) = (vec![("stop".to_owned(), 0.5)], vec![]);
    ExampleRecord { number, golden, observed, before: picture(0), after: picture(1) }
}

#[test]
fn the_examples_of_a_run_that_was_never_split_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[], &[], &[]]);
    // By shard: number, fault, outcome. Fault 0 has at most two examples in one shard.
    let kept: [&[(u64, u32, Outcome)]; 3] = [
        &[(40, 0, Outcome::Changed), (50, 0, Outcome::Changed), (3, 1, Outcome::Changed)],
        &[(10, 0, Outcome::Crashed), (2, 1, Outcome::Detected)],
        &[(30, 0, Outcome::Changed), (41, 0, Outcome::Changed), (9, 2, Outcome::Crashed)],
    ];
    for (dir, trials) in shards.iter().zip(kept) {
        let mut store = Store::open(dir).unwrap();
        let record = |(number, fault, outcome): &(u64, u32, Outcome)| {
            let (fault, outcome) = (*fault, outcome.clone());
            Record { target: 0, fault, outcome, ..record(*number) }
        };
        put(&mut store, &trials.iter().map(record).collect::<Vec<_>>());
        let examples: Vec<_> = trials.iter().map(|(number, ..)| example(&store, *number)).collect();
        store.put_examples(&examples).unwrap();
    }
    for order in [[0, 1, 2], [2, 0, 1]] {
        let into = dir.path().join(format!("{order:?}"));
        merge(&order.map(|at| shards[at].clone()), &into).unwrap();
        // A second time finds the examples of the first as well.
        merge(&order.map(|at| shards[at].clone()), &into).unwrap();
        let store = Store::read(&into).unwrap();
        let wanted = [3, 9, 30, 40].map(|number| example(&store, number));
        assert_eq!(store.examples().unwrap(), wanted);
        let pictures = wanted.iter().flat_map(|example| [&example.before, &example.after]);
        for picture in pictures.flatten() {
            store.artifact(picture).unwrap();
        }
    }
}

#[test]
fn only_pictures_of_kept_examples_are_copied() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[], &[]]);
    for (number, dir) in (0..).zip(&shards) {
        let mut store = Store::open(dir).unwrap();
        let (target, fault, outcome) = (0, 0, Outcome::Changed);
        put(&mut store, &[Record { target, fault, outcome, ..record(number) }]);
        let example = example(&store, number);
        store.put_examples(&[example]).unwrap();
    }
    let into = dir.path().join("all");
    merge(&shards, &into).unwrap();
    let folders = fs::read_dir(into.join("artifacts")).unwrap();
    let files = folders.map(|folder| fs::read_dir(folder.unwrap().path()).unwrap().count());
    assert_eq!(files.sum::<usize>(), 2);
}

/// A trial of target 0 on a case, and what became of it.
fn trial(number: u64, case: u32, outcome: &Outcome) -> Record {
    Record { target: 0, case, fault: 0, outcome: outcome.clone(), ..record(number) }
}

/// Keeps a picture of every trial that is worth showing.
fn hang(store: &mut Store) {
    let shown = store.showcase(&BTreeSet::from([0])).unwrap();
    let picture = |one: &ShownRecord, of: PictureOf| PictureRecord {
        target: one.target,
        case: one.case,
        path: store.put_artifact(format!("{of:?} {}", one.number).as_bytes()).unwrap(),
        of,
    };
    let pictures = shown.iter().flat_map(|one| {
        let own = [PictureOf::Before(one.fault), PictureOf::Fault(one.fault)];
        own.map(|of| picture(one, of))
    });
    let mut pictures: Vec<_> = pictures.collect();
    for row in shown.chunk_by(|a, b| a.case == b.case) {
        let both = [PictureOf::Case, PictureOf::Golden];
        pictures.extend(both.map(|of| picture(&row[0], of)));
    }
    store.put_pictures(&pictures, &shown).unwrap();
}

#[test]
fn the_gallery_of_a_run_that_was_never_split_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[], &[], &[]]);
    let (changed, same) = (Outcome::Changed, Outcome::Unchanged);
    let none = Outcome::Skipped(faultlens_core::Reason::NoRoom);
    // A case stands in one shard; the second trial of each tells more than the first.
    let outcomes: Vec<[&Outcome; 2]> = (0..12)
        .map(|case| if case % 3 == 1 { [&none, &changed] } else { [&none, &same] })
        .collect();
    let trials = |cases: &dyn Fn(u32) -> bool| {
        let cases = (0..12).zip(&outcomes).filter(|(case, _)| cases(*case));
        let both = cases.flat_map(|(case, [first, second])| {
            let number = 2 * u64::from(case);
            [trial(number, case, first), trial(number + 1, case, second)]
        });
        both.collect::<Vec<_>>()
    };
    for (part, shard) in (0..).zip(&shards) {
        let mut store = Store::open(shard).unwrap();
        put(&mut store, &trials(&|case| case % 3 == part));
        hang(&mut store);
    }
    let whole = crate::merge::shards(&dir.path().join("whole"), &[&[]]);
    let mut whole = Store::open(&whole[0]).unwrap();
    put(&mut whole, &trials(&|_| true));
    hang(&mut whole);
    let wanted: Vec<u32> = whole.shown().unwrap().iter().map(|one| one.case).collect();
    assert_eq!(wanted, [0, 1, 4, 7, 10]);
    let into = dir.path().join("all");
    merge(&shards, &into).unwrap();
    merge(&shards, &into).unwrap();
    let merged = Store::read(&into).unwrap();
    assert_eq!(merged.shown().unwrap(), whole.shown().unwrap());
    assert_eq!(merged.pictures().unwrap(), whole.pictures().unwrap());
    for picture in merged.pictures().unwrap() {
        merged.artifact(&picture.path).unwrap();
    }
}

#[test]
fn all_shards_show_the_same_faults() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[], &[]]);
    // Of twenty faults the last ten change answers in the first shard, the others in the second.
    let trials = |case: u32| {
        (0..20).map(move |fault| {
            let changed = (fault < 10) == (case == 1);
            let outcome = if changed { Outcome::Changed } else { Outcome::Unchanged };
            let number = u64::from(20 * case + fault);
            Record { fault, ..trial(number, case, &outcome) }
        })
    };
    for (case, shard) in (0..).zip(&shards) {
        let mut store = Store::open(shard).unwrap();
        put(&mut store, &trials(case).collect::<Vec<_>>());
        hang(&mut store);
    }
    let into = dir.path().join("all");
    merge(&shards, &into).unwrap();
    let merged = Store::read(&into).unwrap();
    let shown: Vec<_> = merged.shown().unwrap().iter().map(|one| (one.case, one.fault)).collect();
    let wanted = (0..2).flat_map(|case| (0..16).map(move |fault| (case, fault)));
    assert_eq!(shown, wanted.collect::<Vec<_>>());
    // Two pictures of every cell, and two of every case.
    assert_eq!(merged.pictures().unwrap().len(), 2 * 2 * 16 + 2 * 2);
}

#[test]
fn a_case_that_shards_share_shows_what_one_of_them_has_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[], &[]]);
    // The last case is split: in the second shard five others tell more than its part does.
    let (changed, same) = (Outcome::Changed, Outcome::Unchanged);
    let half = |number: u64, fault: u32, outcome| Record { fault, ..trial(number, 9, outcome) };
    let parts = [
        vec![half(90, 0, &changed), half(91, 1, &changed)],
        (0..5)
            .map(|case| trial(u64::from(case), case, &changed))
            .chain([half(92, 2, &same)])
            .collect(),
    ];
    for (part, shard) in parts.iter().zip(&shards) {
        let mut store = Store::open(shard).unwrap();
        put(&mut store, part);
        hang(&mut store);
    }
    let into = dir.path().join("all");
    merge(&shards, &into).unwrap();
    let merged = Store::read(&into).unwrap();
    let shown: Vec<u64> = merged.shown().unwrap().iter().map(|one| one.number).collect();
    assert_eq!(shown, [0, 1, 2, 3, 90, 91]);
}

#[test]
fn a_run_from_before_trials_were_chosen_is_read_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[]]);
    let database = rusqlite::Connection::open(shards[0].join("records.sqlite")).unwrap();
    database.execute_batch("DROP TABLE shown").unwrap();
    drop(database);
    assert_eq!(Store::read(&shards[0]).unwrap().shown().unwrap(), []);
    let mut store = Store::open(&shards[0]).unwrap();
    put(&mut store, &[trial(0, 0, &Outcome::Changed)]);
    hang(&mut store);
    assert_eq!(store.shown().unwrap().len(), 1);
}

fn pin(name: &str, what: &str, outcome: &str, reason: Option<&str>) -> PinRecord {
    let reason = reason.map(str::to_owned);
    PinRecord { name: name.into(), what: what.into(), outcome: outcome.into(), reason }
}

#[test]
fn a_pin_keeps_the_worst_that_a_shard_says() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path(), &[&[], &[], &[]]);
    let put = |at: usize, pins: &[PinRecord]| {
        Store::open(&shards[at]).unwrap().put_pins(pins).unwrap();
    };
    let skipped = |reason| pin("b", "x", "skipped", Some(reason));
    put(0, &[pin("a", "x", "unchanged", None), pin("a", "y", "unchanged", None), skipped("first")]);
    put(1, &[pin("a", "x", "changed", None), pin("a", "y", "detected", None), skipped("second")]);
    let twice = [pin("a", "x", "crashed", None), pin("a", "x", "unchanged", None)];
    put(2, &[&twice[..], &[pin("b", "x", "unchanged", None)]].concat());
    let into = dir.path().join("all");
    merge(&shards, &into).unwrap();
    let wanted = [
        pin("a", "x", "changed", None),
        pin("a", "y", "detected", None),
        skipped("first"),
        pin("a", "x", "unchanged", None),
    ];
    assert_eq!(Store::read(&into).unwrap().pins().unwrap(), wanted);
}
