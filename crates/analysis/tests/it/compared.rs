//! Two runs side by side.

use crate::sample::{Run, fault};
use faultlens_analysis::{Compared, ComparisonTest, RunComparison, compare};

fn compared(first: &Run, second: &Run) -> RunComparison {
    let dir = tempfile::tempdir().unwrap();
    compare(&first.write(&dir, "first"), &second.write(&dir, "second")).unwrap()
}

fn row<'a>(comparison: &'a RunComparison, what: &str) -> &'a Compared {
    comparison.rows.iter().find(|row| row.what == what).unwrap()
}

#[test]
fn only_what_both_runs_have_is_compared() {
    let (mut first, mut second) = (Run::new(&["a"], 10, ""), Run::new(&["b"], 10, ""));
    first.add((0, 0), 10, |_, repeat| repeat < 2);
    first.add((0, 1), 10, |_, _| true);
    second.manifest.faults[1] = fault("zero", "share", 1.0, 10);
    second.add((0, 0), 10, |_, repeat| repeat < 2);
    second.add((0, 1), 10, |_, _| false);
    let comparison = compared(&first, &second);
    let names: Vec<&str> = comparison.rows.iter().map(|row| row.what.as_str()).collect();
    assert_eq!(names, ["all trials", "bit_flip bit=30"]);
    for row in &comparison.rows {
        assert_eq!(
            (row.first.events, row.first.n, row.second.events, row.second.n),
            (20, 100, 20, 100)
        );
        assert_eq!((row.pairs, row.unpaired, row.p_value), (100, 0, Some(1.0)));
        assert_eq!((row.images, comparison.test), (10, ComparisonTest::ByImage));
    }
    assert_eq!((comparison.left_out, comparison.complete), (2, [true, true]));
}

#[test]
fn pairs_are_tested_by_image_even_if_some_trials_have_none() {
    let mut first = Run::new(&["a"], 10, "");
    let mut second = Run::new(&["a"], 10, "");
    // In eight images four of ten pairs change only in the first run, in one image one only in the
    // second, and one image never changes.
    first.add((0, 0), 30, |case, repeat| case < 8 && repeat < 4 || repeat >= 10 && case == 9);
    second.add((0, 0), 10, |case, repeat| case == 8 && repeat == 9);
    let comparison = compared(&first, &second);
    let all = &comparison.rows[0];
    assert_eq!((all.pairs, all.unpaired, all.images), (100, 200, 10));
    assert_eq!((all.first.events, all.first.n, all.second.events, all.second.n), (32, 100, 1, 100));
    assert!((all.difference.unwrap() + 0.31).abs() < 1e-12);
    // Of 2⁹ sets of signs, all eight one way and the small one either way are as far from 0 only
    // where it is the other way; both ways round, and two rows by Holm.
    assert!((all.p_value.unwrap() - 2.0 * 4.0 / 512.0).abs() < 1e-12, "{all:?}");
    assert!(all.low < -0.31 && -0.31 < all.high && all.high < 0.0, "{all:?}");
}

#[test]
fn other_images_of_the_same_name_are_no_pairs() {
    let mut first = Run::new(&["a"], 4, "");
    first.add((0, 0), 5, |_, _| false);
    let mut second = Run::new(&["a"], 4, "");
    second.add((0, 0), 5, |_, _| false);
    second.cases[0].digest = Some(99);
    second.cases[1].digest = None;
    let comparison = compared(&first, &second);
    assert_eq!((comparison.rows[0].pairs, comparison.rows[0].unpaired), (10, 20));
    for case in &mut second.cases {
        case.digest = Some(100 + u64::from(case.case));
    }
    let comparison = compared(&first, &second);
    let all = &comparison.rows[0];
    assert_eq!((all.pairs, all.unpaired, all.first.n, all.second.n), (0, 40, 20, 20));
}

#[test]
fn targets_have_rows_of_their_own() {
    let targets = |names: &[&str]| {
        let mut run = Run::new(names, 2, "");
        for target in 0..names.len() as u32 {
            run.add((target, 0), 10, |_, _| target == 0);
        }
        run
    };
    let comparison = compared(&targets(&["small", "large"]), &targets(&["large", "other"]));
    let names: Vec<&str> = comparison.rows.iter().map(|row| row.what.as_str()).collect();
    assert_eq!(names, ["all trials", "target large", "bit_flip bit=30"]);
    for row in &comparison.rows {
        assert_eq!((row.first.events, row.second.events, row.pairs), (0, 20, 20));
    }
    // A single target is one of several by its name.
    let comparison = compared(&targets(&["large"]), &targets(&["small", "large"]));
    assert_eq!(row(&comparison, "target large").pairs, 20);
    // Two single targets are compared whatever their names.
    let comparison = compared(&targets(&["large"]), &targets(&["other"]));
    assert_eq!((comparison.rows[0].pairs, comparison.rows.len()), (20, 2));
}

#[test]
fn a_stop_rule_weights_nothing() {
    let stop = "stop: {half_width: 0.02, at_most: 1000}";
    let (mut first, mut second) = (Run::new(&["a"], 2, stop), Run::new(&["a"], 2, ""));
    first.add((0, 0), 40, |_, _| false);
    first.add((0, 1), 400, |_, repeat| repeat % 2 == 0);
    second.add((0, 0), 500, |_, _| false);
    second.add((0, 1), 500, |_, repeat| repeat % 2 == 0);
    let comparison = compared(&first, &second);
    assert!(comparison.rows.iter().all(|row| row.p_value.is_none()));
    assert_eq!(comparison.test, ComparisonTest::FewImages);
    let all = &comparison.rows[0];
    assert_eq!((all.first.events, all.first.n, all.pairs), (40, 160, 160));
    assert_eq!(row(&comparison, "bit_flip bit=31").first.n, 800);
}

#[test]
fn each_run_has_its_own_intervals_and_says_whether_it_is_complete() {
    let mut first = Run::new(&["a"], 2, "intervals: {confidence: 0.8}");
    let mut second = Run::new(&["a"], 2, "intervals: {confidence: 0.99}");
    for run in [&mut first, &mut second] {
        run.add((0, 0), 20, |_, repeat| repeat < 5);
    }
    second.complete = false;
    let comparison = compared(&first, &second);
    let all = &comparison.rows[0];
    assert_eq!(all.first.value, all.second.value);
    assert!(all.second.low < all.first.low && all.first.high < all.second.high, "{all:?}");
    assert_eq!((comparison.left_out, comparison.complete), (0, [true, false]));
    first.manifest.shard = Some((1, 2));
    assert_eq!(compared(&first, &second).complete, [false, false]);
}

#[test]
fn runs_with_nothing_in_common_differ_by_nothing_known() {
    let (mut first, mut second) = (Run::new(&["a"], 2, ""), Run::new(&["a"], 2, ""));
    first.add((0, 0), 10, |_, _| true);
    second.add((0, 1), 10, |_, _| false);
    let comparison = compared(&first, &second);
    assert_eq!(comparison.rows.len(), 1);
    assert_eq!((comparison.rows[0].difference, comparison.rows[0].p_value), (None, None));
}

#[test]
fn rates_of_both_runs_are_corrected_for_weights() {
    let (mut first, mut second) = (Run::new(&["a"], 2, ""), Run::new(&["a"], 2, ""));
    first.add((0, 0), 10, |_, repeat| repeat < 4);
    second.add((0, 0), 10, |_, repeat| repeat < 4);
    for record in first.records.iter_mut().filter(|record| record.repeat < 5) {
        record.measures.weight = Some(0.5);
    }
    let comparison = compared(&first, &second);
    let all = &comparison.rows[0];
    // Eight of twenty, each for half a trial.
    assert_eq!((all.first.events, all.first.n, all.first.value), (8, 20, Some(0.2)));
    assert_eq!((all.second.value, all.p_value), (Some(0.4), None));
    assert!((all.difference.unwrap() - 0.2).abs() < 1e-12);
    assert!(all.low < 0.2 && 0.2 < all.high, "{all:?}");
    assert_eq!(comparison.test, ComparisonTest::FewImages);
}
