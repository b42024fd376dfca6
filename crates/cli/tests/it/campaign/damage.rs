//! Run directories that are not what was written: every command says so, and the rest can be saved.

use std::fs;
use std::path::PathBuf;

use faultlens::record::store::{Batch, Store, StoreError};

use super::small::{self, TRIALS, assert_keys, assert_same, done, object, records};
use crate::folder::Folder;

/// Flips a bit of a trial's identity, wherever it stands in the database: pages that are not in use
/// any more may have it too.
fn damage_trial(folder: &Folder, number: u64) {
    let record = Store::read(&folder.path("run")).unwrap().record(number).unwrap().unwrap();
    let path = folder.path("run/records.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    for at in 0..bytes.len() - 16 {
        if bytes[at..at + 16] == record.trial.0 {
            bytes[at + 3] ^= 0x40;
        }
    }
    fs::write(&path, bytes).unwrap();
}

/// Flips one bit of a file.
fn flip(path: &PathBuf, byte: usize, bit: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[byte] ^= 1 << bit;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_sound_run_is_verified_and_its_digest_is_that_of_its_shards() {
    let folder = small::finished("verify");
    let run = object(&done(&folder, "verify run --json"));
    assert_keys(
        &run,
        &[
            "sound",
            "trials",
            "cases",
            "goldens",
            "examples",
            "pins",
            "artifacts",
            "checksums",
            "complete",
            "digest",
            "damage",
            "replayed",
            "repaired",
        ],
    );
    assert_eq!((&run["sound"], &run["trials"]), (&true.into(), &TRIALS.into()));
    assert_eq!((&run["cases"], &run["goldens"]), (&4.into(), &8.into()));
    assert_eq!(run["replayed"]["identical"], 3);
    for part in 1..=2 {
        let args = format!("run small.yaml --shard {part}/2 --threads {part} -o shards/{part}");
        done(&folder, &args);
    }
    done(&folder, "merge shards/2 shards/1 -o merged");
    assert_eq!(object(&done(&folder, "verify merged --replay 0 --json"))["digest"], run["digest"]);
    let text = done(&folder, "verify run --replay 1").stdout;
    assert!(text.starts_with("sound    176 trials, 4 cases, 8 golden answers"), "{text}");
    assert!(text.contains("replayed 1 trials, identical bit for bit"), "{text}");
    assert_eq!(folder.run("verify gone").status, 2);
}

#[test]
fn a_damaged_trial_stops_every_reader_and_is_done_again() {
    let folder = small::finished("damaged_trial");
    let wanted = records(&folder, "run");
    done(&folder, "run small.yaml -o other");
    damage_trial(&folder, 5);
    for args in [
        "report run --json",
        "check run",
        "compare other run",
        "export run -o never.csv",
        "export run -o never.parquet",
        "merge run -o never",
        "replay run 5",
        "run small.yaml",
        "protect run",
    ] {
        let run = folder.run(args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}: {}", run.stderr);
        assert!(run.stderr.contains("trial 5 is damaged"), "{args}: {}", run.stderr);
        assert!(run.stderr.contains("faultlens verify --repair"), "{args}: {}", run.stderr);
    }
    assert!(!folder.path("never.csv").exists() && !folder.path("never.parquet").exists());
    let verify = folder.run("verify run --json");
    assert_eq!((verify.status, &object(&verify)["trials"]), (1, &(TRIALS - 1).into()));
    let repaired = object(&done(&folder, "verify run --repair --json"));
    assert_eq!(repaired["repaired"]["trials"], 1);
    assert_eq!(object(&done(&folder, "report run --json"))["progress"]["complete"], false);
    done(&folder, "run small.yaml");
    assert_same(&records(&folder, "run"), &wanted, "after a repair");
    let digest =
        |run: &str| object(&done(&folder, &format!("verify {run} --json")))["digest"].clone();
    assert_eq!(digest("run"), digest("other"));
}

/// Bytes of all files of the run that decide what is read of it.
fn places(folder: &Folder) -> Vec<(PathBuf, usize)> {
    let mut places = Vec::new();
    for file in ["records.sqlite", "manifest.json", "campaign.yaml"] {
        let path = folder.path("run").join(file);
        let bytes = fs::read(&path).unwrap();
        // Unused space is left out; crates/record flips bits there, too.
        for (at, byte) in bytes.iter().enumerate() {
            if *byte != 0 {
                places.push((path.clone(), at));
            }
        }
    }
    places
}

#[test]
fn flipped_bits_change_no_record_and_no_verdict() {
    let folder = Folder::new("campaign_flips");
    let text = small::SMALL.replace("trials: 10", "trials: 2");
    folder.text("small.yaml", &format!("{text}requirements: [{{rate: changed, at_most: 0.9}}]\n"));
    done(&folder, "run small.yaml");
    let read = || {
        let check = folder.run("check run --json");
        let export = folder.run("export run -o out.csv");
        let csv = fs::read_to_string(folder.path("out.csv")).unwrap_or_default();
        (check.status == 2 || export.status == 2, check.status, check.stdout, csv)
    };
    let sound = read();
    assert!(!sound.0, "{sound:?}");
    let places = places(&folder);
    let mut detected = 0;
    for at in 0..40 {
        let (path, byte) = &places[at * 7919 % places.len()];
        flip(path, *byte, at % 8);
        let found = read();
        assert!(found.0 || found == sound, "byte {byte} of {}", path.display());
        detected += u32::from(found.0);
        flip(path, *byte, at % 8);
    }
    assert!(detected >= 20, "{detected} of 40");
    assert_eq!(read(), sound);
}

#[test]
fn shards_that_contradict_each_other_are_refused() {
    let folder = small::finished("contradiction");
    let run = Store::read(&folder.path("run")).unwrap();
    let mut other =
        Store::create(&folder.path("other"), run.manifest(), &run.campaign_yaml().unwrap())
            .unwrap();
    let goldens = run.goldens().unwrap();
    let cases = run.cases().unwrap();
    other.write(&Batch { goldens: &goldens, cases: &cases, records: &[] }).unwrap();
    let mut all = Vec::new();
    run.for_each(|record| {
        all.push(record);
        Ok::<_, StoreError>(())
    })
    .unwrap();
    all[7].cost.queries += 1;
    other.write(&Batch { records: &all, ..Batch::default() }).unwrap();
    drop((run, other));
    let merge = folder.run("merge run other -o merged");
    assert_eq!((merge.status, merge.stdout.as_str()), (2, ""));
    assert!(merge.stderr.contains("trial 7 has two different results, in run and in other"));
    let kept = object(&done(&folder, "merge run other -o merged --keep-first --json"));
    assert_eq!(kept["differing"], serde_json::json!([7]));
    assert_same(&records(&folder, "merged"), &records(&folder, "run"), "the first is kept");
}
