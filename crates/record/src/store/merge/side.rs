//! What runs keep beside their records: examples, pictures and pins.

use crate::store::{
    ExampleRecord, PictureOf, PictureRecord, PinRecord, ShownRecord, Store, StoreError,
};
use faultlens_core::OutcomeKind;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn merge(runs: &[&Store], run: &mut Store) -> Result<(), StoreError> {
    let examples = examples(runs, run)?;
    run.put_examples(&examples)?;
    let (pictures, shown) = pictures(runs, run)?;
    run.put_pictures(&pictures, &shown)?;
    let mut pins = Vec::new();
    for run in runs {
        pins.push(run.pins()?);
    }
    run.put_pins(&worst(pins))
}

/// The examples of one target and fault.
#[derive(Default)]
struct Examples<'a> {
    /// With the run that has the pictures. Changed answers go before others, as the order of
    /// outcomes has it, then low numbers before high ones.
    found: BTreeMap<(OutcomeKind, u64), (&'a Store, ExampleRecord)>,
    /// How many each of the runs has.
    counts: BTreeMap<usize, usize>,
}

/// Of each target and fault the examples that a run would keep that was never split, as many as
/// any of the runs has.
fn examples(runs: &[&Store], into: &Store) -> Result<Vec<ExampleRecord>, StoreError> {
    let mut groups: BTreeMap<(u32, u32), Examples<'_>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for example in run.examples()? {
            let Some(record) = into.record(example.number)? else { continue };
            let group = groups.entry((record.target, record.fault)).or_default();
            *group.counts.entry(at).or_default() += 1;
            let rank = (record.outcome.kind(), record.number);
            group.found.entry(rank).or_insert((run, example));
        }
    }
    let mut kept = Vec::new();
    for Examples { found, counts } in groups.into_values() {
        let most = counts.into_values().max().unwrap_or_default();
        for (run, example) in found.into_values().take(most) {
            for picture in [&example.before, &example.after].into_iter().flatten() {
                into.put_artifact(&run.artifact(picture)?)?;
            }
            kept.push(example);
        }
    }
    Ok(kept)
}

/// The pictures of the trials that a run would show that was never split: what is best of all is
/// best of its shard. It need not be so where shards share the trials of a case; what none of them
/// has chosen is left out, since it was never drawn.
fn pictures(
    runs: &[&Store],
    into: &Store,
) -> Result<(Vec<PictureRecord>, Vec<ShownRecord>), StoreError> {
    let mut chosen = BTreeSet::new();
    for run in runs {
        chosen.extend(run.shown()?);
    }
    let targets: BTreeSet<u32> = chosen.iter().map(|one| one.target).collect();
    let mut shown = into.showcase(&targets)?;
    shown.retain(|one| chosen.contains(one));
    let cases: BTreeSet<(u32, u32)> = shown.iter().map(|one| (one.target, one.case)).collect();
    let mut all = BTreeSet::new();
    for run in runs {
        let own: BTreeSet<ShownRecord> = run.shown()?.into_iter().collect();
        for picture in run.pictures()? {
            let wanted = match picture.of {
                // Runs that were made before trials were chosen all show the same ones.
                _ if !targets.contains(&picture.target) => true,
                PictureOf::Case | PictureOf::Golden => {
                    cases.contains(&(picture.target, picture.case))
                }
                PictureOf::Before(fault) | PictureOf::Fault(fault) => {
                    let trial = shown.iter().find(|one| {
                        (one.target, one.case, one.fault) == (picture.target, picture.case, fault)
                    });
                    trial.is_some_and(|trial| own.contains(trial))
                }
            };
            if wanted {
                into.put_artifact(&run.artifact(&picture.path)?)?;
                all.insert(picture);
            }
        }
    }
    Ok((all.into_iter().collect(), shown))
}

/// Every pin once, in the order in which they are found, with the worst that a run says of it.
/// A run may have several of one name; the first of one run is the first of another.
fn worst(runs: Vec<Vec<PinRecord>>) -> Vec<PinRecord> {
    let mut pins: Vec<PinRecord> = Vec::new();
    let mut places: BTreeMap<(String, String, usize), usize> = BTreeMap::new();
    for run in runs {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for pin in run {
            let name = pin.name.clone();
            let what = pin.what.clone();
            let count = counts.entry((name.clone(), what.clone())).or_default();
            let place = *places.entry((name, what, *count)).or_insert(pins.len());
            *count += 1;
            match pins.get_mut(place) {
                None => pins.push(pin),
                Some(kept) if badness(&pin) > badness(kept) => *kept = pin,
                Some(_) => {}
            }
        }
    }
    pins
}

/// How bad the outcome of a pinned trial is: a wrong answer that goes unnoticed is the worst,
/// and one that could not be replayed is no proof of a good one.
fn badness(pin: &PinRecord) -> u8 {
    match OutcomeKind::named(&pin.outcome) {
        Some(OutcomeKind::Unchanged) => 0,
        Some(OutcomeKind::Detected) => 1,
        Some(OutcomeKind::Skipped) | None => 2,
        Some(OutcomeKind::TimedOut) => 3,
        Some(OutcomeKind::Crashed) => 4,
        Some(OutcomeKind::Changed) => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts_whoever_says_it() {
        let pin = |outcome: &str| PinRecord {
            name: String::new(),
            what: String::new(),
            outcome: outcome.to_owned(),
            reason: Some(outcome.to_owned()),
        };
        let order = ["unchanged", "detected", "skipped", "timed_out", "crashed", "changed"];
        for (at, better) in order.iter().enumerate() {
            for worse in &order[at..] {
                for pins in [[better, worse], [worse, better]] {
                    let runs = pins.map(|outcome| vec![pin(outcome)]);
                    assert_eq!(worst(runs.into()), [pin(worse)]);
                }
            }
        }
    }
}
