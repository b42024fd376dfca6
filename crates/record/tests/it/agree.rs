//! Only runs that met the same models and data are merged.

use crate::sample::*;
use faultlens_record::GoldenRecord;
use faultlens_record::store::{Batch, CaseRecord, Manifest, Store, StoreError, merge};
use std::path::{Path, PathBuf};

/// Merges the runs in both orders of the first two: the odd one must be found wherever it stands.
fn refused(dir: &Path, odd: &Path, others: &[PathBuf]) -> String {
    let into = dir.join("all");
    let last = others.iter().cloned().chain([odd.to_path_buf()]).collect::<Vec<_>>();
    let first = last.iter().rev().cloned().collect::<Vec<_>>();
    let refuse = |shards: &[PathBuf]| match merge(shards, &into).unwrap_err() {
        StoreError::Differs { what, path } => {
            assert_eq!(path, odd, "{what}");
            what
        }
        other => panic!("{other}"),
    };
    let what = refuse(&last);
    assert_eq!(refuse(&first), what);
    assert_eq!(refuse(&last[1..]), what, "of two, the first is right");
    assert!(!into.exists(), "nothing is made");
    what
}

#[test]
fn runs_of_other_models_or_data_are_refused() {
    type Change = fn(&mut Manifest);
    let changes: [(&str, Change); 8] = [
        ("the seed", |manifest| manifest.seed = 1),
        ("the number of planned trials", |manifest| manifest.planned -= 1),
        ("the number of cases", |manifest| manifest.cases += 1),
        ("the classes of the data", |manifest| manifest.classes.clear()),
        ("the model of target large", |manifest| manifest.targets[1].sha256.push('0')),
        ("the input of target small", |manifest| manifest.targets[0].input = 7.into()),
        ("the output of target large", |manifest| manifest.targets[1].output = 7.into()),
        ("the classes of target small", |manifest| manifest.targets[0].classes.reverse()),
    ];
    for (what, change) in changes {
        let dir = tempfile::tempdir().unwrap();
        let others = [dir.path().join("a"), dir.path().join("b")];
        for (at, other) in (0..).zip(&others) {
            drop(written(other, [at]));
        }
        let odd = dir.path().join("odd");
        let mut manifest = manifest();
        change(&mut manifest);
        drop(written_as(&odd, &manifest, [2]));
        assert_eq!(refused(dir.path(), &odd, &others), what);
    }
}

/// A run that met one case and one golden answer, and has no trial.
fn met(dir: &Path, case: CaseRecord, golden: GoldenRecord) {
    let mut store = Store::create(dir, &manifest(), "").unwrap();
    store.write(&Batch { cases: &[case], goldens: &[golden], records: &[] }).unwrap();
}

#[test]
fn runs_that_met_other_cases_or_answers_are_refused() {
    type Change = fn(&mut CaseRecord, &mut GoldenRecord);
    let changes: [(&str, Change); 6] = [
        ("the name of case 3", |case, _| case.name.push('x')),
        ("the image of case ", |case, _| case.digest = case.digest.map(|digest| !digest)),
        ("the image of case ", |case, _| case.digest = None),
        ("the label of case ", |case, _| case.label = Some("other".to_owned())),
        ("the strata of case ", |case, _| case.strata.clear()),
        ("the undisturbed answer of target large to case ", |_, golden| golden.digest = Some(1)),
    ];
    for (what, change) in changes {
        let dir = tempfile::tempdir().unwrap();
        let others = [dir.path().join("a"), dir.path().join("b")];
        others.iter().for_each(|other| met(other, case(3), golden(1, 3)));
        let odd = dir.path().join("odd");
        let (mut other_case, mut other_golden) = (case(3), golden(1, 3));
        change(&mut other_case, &mut other_golden);
        met(&odd, other_case, other_golden);
        let told = refused(dir.path(), &odd, &others);
        let name = if what.ends_with(' ') { case(3).name } else { String::new() };
        assert_eq!(told, format!("{what}{name}"));
    }
}

#[test]
fn what_may_differ_between_machines_is_no_reason_to_refuse() {
    let dir = tempfile::tempdir().unwrap();
    let mut shards = vec![dir.path().join("a"), dir.path().join("b"), dir.path().join("c")];
    drop(written(&shards[0], [0]));
    let mut other = manifest();
    (other.machine, other.base, other.threads) = ("other".into(), "elsewhere".into(), 64);
    (other.shard, other.requirements) = (Some((2, 3)), vec!["a limit".to_owned()]);
    other.targets[0].model = "elsewhere/small.onnx".to_owned();
    other.faults[0].label = "bright".to_owned();
    drop(written_as(&shards[1], &other, [1]));
    // The words of the system for the same trouble, and a run that met other cases.
    let case = CaseRecord { error: Some("in other words".to_owned()), ..case(3) };
    met(&shards[2], case, golden(0, 7));
    assert_eq!(merge(&shards, &dir.path().join("all")).unwrap().records, 2);
    shards.reverse();
    assert_eq!(merge(&shards, &dir.path().join("reversed")).unwrap().records, 2);
}
