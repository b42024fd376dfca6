//! Whether runs are of one campaign, and met the same models and data.

use crate::store::{CaseRecord, Manifest, ManifestTarget, Store, StoreError};
use std::collections::BTreeMap;

/// Names the run that differs from most, and in what.
pub(super) fn check(runs: &[&Store]) -> Result<(), StoreError> {
    campaigns(runs)?;
    manifests(runs)?;
    let cases = cases(runs)?;
    goldens(runs, &cases)
}

/// Values that must agree, each with the run that it comes from.
type Values<'a, T> = [(&'a Store, T)];

/// The first run that differs from the majority, and one of the majority. Where there is none, the
/// first run that is named is right.
fn outlier<'a, T, K: Ord>(
    values: &Values<'a, T>,
    aspect: impl Fn(&T) -> K,
) -> Option<(&'a Store, &'a Store)> {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    for (_, what) in values {
        *counts.entry(aspect(what)).or_default() += 1;
    }
    // `max_by_key` returns the last of the most frequent ones; counted from behind it is the first.
    let (usual, most) =
        values.iter().rev().max_by_key(|(_, what)| counts.get(&aspect(what)).copied())?;
    let (odd, _) = values.iter().find(|(_, what)| aspect(what) != aspect(most))?;
    Some((odd, usual))
}

/// Fails where the runs do not agree; `what` names the value.
fn same<T, K: Ord>(
    values: &Values<'_, T>,
    aspect: impl Fn(&T) -> K,
    what: impl FnOnce() -> String,
) -> Result<(), StoreError> {
    match outlier(values, aspect) {
        None => Ok(()),
        Some((odd, _)) => Err(StoreError::Differs { what: what(), path: odd.dir.clone() }),
    }
}

fn campaigns(runs: &[&Store]) -> Result<(), StoreError> {
    let values: Vec<_> = runs.iter().map(|run| (*run, &run.manifest)).collect();
    match outlier(&values, |manifest| &manifest.fingerprint) {
        None => Ok(()),
        Some((odd, usual)) => {
            odd.expect_campaign(&usual.manifest.name, &usual.manifest.fingerprint)
        }
    }
}

/// Something that must be the same everywhere: in words, and as text to compare.
type Aspect<T> = (&'static str, fn(&T) -> String);

/// What must be the same in every manifest.
const RUN: &[Aspect<Manifest>] = &[
    ("the seed", |manifest| manifest.seed.to_string()),
    ("the number of planned trials", |manifest| manifest.planned.to_string()),
    ("the number of cases", |manifest| manifest.cases.to_string()),
    ("the classes of the data", |manifest| format!("{:?}", manifest.classes)),
    ("the pool of objects", |manifest| format!("{:?}", manifest.objects)),
];

/// What must be the same of every target.
const TARGET: &[Aspect<ManifestTarget>] = &[
    ("the model", |target| target.sha256.clone()),
    ("the input", |target| target.input.to_string()),
    ("the output", |target| target.output.to_string()),
    ("the classes", |target| format!("{:?}", target.classes)),
];

fn manifests(runs: &[&Store]) -> Result<(), StoreError> {
    let values: Vec<_> = runs.iter().map(|run| (*run, &run.manifest)).collect();
    for (what, aspect) in RUN {
        same(&values, |manifest| aspect(manifest), || (*what).to_owned())?;
    }
    let Some(first) = runs.first() else { return Ok(()) };
    for (at, target) in first.manifest.targets.iter().enumerate() {
        for (what, aspect) in TARGET {
            let aspect = |manifest: &&Manifest| manifest.targets.get(at).map(aspect);
            same(&values, aspect, || format!("{what} of target {}", target.name))?;
        }
    }
    Ok(())
}

/// The names of the cases, which then are the same everywhere.
fn cases(runs: &[&Store]) -> Result<BTreeMap<u32, String>, StoreError> {
    let mut met: BTreeMap<u32, Vec<(&Store, CaseRecord)>> = BTreeMap::new();
    for run in runs {
        for case in run.cases()? {
            met.entry(case.case).or_default().push((run, case));
        }
    }
    let mut names = BTreeMap::new();
    for (number, values) in met {
        let name = values.first().map(|(_, case)| case.name.clone()).unwrap_or_default();
        same(&values, |case| case.name.clone(), || format!("the name of case {number}"))?;
        same(&values, |case| case.digest, || format!("the image of case {name}"))?;
        same(&values, |case| case.label.clone(), || format!("the label of case {name}"))?;
        same(&values, |case| case.strata.clone(), || format!("the strata of case {name}"))?;
        names.insert(number, name);
    }
    Ok(names)
}

fn goldens(runs: &[&Store], names: &BTreeMap<u32, String>) -> Result<(), StoreError> {
    let mut met: BTreeMap<_, Vec<(&Store, Option<u64>)>> = BTreeMap::new();
    for run in runs {
        for golden in run.goldens()? {
            met.entry((golden.target, golden.case)).or_default().push((run, golden.digest));
        }
    }
    let targets = runs.first().map_or(&[][..], |run| &run.manifest.targets);
    for ((target, case), values) in met {
        let what = || {
            let target = match targets.get(target as usize) {
                Some(target) => target.name.clone(),
                None => target.to_string(),
            };
            let case = names.get(&case).cloned().unwrap_or_else(|| case.to_string());
            format!("the undisturbed answer of target {target} to case {case}")
        };
        same(&values, |digest| *digest, what)?;
    }
    Ok(())
}
