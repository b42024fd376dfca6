//! Faults inside models: layers, bits, weights and searches, counted by hand.

use crate::sample::Run;
use faultlens_analysis::{Finding, GroupTest, PermutedUnit, Summary, Verdict};
use faultlens_core::Outcome;
use faultlens_record::Site;
use faultlens_record::store::FaultOn;
use faultlens_record::{BoundarySearch, ModelValue, NamedValue};
use faultlens_stats::{Level, wilson};
use std::sync::Arc;

/// Operators of a model: name, kind and layer, in the order of execution.
const OPERATORS: [(&str, &str, u32); 5] = [
    ("conv1", "Conv", 1),
    ("relu1", "Relu", 1),
    ("conv2", "Conv", 2),
    ("relu2", "Relu", 2),
    ("fc", "Gemm", 3),
];

fn site(operator: usize, bit: Option<u32>) -> Option<Site> {
    let (name, kind, layer) = OPERATORS[operator];
    let layer_name = OPERATORS.iter().find(|other| other.2 == layer).unwrap().0;
    let place = ModelValue {
        value: format!("{name}_out"),
        operator: name.to_owned(),
        kind: kind.to_owned(),
        position: operator as u32,
        layer,
        layer_name: layer_name.to_owned(),
    };
    Some(Site { place: Arc::new(place), element: 0, bit, before: 0.0, after: 1.0 })
}

/// Four cases of ten flips of bit 30 and of bit 3 in each operator; `deviates` takes operator,
/// bit and which of the ten.
fn flips(more: &str, deviates: impl Fn(usize, u32, u32) -> bool) -> Run {
    let mut run = Run::new(&["small"], 4, more);
    run.manifest.faults.iter_mut().for_each(|fault| fault.on = FaultOn::Model);
    for operator in 0..OPERATORS.len() {
        for bit in [30, 3] {
            let from = run.records.len();
            run.add((0, 0), 10, |_, repeat| deviates(operator, bit, repeat));
            for record in &mut run.records[from..] {
                record.site = site(operator, Some(bit));
            }
        }
    }
    run
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Bit 30: all ten in conv1, five in relu1, two in conv2, none after that.
fn usual(operator: usize, bit: u32, repeat: u32) -> bool {
    bit == 30 && repeat < [10, 5, 2, 0, 0][operator]
}

#[test]
fn layers_have_names_kinds_and_operators() {
    let summary = flips("", usual).summarised(&[]).unwrap();
    let grouping = summary.groupings.iter().find(|one| one.attribute == "layer").unwrap();
    assert!(grouping.ordered && grouping.test.is_none());
    let first = &grouping.rows[0];
    assert_eq!((first.key.as_str(), first.name()), ("1", "1 conv1"));
    assert_eq!(first.about.as_deref(), Some("Conv, Relu"));
    assert_eq!((first.tally.rate.events, first.tally.rate.n), (60, 160));
    let parts: Vec<_> = first
        .parts
        .iter()
        .map(|part| (part.key.as_str(), part.tally.rate.events, part.tally.rate.n))
        .collect();
    assert_eq!(parts, [("conv1", 40, 80), ("relu1", 20, 80)]);
    // A layer of one operator has nothing within it.
    assert_eq!((grouping.rows[2].name(), grouping.rows[2].parts.len()), ("3 fc", 0));
    let positions = flips("", usual).summarised(&["position"]).unwrap();
    let keys: Vec<&str> = positions.groupings[0].rows.iter().map(|row| &*row.key).collect();
    assert_eq!(keys, ["0", "1", "2", "3", "4"]);
}

#[test]
fn a_heat_map_has_a_cell_for_each_layer_and_bit() {
    let mut run = flips("", usual);
    // A trial of several elements names only one of its bits.
    run.records[0].measures.hits = Some(2);
    let summary = run.summarised(&[]).unwrap();
    let [map] = &summary.model.heat_maps[..] else { panic!("{:?}", summary.model.heat_maps) };
    assert_eq!((map.target.as_str(), &map.bits[..]), ("small", &[3, 30][..]));
    let cells: Vec<Vec<(u64, u64)>> = map
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| (cell.events, cell.n)).collect())
        .collect();
    assert_eq!(cells, [[(0, 80), (59, 79)], [(0, 80), (8, 80)], [(0, 40), (0, 40)]]);
    // One layer alone is the grouping by bit.
    let mut one = Run::new(&["small"], 2, "");
    one.add((0, 0), 2, |_, _| true);
    one.records.iter_mut().for_each(|record| record.site = site(0, Some(30)));
    assert!(one.summarised(&[]).unwrap().model.heat_maps.is_empty());
}

#[test]
fn parts_are_ranked_by_what_protecting_them_catches() {
    let summary = flips("", usual).summarised(&[]).unwrap();
    let [layers, operators] = &summary.model.rankings[..] else {
        panic!("{:?}", summary.model.rankings)
    };
    assert_eq!((layers.attribute.as_str(), layers.of), ("layer", 3));
    let rows: Vec<_> = layers
        .rows
        .iter()
        .map(|row| (row.name.as_str(), row.share.events, row.share.n, row.together.events))
        .collect();
    assert_eq!(rows, [("1 conv1", 60, 68, 60), ("2 conv2", 8, 68, 68)]);
    let wanted = wilson(60, 68, Level::default()).unwrap();
    let share = layers.rows[0].share;
    assert!(near(share.low, wanted.low) && near(share.high, wanted.high), "{share:?}");
    let names: Vec<&str> = operators.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!((names, operators.of), (vec!["conv1", "relu1", "conv2"], 5));
    let first = Finding::ProtectFirst { ranking: layers, enough: 1, several_targets: false };
    assert!(summary.findings().contains(&first), "{summary:?}");
}

#[test]
fn a_trial_of_several_places_belongs_to_none() {
    let mut run = flips("", usual);
    let fault = &mut run.manifest.faults[0];
    fault.settings.insert("mode".to_owned(), "each_layer".into());
    let summary = run.summarised(&[]).unwrap();
    assert!(summary.model.rankings.is_empty() && summary.model.heat_maps.is_empty());
    assert!(!summary.groupings.iter().any(|one| one.attribute == "layer"));
    assert_eq!(summary.overall.rate.n, 400);
    // Settings are there to group by.
    let by = run.summarised(&["mode"]).unwrap();
    assert_eq!(
        (by.groupings[0].rows[0].key.as_str(), by.groupings[0].rows.len()),
        ("each_layer", 1)
    );
}

/// Three of ten faults change every answer: as many trials as there are, they are ten faults.
#[test]
fn of_permanent_faults_the_faults_are_the_sample() {
    let mut run = Run::new(&["a", "b"], 20, "");
    for target in 0..2 {
        run.add((target, 0), 10, |_, repeat| repeat < 3 + 4 * target);
    }
    let duration = || ("duration".to_owned(), "permanent".into());
    let stays = |run: &mut Run| run.manifest.faults[0].settings.extend([duration()]);
    let plain = run.summarised(&["target"]).unwrap();
    stays(&mut run);
    let summary = run.summarised(&["target", "label"]).unwrap();
    let (rate, wanted) = (summary.targets[0].tally.rate, wilson(3, 10, Level::default()).unwrap());
    assert_eq!((rate.events, rate.n), (60, 200));
    let [low, high] = rate.these_images.unwrap();
    assert!(near(low, wanted.low) && near(high, wanted.high), "{rate:?}");
    // That the images are a sample, too, makes nothing surer.
    assert!(rate.low <= low && rate.high >= high, "{rate:?}");
    assert!(summary.method.permanent);
    // Ten faults against ten: far from sure, where 200 trials against 200 seem so.
    let p_value = |summary: &Summary| summary.groupings[0].rows[0].p_value.unwrap();
    assert!(p_value(&plain) < 1e-3, "{plain:?}");
    assert!(p_value(&summary) > 0.05, "{summary:?}");
    let unit = PermutedUnit::PermanentFault;
    let test = GroupTest::Permutation { unit, units: 20, permutations: 2000 };
    assert_eq!(summary.groupings[0].test, Some(test));
}

/// Weights as if bit 30 were drawn 16 times as often as it occurs.
fn weighted(mut run: Run) -> Run {
    for record in &mut run.records {
        let bit = record.site.as_ref().unwrap().bit;
        let weight = if bit == Some(30) { 0.125 } else { 2.0 };
        record.measures.weight = Some(weight);
    }
    run
}

#[test]
fn rates_are_corrected_for_how_often_places_were_drawn() {
    let requirements = "requirements:
  - {rate: changed, at_most: 0.5}
  - {rate: changed, at_most: 0.5, where: {layer: 1}}";
    // One of ten flips of bit 3 changes the answer, too.
    let one_in_ten =
        |operator, bit, repeat| usual(operator, bit, repeat) || bit == 3 && repeat == 9;
    let run = weighted(flips(requirements, one_in_ten));
    let summary = run.summarised(&["layer", "bit", "label"]).unwrap();
    assert!(summary.weighted);
    // 68 events of 1/8 and 20 of 2 among 400 trials.
    let all = summary.overall.rate;
    assert_eq!((all.events, all.n), (88, 400));
    assert!(near(all.value.unwrap(), (68.0 / 8.0 + 20.0 * 2.0) / 400.0), "{all:?}");
    assert!(all.low < all.value.unwrap() && all.value.unwrap() < all.high);
    // In layer 1: 60 of 1/8 and 8 of 2, among 80 of each.
    let layer = summary.groupings[0].rows[0].tally.rate;
    let wanted = (60.0 / 8.0 + 8.0 * 2.0) / (80.0 / 8.0 + 80.0 * 2.0);
    assert!((layer.events, layer.n) == (68, 160) && near(layer.value.unwrap(), wanted));
    // Within a bit all weights are the same.
    let bits: Vec<f64> =
        summary.groupings[1].rows.iter().map(|row| row.tally.rate.value.unwrap()).collect();
    assert!(near(bits[0], 0.1) && near(bits[1], 68.0 / 200.0), "{bits:?}");
    assert!(near(summary.groupings[2].rows[0].tally.rate.value.unwrap(), all.value.unwrap()));
    let required: Vec<f64> =
        summary.checks.requirements.iter().map(|one| one.rate.value.unwrap()).collect();
    assert!(near(required[0], all.value.unwrap()) && near(required[1], wanted), "{required:?}");
    assert!(summary.groupings.iter().all(|grouping| grouping.test.is_none()));
    let share = summary.model.rankings[0].rows[0].share;
    assert!(near(share.value.unwrap(), (60.0 / 8.0 + 16.0) / 48.5), "{share:?}");
}

/// Searches of ten elements a case in conv1 and in fc; `critical` takes operator and which.
fn searches(mut run: Run, critical: impl Fn(usize, u32) -> u32) -> Run {
    run.manifest.faults[1].settings.insert("sites".to_owned(), "boundary".into());
    for operator in [0, 4] {
        let from = run.records.len();
        run.add((0, 1), 10, |_, repeat| critical(operator, repeat) > 0);
        for record in &mut run.records[from..] {
            record.site = site(operator, None);
            record.cost.queries = 9;
            record.measures.boundary = Some(BoundarySearch {
                critical: critical(operator, record.repeat).into(),
                searched: 32,
                checked: 3,
                unexpected: u64::from(record.repeat == 0),
            });
        }
    }
    run
}

fn searched(run: Run) -> Summary {
    searches(run, |operator, repeat| if operator == 0 { 2 + repeat % 2 } else { 0 })
        .summarised(&[])
        .unwrap()
}

#[test]
fn critical_bits_are_counted_by_element() {
    let summary = searched(Run::new(&["small"], 4, ""));
    let [found] = &summary.model.critical[..] else { panic!("{:?}", summary.model.critical) };
    let [first, last] = &found.layers[..] else { panic!("{:?}", found.layers) };
    assert_eq!((first.layer, first.mean.value, first.mean.n), (Some(1), Some(2.5), 40));
    // Half of the elements have one more: a deviation of 1/2, 40 of them, Student's 2.0227.
    let half = 2.022_691 * (40.0f64 * 0.25 / 39.0 / 40.0).sqrt();
    assert!((first.mean.high - 2.5 - half).abs() < 1e-5, "{first:?}");
    assert_eq!((first.share.events, first.share.n), (100, 1280));
    assert_eq!((last.layer, last.mean.value, last.mean.low), (Some(3), Some(0.0), 0.0));
    assert!(last.mean.high > 0.0 && last.share.high > 0.0);
    assert_eq!((found.all.mean.value, found.all.share.n), (Some(1.25), 2560));
    assert_eq!((found.queries, found.exhaustive), (720, 2560));
    assert_eq!((found.unexpected.events, found.unexpected.n), (8, 240));
    assert_eq!(summary.findings()[0], Finding::CriticalBits(found));
}

#[test]
fn searches_are_in_no_rate() {
    let requirement = "requirements: [{rate: changed, at_most: 0.9}]";
    let summary = searched(flips(requirement, usual));
    assert_eq!((summary.overall.rate.events, summary.overall.rate.n), (68, 400));
    assert_eq!(summary.checks.requirements[0].rate.n, 400);
    assert_eq!(summary.progress.recorded, 480);
    assert!(summary.curves.is_empty());
    let points = summary.groupings.iter().find(|one| one.attribute == "point");
    assert!(points.is_none_or(|one| one.rows.iter().all(|row| row.key == "bit_flip bit=30")));
    assert!(summary.method.searches);
    assert_eq!(summary.model.rankings[0].rows[0].share.n, 68);
    // Alone they decide nothing.
    let alone = searched(Run::new(&["small"], 4, requirement));
    assert_eq!(alone.checks.requirements[0].verdict, Verdict::Inconclusive);
    assert_eq!(alone.overall.rate.n, 0);
}

#[test]
fn failures_in_time_follow_from_the_rate_of_failed_trials() {
    let requirements = "intervals: {population: these_images}
requirements:
  - {fit: {raw: 100}, at_most: 30}
  - {fit: {raw: 100, share: 0.4}, at_most: 30, where: {layer: 1}}
  - {fit: {raw: 100}, at_most: 5}
  - {fit: {raw: 10}, at_most: 30}";
    let mut run = flips(requirements, usual);
    // Two unchanged trials of fc crash instead.
    let unchanged = run.records.iter_mut().rev().take(2);
    unchanged.for_each(|record| record.outcome = Outcome::Crashed);
    let summary = run.summarised(&[]).unwrap();
    let [all, layer, strict, slack] = &summary.checks.requirements[..] else { panic!() };
    assert_eq!((all.rate.events, all.rate.n, all.verdict), (70, 400, Verdict::Met));
    let wanted = wilson(70, 400, Level::default()).unwrap();
    // What differs between images, and between bits of one, is no chance here.
    assert!(all.rate.high < wanted.high && near(all.limit, 0.3), "{all:?}");
    assert_eq!(all.fit.unwrap().each(), 100.0);
    assert_eq!(all.requirement, "FIT ≤ 30 of 100 raw on these images");
    assert!(all.complete);
    assert_eq!((layer.rate.events, layer.rate.n), (60, 160));
    assert!(near(layer.limit, 0.75) && layer.verdict == Verdict::Met);
    assert_eq!(strict.verdict, Verdict::NotMet);
    assert_eq!((slack.verdict, slack.limit), (Verdict::Met, 3.0));
}

#[test]
fn thresholds_and_traits_are_counted() {
    let oracle = "oracle: {name: same_values, tolerance: 15}";
    let mut run = Run::new(&["small", "large"], 4, oracle);
    for (target, depth) in [(0, "2"), (1, "10")] {
        run.manifest.targets[target].traits.insert("depth".to_owned(), depth.to_owned());
        run.add((target as u32, 0), 10, |_, repeat| repeat < 3 + target as u32);
    }
    for record in run.records.iter_mut().filter(|record| record.repeat < 5) {
        let value = 20.0 - 4.0 * f64::from(record.repeat);
        record.measures.oracle = Some(NamedValue { name: "deviation".into(), value });
    }
    let summary = run.summarised(&[]).unwrap();
    let [small, _] = &summary.thresholds[..] else { panic!("{:?}", summary.thresholds) };
    // 20 and 16 of 20, 16, 12, 8 and 4 lie beyond 15.
    assert_eq!(small.rates.len(), 1);
    assert_eq!((small.rates[0].0, small.rates[0].1.events, small.rates[0].1.n), (15.0, 8, 40));
    let [depth] = &summary.traits[..] else { panic!("{:?}", summary.traits) };
    let rows: Vec<_> =
        depth.rows.iter().map(|row| (&*row.value, row.rate.events, row.rate.n)).collect();
    assert_eq!(rows, [("2", 12, 40), ("10", 16, 40)]);
    assert_eq!(depth.lines[0].points.iter().map(|point| point.0).collect::<Vec<_>>(), [2.0, 10.0]);
    let by = run.summarised(&["depth"]).unwrap();
    assert_eq!(by.groupings[0].rows.len(), 2);
}

#[test]
fn classes_stand_at_one_end_only() {
    let mut run = Run::new(&["small"], 8, "");
    for case in &mut run.cases {
        case.label = Some(format!("class {}", case.case / 2));
    }
    run.add((0, 0), 10, |case, repeat| repeat < case / 2);
    let classes = run.summarised(&[]).unwrap().classes.unwrap();
    let names = |classes: &[faultlens_analysis::Class]| {
        classes.iter().map(|class| class.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!(classes.of, 4);
    assert_eq!(names(&classes.worst), ["class 3", "class 2"]);
    assert_eq!(names(&classes.best), ["class 0", "class 1"]);
    assert_eq!((classes.worst[0].rate.events, classes.worst[0].rate.n), (6, 20));
}
