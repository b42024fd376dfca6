//! What to train on and what to measure on: files, or the embedded world.

use std::fs;
use std::path::Path;

use anyhow::{bail, ensure};
use faultlens::Seed;
use faultlens::campaign::cases::world_cases;
use faultlens::data::{DataError, DataSet, Options, Sampling};
use faultlens::train::Task;
use faultlens::world;

use crate::args::TrainArgs;
use crate::console::Console;

/// Pictures of the embedded world, where the user gives no number.
const SIGNS: usize = 7000;
const SCENES: usize = 2000;
/// Held-out pictures of the embedded world, where the user gives no number.
const HELD_OUT_SIGNS: usize = 1400;
const HELD_OUT_SCENES: usize = 300;
/// The part of a set that is held out where the user names no other.
const HELD_OUT: f64 = 0.1;

/// Two sets that share no case.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) train: DataSet,
    pub(super) test: DataSet,
    /// What the test set is, in words.
    pub(super) measured_on: String,
}

impl Sources {
    pub(super) fn open(
        args: &TrainArgs,
        data: &str,
        task: Task,
        console: &mut Console,
    ) -> anyhow::Result<Self> {
        let Self { train, mut test, measured_on } = both(args, data, task)?;
        // Classes that no answer is about need not fit.
        if task.has_classes() {
            test.classes = common(&train.classes, &test.classes)?;
        }
        let train = readable(args, train, console);
        let test = readable(args, test, console);
        let train = match args.cases {
            Some(n) => {
                let seed = Seed::new(args.seed).child("cases");
                train.subset(&train.sample(n, Sampling::Balanced, seed))
            }
            None => train,
        };
        ensure!(
            !train.is_empty() && !test.is_empty(),
            "{data} has too few cases to hold some out; name a test set with --test"
        );
        Ok(Self { train, test, measured_on })
    }
}

fn both(args: &TrainArgs, data: &str, task: Task) -> anyhow::Result<Sources> {
    if let Some(test) = args.test.as_deref().filter(|test| !is_same(data, test)) {
        let train = part(args, data, task, world::TRAIN)?;
        let test_set = part(args, test, task, world::TEST)?;
        return Ok(Sources { train, test: test_set, measured_on: test.to_owned() });
    }
    if let Some(kind) = data.strip_prefix(world::PREFIX) {
        // Pictures of the same kind; a number is that of training pictures.
        let kind = kind.split(':').next().unwrap_or_default();
        let test = format!("world:{kind}");
        let train = part(args, data, task, world::TRAIN)?;
        let test_set = part(args, &test, task, world::TEST)?;
        return Ok(Sources { train, test: test_set, measured_on: test });
    }
    if let Some((train, test)) = parts(args, data)? {
        return Ok(Sources { train, test, measured_on: format!("{data}, part {}", world::TEST) });
    }
    ensure!(
        args.test.is_none(),
        "--test is the same set as --data, so that it would measure on cases that were learned; \
         leave it out to hold a tenth of the cases out: {data}"
    );
    let whole = open(args, data, None)?;
    let (train, test) = whole.split(1.0 - HELD_OUT, Seed::new(args.seed).child("held out"));
    let measured_on = format!("{data}, {} of {} cases held out", test.len(), whole.len());
    Ok(Sources { train, test, measured_on })
}

/// Whether two arguments name the same files. Pictures of the embedded world are never the same:
/// those to measure on come from another seed.
fn is_same(data: &str, test: &str) -> bool {
    let embedded = |name: &str| name.starts_with(world::PREFIX);
    if embedded(data) || embedded(test) {
        return false;
    }
    match (fs::canonicalize(data), fs::canonicalize(test)) {
        (Ok(data), Ok(test)) => data == test,
        _ => data == test,
    }
}

/// The part of that name where the set has it, or else the whole set.
fn part(args: &TrainArgs, data: &str, task: Task, name: &str) -> anyhow::Result<DataSet> {
    if let Some(kind) = data.strip_prefix(world::PREFIX) {
        return embedded(kind, task, name);
    }
    match named(args, data, name)? {
        Some(part) => Ok(part),
        None => open(args, data, None),
    }
}

/// The parts to train and to test with, where the set has both.
fn parts(args: &TrainArgs, data: &str) -> anyhow::Result<Option<(DataSet, DataSet)>> {
    let Some(test) = named(args, data, world::TEST)? else { return Ok(None) };
    Ok(named(args, data, world::TRAIN)?.map(|train| (train, test)))
}

/// The part of that name; `None` where the set has no such part.
fn named(args: &TrainArgs, data: &str, name: &str) -> anyhow::Result<Option<DataSet>> {
    match open(args, data, Some(name)) {
        Ok(part) => Ok(Some(part)),
        // What is not supported may also be something else; then the whole set cannot be opened
        // either, and says so.
        Err(error) => match error.downcast_ref() {
            Some(DataError::Unsupported { .. }) => Ok(None),
            _ => Err(error),
        },
    }
}

fn open(args: &TrainArgs, data: &str, part: Option<&str>) -> anyhow::Result<DataSet> {
    let options = Options {
        label_column: args.label_column.clone(),
        part: part.map(str::to_owned),
        ..Options::default()
    };
    Ok(DataSet::open_with(Path::new(data), &options)?)
}

/// The classes for both sets. Files without names know classes up to their largest label only, so
/// a set to measure on may end earlier.
fn common(train: &[String], test: &[String]) -> anyhow::Result<Vec<String>> {
    if train.starts_with(test) {
        return Ok(train.to_vec());
    }
    let at = (0..train.len().max(test.len()))
        .find(|&at: &usize| train.get(at) != test.get(at))
        .unwrap_or_default();
    let name = |classes: &[String]| match classes.get(at) {
        Some(class) => format!("{class:?}"),
        None => "none".to_owned(),
    };
    bail!(
        "the classes of the test set are not those of --data: class {at} is {} there, but {} here",
        name(test),
        name(train)
    )
}

/// Leaves unreadable images out, where the user wants that.
fn readable(args: &TrainArgs, set: DataSet, console: &mut Console) -> DataSet {
    if !args.skip_unreadable {
        return set;
    }
    let (readable, unreadable) = set.readable();
    for (_, error) in &unreadable {
        console.aside(format_args!("left out: {error}"));
    }
    readable
}

/// Pictures of the embedded world.
fn embedded(asked: &str, task: Task, set: &str) -> anyhow::Result<DataSet> {
    let unsaid =
        if set == world::TEST { [HELD_OUT_SIGNS, HELD_OUT_SCENES] } else { [SIGNS, SCENES] };
    let classes: &[&str] = match task {
        Task::Segment => &world::SEGMENT_CLASSES,
        _ => &world::SCENE_CLASSES,
    };
    Ok(world_cases(asked, set, unsaid, classes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::owned;

    #[test]
    fn a_set_to_measure_on_may_lack_the_last_classes() {
        let train = owned(&["0", "1", "2"]);
        for test in [&["0", "1", "2"][..], &["0"], &[]] {
            assert_eq!(common(&train, &owned(test)).unwrap(), train);
        }
        for (test, wanted) in [
            (&["0", "2"][..], "class 1 is \"2\" there, but \"1\" here"),
            (&["0", "1", "2", "3"], "class 3 is \"3\" there, but none here"),
        ] {
            let error = common(&train, &owned(test)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn the_embedded_world_honours_numbers() {
        for (asked, set, wanted) in
            [("signs:20", world::TRAIN, 20), ("signs:15", world::TEST, 15), ("scenes:2", "test", 2)]
        {
            assert_eq!(embedded(asked, Task::Classify, set).unwrap().len(), wanted);
        }
        for (asked, wanted) in [
            ("signs:0", "from 1 to 200000"),
            ("signs:200001", "from 1 to 200000"),
            ("signs:many", "not many"),
            ("sings", "signs and scenes"),
        ] {
            let error = embedded(asked, Task::Classify, world::TRAIN).unwrap_err();
            assert!(error.to_string().contains(wanted), "{error}");
        }
    }
}
