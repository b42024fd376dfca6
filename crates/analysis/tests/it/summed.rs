//! Rates, groups and what tells them apart.

use crate::sample::{Run, golden};
use faultlens_analysis::{GroupTest, Grouping, PermutedUnit};
use std::collections::BTreeMap;

/// Events and trials of every group.
fn rows(grouping: &Grouping) -> BTreeMap<&str, (u64, u64)> {
    let row = |row: &faultlens_analysis::GroupRow| (row.tally.rate.events, row.tally.rate.n);
    grouping.rows.iter().map(|one| (one.key.as_str(), row(one))).collect()
}

#[test]
fn a_stop_rule_does_not_weight_faults_by_their_outcomes() {
    let stop = "stop: {half_width: 0.02, at_most: 1000}
requirements:
  - {rate: changed, at_most: 0.9}
  - {rate: changed, at_most: 0.9, where: {target: small}}
  - {rate: changed, at_most: 0.9, where: {point: bit_flip bit=31}}
  - {rate: changed, at_most: 0.9, where: {severity: 5}}";
    let mut run = Run::new(&["small"], 10, stop);
    // One in a hundred is known after 400 trials, one in two after 9,800.
    run.add((0, 0), 40, |case, repeat| repeat == 0 && case < 4);
    run.add((0, 1), 980, |case, repeat| (case + repeat) % 2 == 0);
    run.add((0, 2), 1, |_, _| false);
    let summary = run.summarised(&["point", "fault"]).unwrap();
    // Half of 400, 4 of 400, and none of the ten that were never to be repeated.
    assert_eq!((summary.overall.rate.events, summary.overall.rate.n), (204, 810));
    assert_eq!(summary.progress.recorded, 10_210);
    let point = rows(&summary.groupings[0]);
    assert_eq!(point["bit_flip bit=30"], (4, 400));
    assert_eq!(point["bit_flip bit=31"], (4900, 9800));
    assert_eq!(point["brightness severity=5"], (0, 10));
    assert_eq!(rows(&summary.groupings[1])["bit_flip"], (204, 800));
    let curve: Vec<u64> = summary.curves[0].points.iter().map(|(_, rate)| rate.n).collect();
    assert_eq!(curve, [400, 9800]);
    let required: Vec<u64> = summary.checks.requirements.iter().map(|one| one.rate.n).collect();
    assert_eq!(required, [810, 810, 9800, 10]);
    assert!(summary.method.sequential);
    let test = GroupTest::WithinImages { images: 10 };
    assert!(summary.groupings.iter().all(|grouping| grouping.test == Some(test)));
    assert_eq!(summary.intervals.level.confidence(), 0.95);
}

#[test]
fn every_rate_over_cells_counts_what_its_own_cells_have() {
    let mut run = Run::new(&["small", "large"], 2, "stop: {half_width: 0.1, at_most: 1000}");
    for (cell, repeats) in [((0, 0), 40), ((0, 1), 80), ((1, 0), 20), ((1, 1), 60)] {
        run.add(cell, repeats, |_, repeat| repeat % 4 == 0);
    }
    let summary = run.summarised(&["point", "target", "label"]).unwrap();
    assert_eq!(summary.overall.rate.n, 4 * 2 * 20);
    let [point, target, label] = [0, 1, 2].map(|at| rows(&summary.groupings[at]));
    assert_eq!([point["bit_flip bit=30"].1, point["bit_flip bit=31"].1], [2 * 2 * 20, 2 * 2 * 60]);
    assert_eq!([target["small"].1, target["large"].1], [2 * 2 * 40, 2 * 2 * 20]);
    let targets: Vec<u64> = summary.targets.iter().map(|one| one.tally.rate.n).collect();
    assert_eq!(targets, [160, 80]);
    assert_eq!(label["stop"].1, 160);
}

#[test]
fn without_a_stop_rule_every_trial_counts() {
    let mut run = Run::new(&["small"], 2, "intervals: {confidence: 0.9}");
    run.add((0, 0), 40, |_, _| false);
    run.add((0, 1), 80, |_, _| true);
    let summary = run.summarised(&[]).unwrap();
    assert_eq!((summary.overall.rate.events, summary.overall.rate.n), (160, 240));
    assert_eq!(summary.intervals.level.confidence(), 0.9);
    assert!(summary.method.cases == 2 && !summary.method.sequential);
    assert_eq!(summary.groupings[0].test, Some(GroupTest::WithinImages { images: 2 }));
}

fn permutation(unit: PermutedUnit, units: u64) -> GroupTest {
    GroupTest::Permutation { unit, units, permutations: 2000 }
}

/// Runs whose first half of cases has another label, light and rate than the second.
fn halves(cases: u32, one_in: impl Fn(u32) -> u32) -> Run {
    let mut run = Run::new(&["small"], cases, "");
    for case in &mut run.cases {
        let first = case.case < cases / 2;
        case.label = Some(if first { "stop" } else { "yield" }.to_owned());
        let light = if first { "day" } else { "night" };
        case.strata = BTreeMap::from([("light".to_owned(), light.to_owned())]);
    }
    run.add((0, 0), 600, |case, repeat| repeat % one_in(case) == 0);
    run
}

#[test]
fn many_trials_of_few_cases_tell_little_about_their_label() {
    // Trials would tell these apart: 500 of 1,200 against 350 of 1,200.
    let run = halves(4, |case| [2, 3, 3, 4][case as usize]);
    let summary = run.summarised(&["label", "light", "case"]).unwrap();
    for grouping in &summary.groupings {
        assert_eq!(grouping.test, Some(permutation(PermutedUnit::Case, 4)));
        // Of six ways to deal two and two, at least two are as far apart; then two comparisons.
        assert!(grouping.rows.iter().all(|row| row.p_value.unwrap() > 0.5), "{grouping:?}");
    }
    assert_eq!(summary, run.summarised(&["label", "light", "case"]).unwrap());
}

#[test]
fn undisturbed_answers_belong_to_targets_and_cases() {
    let mut run = Run::new(&["small", "large"], 3, "");
    for (target, answers) in [(0, ["stop", "stop", "yield"]), (1, ["stop", "yield", "yield"])] {
        run.add((target, 0), 50, |case, repeat| repeat % (2 + target + case) == 0);
        run.goldens.extend((0..).zip(answers).map(|(case, answer)| golden(target, case, answer)));
    }
    let grouping = &run.summarised(&["golden"]).unwrap().groupings[0];
    assert_eq!(rows(grouping)["stop"].1, 150);
    assert_eq!(grouping.test, Some(permutation(PermutedUnit::CleanPrediction, 6)));
}

#[test]
fn many_cases_tell_much() {
    let run = halves(40, |case| if case < 20 { 2 + case % 2 } else { 5 + case % 3 });
    let summary = run.summarised(&["label", "light"]).unwrap();
    for row in summary.groupings.iter().flat_map(|grouping| &grouping.rows) {
        assert!(row.p_value.unwrap() < 0.002, "{row:?}");
    }
}

#[test]
fn what_plug_ins_recorded_can_be_grouped_by() {
    let mut run = Run::new(&["small"], 2, "");
    run.add((0, 0), 3, |_, repeat| repeat == 0);
    for record in &mut run.records[..4] {
        record.extra.insert("region".to_owned(), format!("r{}", record.case));
    }
    let summary = run.summarised(&["region"]).unwrap();
    assert_eq!(rows(&summary.groupings[0]), BTreeMap::from([("r0", (1, 3)), ("r1", (1, 1))]));
    let error = run.summarised(&["regin"]).unwrap_err().to_string();
    assert_eq!(error, "trials have no attribute \"regin\"; did you mean \"region\"?");
}
