//! Parts of a campaign, run apart and put together.

use std::collections::BTreeSet;

use super::small::{self, TRIALS, assert_keys, assert_same, done, object, records};
use crate::folder::Folder;

/// The small campaign in three parts.
fn sharded(test: &str) -> Folder {
    let folder = small::folder(test);
    for part in 1..=3 {
        let run = done(&folder, &format!("run small.yaml --shard {part}/3 --output shards/{part}"));
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains("the shard is complete: shards/"), "{}", run.stderr);
    }
    folder
}

#[test]
fn merged_shards_are_the_whole() {
    let folder = sharded("merge");
    done(&folder, "run small.yaml");
    let merged = object(&done(&folder, "merge shards/1 shards/2 shards/3 --output merged --json"));
    assert_keys(
        &merged,
        &["run", "records", "duplicates", "differing", "missing", "missing_ranges"],
    );
    assert_eq!((&merged["records"], &merged["duplicates"]), (&TRIALS.into(), &0.into()));
    assert_same(&records(&folder, "merged"), &records(&folder, "run"), "merged");
    let report = |run: &str| object(&done(&folder, &format!("report {run} --json")));
    let (whole, merged) = (report("run"), report("merged"));
    assert_eq!(whole["overall"], merged["overall"]);
    assert_eq!(
        (&merged["progress"]["complete"], &whole["groupings"]),
        (&true.into(), &merged["groupings"])
    );
    done(&folder, "replay merged 3");
}

#[test]
fn trials_that_no_shard_has_are_named() {
    let folder = sharded("merge_missing");
    let merge = folder.run("merge shards/1 shards/3 --output part --json");
    assert_eq!(merge.status, 3, "{}", merge.stderr);
    let told = object(&merge);
    let lacking: BTreeSet<u64> =
        records(&folder, "shards/2").iter().map(|row| row["number"].parse().unwrap()).collect();
    let ranges = told["missing_ranges"].as_array().unwrap();
    let named =
        ranges.iter().flat_map(|range| range[0].as_u64().unwrap()..=range[1].as_u64().unwrap());
    assert_eq!(named.collect::<BTreeSet<_>>(), lacking);
    assert_eq!(told["missing"], lacking.len());
    let (first, last) = (&ranges[0][0], &ranges[0][1]);
    let text = format!("{} trials are missing: {first}–{last}", lacking.len());
    assert!(merge.stderr.contains(&text), "{}", merge.stderr);
    let report = object(&done(&folder, "report part --json"));
    assert_eq!(report["progress"]["complete"], false);

    // What is merged goes on like any run.
    done(&folder, "run small.yaml --output part");
    assert_eq!(records(&folder, "part").len(), TRIALS);
}

#[test]
fn shards_do_not_mix() {
    let folder = sharded("merge_wrong");
    for (args, wanted) in [
        ("run small.yaml --shard 2/3 --output shards/1", "another shard of this campaign"),
        ("run small.yaml --output shards/1", "another shard of this campaign"),
        ("run small.yaml --shard 4/3 --output x", "such as 2/8"),
        ("run small.yaml --shard 1/3 --output x --junit x.xml", "merge the shards"),
        ("merge shards/1 shards/2 --output shards/3", "holds a run already"),
        ("merge shards/1 gone --output x", "this is no run directory"),
    ] {
        let run = folder.run(args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}");
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
    let one = object(&done(&folder, "run small.yaml --shard 1/3 --output shards/1 --json"));
    assert_eq!(one["progress"]["recorded"], records(&folder, "shards/1").len());
    let twice = object(&done(&folder, "merge shards/1 shards/2 shards/3 shards/1 -o all --json"));
    assert_eq!(twice["duplicates"], records(&folder, "shards/1").len());
    assert_eq!(twice["differing"], serde_json::json!([]));
}
