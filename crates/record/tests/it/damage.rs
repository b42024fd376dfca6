//! Run directories with a bit flipped, a page replaced, rows taken away: what is read is what was
//! written, or an error says what is wrong.

use crate::merge::small;
use crate::sample::*;
use faultlens_core::Seed;
use faultlens_record::store::{
    Batch, ExampleRecord, Manifest, PictureOf, PictureRecord, PinRecord, ShownRecord, Store,
    StoreError, export_csv, merge, repair, verify,
};
use std::fs;
use std::path::{Path, PathBuf};

/// A complete run that has something of everything.
fn complete(dir: &Path) -> Store {
    finish(written_as(dir, &small(), 0..200))
}

/// Keeps what a run keeps at its end.
fn finish(mut store: Store) -> Store {
    let picture = |number: u8| Some(store.put_artifact(&[number; 40]).unwrap());
    let example = ExampleRecord {
        number: 3,
        golden: vec![("stop".to_owned(), 0.5)],
        observed: vec![("yield".to_owned(), None)],
        before: picture(0),
        after: picture(1),
    };
    let path = store.put_artifact(b"a picture").unwrap();
    let shown = ShownRecord { target: 0, case: 1, fault: 0, number: 3 };
    let hung = PictureRecord { target: 0, case: 1, of: PictureOf::Fault(0), path };
    let pin = PinRecord {
        name: "a".to_owned(),
        what: "b".to_owned(),
        outcome: "unchanged".to_owned(),
        reason: None,
    };
    store.put_examples(&[example]).unwrap();
    store.put_pictures(&[hung], &[shown]).unwrap();
    store.put_pins(&[pin]).unwrap();
    store.mark_complete(false).unwrap();
    store
}

/// All that any command reads of a run, as text.
fn read(dir: &Path) -> Result<String, StoreError> {
    let store = Store::read(dir)?;
    let mut csv = Vec::new();
    export_csv(&store, &mut csv)?;
    let mut exact_records = Vec::new();
    store.for_each(|record| {
        exact_records.push(exact(&record));
        Ok::<_, StoreError>(())
    })?;
    let goldens = exact_goldens(&store.goldens()?);
    let side = (store.cases()?, store.examples()?, store.pictures()?, store.shown()?);
    for example in &side.1 {
        for picture in [&example.before, &example.after].into_iter().flatten() {
            store.artifact(picture)?;
        }
    }
    for picture in &side.2 {
        store.artifact(&picture.path)?;
    }
    let about = (store.campaign_yaml()?, store.manifest(), store.sessions(), store.progress()?);
    Ok(format!("{csv:?} {exact_records:?} {goldens:?} {side:?} {about:?} {:?}", store.pins()?))
}

/// All files below a directory, in order.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.file_name().unwrap() != "lock" {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// How flips turned out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Flips {
    detected: u32,
    harmless: u32,
    wrong: Vec<String>,
}

/// Flips a bit of a byte that `wanted` chooses, as often as asked, and looks what readers get.
fn flips(dir: &Path, count: u32, wanted: impl Fn(u8) -> bool) -> Flips {
    let sound = read(dir).unwrap();
    let files = files(dir);
    let mut places = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let bytes = fs::read(file).unwrap();
        places.extend((0..bytes.len()).filter(|&byte| wanted(bytes[byte])).map(|byte| (at, byte)));
    }
    let mut stream = Seed::new(5).stream();
    let mut found = Flips::default();
    for _ in 0..count {
        let &(at, byte) = stream.pick(&places).unwrap();
        let before = fs::read(&files[at]).unwrap();
        let mut after = before.clone();
        after[byte] ^= 1 << stream.below(8);
        fs::write(&files[at], after).unwrap();
        match (read(dir), verify(dir).map(|verified| verified.is_sound())) {
            (Ok(text), _) if text != sound => {
                found.wrong.push(format!("byte {byte} of {}", files[at].display()));
            }
            (Ok(_), Ok(true)) => found.harmless += 1,
            _ => found.detected += 1,
        }
        fs::write(&files[at], before).unwrap();
    }
    assert_eq!(read(dir).unwrap(), sound, "the test puts everything back");
    found
}

#[test]
fn every_flipped_bit_is_found_or_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    drop(complete(dir.path()));
    // Most of a small database is unused space, so that bytes in use are flipped apart.
    for (count, used) in [(300, false), (300, true)] {
        let found = flips(dir.path(), count, |byte| !used || byte != 0);
        assert_eq!(found.wrong, [""; 0]);
        assert_eq!(found.detected + found.harmless, count);
        assert!(!used || found.detected > 200, "{found:?}");
    }
}

/// As `every_flipped_bit_is_found_or_changes_nothing`, with more flips: prints the table.
#[test]
#[ignore = "takes a minute"]
#[expect(clippy::print_stdout, reason = "for whoever runs it")]
fn many_flipped_bits() {
    let dir = tempfile::tempdir().unwrap();
    drop(complete(dir.path()));
    for used in [false, true] {
        let found = flips(dir.path(), 5000, |byte| !used || byte != 0);
        println!("bytes in use only: {used}: {found:?}");
        assert_eq!(found.wrong, [""; 0]);
    }
}

#[test]
fn a_page_of_an_earlier_state_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    drop(written_as(dir.path(), &small(), 0..190));
    let earlier = fs::read(&path).unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    put(&mut store, &(190..200).map(record).collect::<Vec<_>>());
    store.mark_complete(false).unwrap();
    drop(store);
    let sound = read(dir.path()).unwrap();
    let now = fs::read(&path).unwrap();
    let mut replaced = 0;
    for page in 0..earlier.len() / 8192 {
        let range = page * 8192..(page + 1) * 8192;
        if earlier[range.clone()] == now[range.clone()] {
            continue;
        }
        let mut mixed = now.clone();
        mixed[range.clone()].copy_from_slice(&earlier[range]);
        fs::write(&path, mixed).unwrap();
        replaced += 1;
        assert!(read(dir.path()).map_or(true, |text| text == sound), "page {page}");
    }
    assert!(replaced >= 3, "trials, measures and what the run says of itself changed");
}

/// Changes the database of a run behind its back.
fn change(dir: &Path, sql: &str) {
    let database = rusqlite::Connection::open(dir.join("records.sqlite")).unwrap();
    database.execute_batch(sql).unwrap();
}

#[test]
fn readers_count_and_name_what_is_wrong() {
    let whole = tempfile::tempdir().unwrap();
    drop(complete(whole.path()));
    for (sql, says) in [
        ("DELETE FROM trials WHERE number > 100", "101 trials are found where 200 were recorded"),
        ("UPDATE trials SET repeat = repeat + 1 WHERE number = 17", "trial 17 is damaged"),
        ("UPDATE trials SET number = 5000 WHERE number = 199", "trial 5000 is damaged"),
        ("DELETE FROM measures", "is damaged (its checksum does not fit)"),
        ("UPDATE names SET text = text || '?'", "is damaged (its checksum does not fit)"),
        ("UPDATE cases SET width = 1 WHERE case_no = 7", "case 7 is damaged"),
        ("DELETE FROM strata WHERE case_no = 7", "case 7 is damaged"),
        ("UPDATE pins SET outcome = 'changed'", "its pins are not those that were written"),
        ("DELETE FROM pictures", "0 pictures are found where 1 were recorded"),
        ("DELETE FROM seal", "it does not say what it holds"),
        ("UPDATE seal SET json = replace(json, 'all_done', 'stopped_early')", "says about itself"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        for file in files(whole.path()) {
            let to = dir.path().join(file.strip_prefix(whole.path()).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(&file, to).unwrap();
        }
        change(dir.path(), sql);
        let error = read(dir.path()).unwrap_err().to_string();
        assert!(error.contains(says), "{sql}: {error}");
        let verified = verify(dir.path()).unwrap();
        let all: Vec<String> = verified.damage.iter().map(ToString::to_string).collect();
        assert!(all.iter().any(|damage| damage.contains(says)), "{sql}: {all:?}");
    }
}

#[test]
fn a_sound_run_is_verified_with_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    drop(complete(dir.path()));
    let verified = verify(dir.path()).unwrap();
    assert!(verified.is_sound(), "{:?}", verified.damage);
    assert_eq!((verified.trials, verified.cases, verified.goldens), (200, 20, 40));
    assert_eq!((verified.examples, verified.pins, verified.artifacts), (1, 1, 3));
    assert!(verified.has_checksums && verified.complete && verified.digest.is_some());
    assert!(matches!(verify(&dir.path().join("none")), Err(StoreError::NotARun { .. })));
    fs::remove_file(dir.path().join(files(&dir.path().join("artifacts"))[0].clone())).unwrap();
    assert_eq!(verify(dir.path()).unwrap().damage.len(), 1, "the file that is named is gone");
}

#[test]
fn the_digest_is_that_of_the_run_that_was_never_split() {
    let dir = tempfile::tempdir().unwrap();
    let digest = |run: &Path| verify(run).unwrap().digest.unwrap();
    let whole = dir.path().join("whole");
    drop(complete(&whole));
    let mut shards = Vec::new();
    for part in 0..3 {
        let shard = dir.path().join(part.to_string());
        let about = Manifest { shard: Some((part as u32 + 1, 3)), threads: 9, ..small() };
        // Another order, and other times.
        let numbers = (0..200).rev().filter(|number| number % 3 == part);
        let mut store = written_as(&shard, &about, []);
        for number in numbers {
            let mut record = record(number);
            record.cost.micros = 77;
            put(&mut store, &[record]);
        }
        store.mark_complete(false).unwrap();
        shards.push(shard);
    }
    let into = dir.path().join("merged");
    merge(&shards, &into).unwrap();
    assert_eq!(digest(&into), digest(&whole));
    assert_ne!(digest(&shards[0]), digest(&whole));
    // Another result has another digest.
    let other = dir.path().join("other");
    let mut store = written_as(&other, &small(), 0..199);
    let mut changed = record(199);
    changed.cost.queries += 1;
    put(&mut store, &[changed]);
    store.mark_complete(false).unwrap();
    drop(store);
    assert_ne!(digest(&other), digest(&whole));
    // Records beside the manifest of another run are not believed.
    fs::copy(other.join("manifest.json"), whole.join("manifest.json")).unwrap();
    read(&whole).unwrap();
    let planned = dir.path().join("planned");
    drop(written_as(&planned, &Manifest { planned: 201, ..small() }, []));
    fs::copy(planned.join("manifest.json"), whole.join("manifest.json")).unwrap();
    assert!(read(&whole).is_err());
}

#[test]
fn what_is_damaged_is_dropped_and_can_be_done_again() {
    for sql in [
        "UPDATE trials SET repeat = repeat + 1 WHERE number = 17",
        "DELETE FROM trials WHERE number > 100",
        "DELETE FROM extras",
        "UPDATE goldens SET correct = 7 WHERE case_no = 3",
        "DELETE FROM goldens WHERE case_no = 3",
        "DELETE FROM cases WHERE case_no = 3",
        "UPDATE strata SET value = 'dusk' WHERE case_no = 3",
        "UPDATE pictures SET path = 'elsewhere'",
        "UPDATE pins SET outcome = 'changed'",
        "DELETE FROM seal",
    ] {
        let dir = tempfile::tempdir().unwrap();
        drop(complete(dir.path()));
        let sound = read(dir.path()).unwrap();
        change(dir.path(), sql);
        assert!(!verify(dir.path()).unwrap().is_sound(), "{sql}");
        let repaired = repair(dir.path()).unwrap();
        assert!(repaired.incomplete, "{sql}: {repaired:?}");
        let verified = verify(dir.path()).unwrap();
        assert!(verified.is_sound(), "{sql}: {:?}", verified.damage);
        // As a campaign goes on: what is not on record is done again.
        let mut store = Store::open(dir.path()).unwrap();
        let done = store.done().unwrap();
        let missing = (0..200).filter(|number| !done.contains(*number));
        let records: Vec<_> = missing.map(record).collect();
        let cases: Vec<_> = (0..CASES).map(case).collect();
        store.write(&Batch { records: &records, goldens: &goldens(), cases: &cases }).unwrap();
        drop(finish(store));
        assert_eq!(read(dir.path()).unwrap(), sound, "{sql}");
    }
}
