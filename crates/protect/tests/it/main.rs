//! Protections, evaluated on campaigns of the embedded world.

#![expect(clippy::unwrap_used, reason = "tests")]

use faultlens_campaign::run::{Ending, RunOptions};
use faultlens_core::OutcomeKind;
use faultlens_protect::{
    Advice, CHECKSUMS, DUPLICATION, Evaluated, Options, ProtectError, RANGES, protect, read,
};
use faultlens_record::store::{Store, StoreError};
use faultlens_spec::Campaign;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

const MIXED: &str = "
name: mixed
targets: [{model: world:signs-shallow}]
cases: {data: 'world:signs:8'}
faults:
  - {fault: bit_flip, in: [outputs, weights], bit: [28, 30], trials: 25}
  - {fault: bit_flip, in: outputs, bit: 30, duration: permanent, trials: 10}
  - {fault: stuck_at, to: 1, in: weights, trials: 10}
  - {fault: bit_flip, in: outputs, mode: each_layer, bit: 30, trials: 5}
  - {fault: bit_flip, in: outputs, sites: boundary, trials: 2}
  - {fault: brightness, severity: 5}
guards: [golden_correct]
";

fn ran(text: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let campaign = Campaign::parse(text, Path::new("mixed.yaml")).unwrap();
    let options = RunOptions { output: Some(dir.path().join("run")), ..RunOptions::default() };
    let ending =
        faultlens_campaign::run_campaign(campaign, &options, &mut [], &AtomicBool::new(false))
            .unwrap();
    assert_eq!(ending, Ending::Complete);
    dir
}

fn advised(dir: &TempDir, options: &Options) -> Advice {
    protect(&dir.path().join("run"), options).unwrap()
}

fn of<'a>(advice: &'a Advice, name: &str) -> Vec<&'a Evaluated> {
    advice.targets[0].protections.iter().filter(|one| one.protection == name).collect()
}

#[test]
fn the_same_trials_under_every_protection() {
    let dir = ran(MIXED);
    let threads = |threads| Options { threads: Some(threads), ..Options::default() };
    let advice = advised(&dir, &threads(1));
    assert_eq!(advised(&dir, &threads(3)), advice, "the number of threads must not matter");
    let written = read(&dir.path().join("run")).unwrap().unwrap();
    assert_eq!(written.findings, advice.findings, "what is written is read again");
    let moves = |advice: &Advice| {
        let all = &advice.targets[0].protections;
        all.iter().map(|one| one.moves.clone()).collect::<Vec<_>>()
    };
    assert_eq!(moves(&written), moves(&advice));

    let target = &advice.targets[0];
    let (broken, judged, left) = counted(&dir.path().join("run"));
    assert!(broken > 0, "a campaign that breaks nothing tests nothing");
    assert_eq!((target.broken.events, target.broken.n), (broken, judged));
    assert_eq!((advice.trials, advice.left_out.values().sum::<u64>()), (judged, left));
    for one in &target.protections {
        consistent(one, broken, judged);
    }
    assert_eq!(of(&advice, RANGES).len(), 1);
    curves(&advice);
}

/// By the records: broken and judged trials that protections are tried on, and all others.
fn counted(dir: &Path) -> (u64, u64, u64) {
    let mut broken = 0;
    let mut judged = 0;
    let mut left = 0;
    let store = Store::read(dir).unwrap();
    let faults = &store.manifest().faults;
    store
        .for_each::<StoreError>(|record| {
            let fault = &faults[record.fault as usize];
            let plan = fault.settings.get("sites").and_then(|plan| plan.as_str());
            let takes = fault.name != "brightness" && plan != Some("boundary");
            let kind = record.outcome.kind();
            if takes && kind != OutcomeKind::Skipped {
                judged += 1;
                broken += u64::from(kind == OutcomeKind::Changed);
            } else {
                left += 1;
            }
            Ok(())
        })
        .unwrap();
    (broken, judged, left)
}

/// All numbers of a protection follow from how trials moved.
fn consistent(one: &Evaluated, broken: u64, judged: u64) {
    let moved = |is: &dyn Fn(&str, &str) -> bool| -> u64 {
        one.moves.iter().filter(|m| is(&m.before, &m.after)).map(|m| m.trials).sum()
    };
    assert_eq!(moved(&|_, _| true), judged);
    assert_eq!(moved(&|before, _| before == "changed"), broken);
    let still = moved(&|_, after| after == "changed");
    assert_eq!((one.after.events, one.after.n), (still, judged), "{}", one.label);
    assert_eq!(one.stopped.n, broken);
    assert_eq!(broken - one.stopped.events + one.worse, still);
    assert_eq!(one.repaired + one.caught, one.stopped.events, "{:?}", one.moves);
    let gain = (broken as f64 - still as f64) / judged as f64;
    assert!((one.gain.value.unwrap() - gain).abs() < 1e-12);
    assert!(one.gain.low <= gain && gain <= one.gain.high);
    // One of the faults is permanent: its trials are not independent.
    assert_eq!(one.gain.p_value, None);
}

/// More layers stop more and cost more, and never break an answer.
fn curves(advice: &Advice) {
    for name in [DUPLICATION, CHECKSUMS] {
        let curve = of(advice, name);
        assert!(curve.len() > 1, "{name}");
        for (at, one) in curve.iter().enumerate() {
            assert_eq!((one.worse, one.repaired, one.layers.len()), (0, 0, at + 1), "{name}");
            assert_eq!(one.false_alarms, None);
        }
        for pair in curve.windows(2) {
            assert!(pair[0].stopped.events <= pair[1].stopped.events, "{name}");
            assert!(pair[0].cost.share < pair[1].cost.share, "{name}");
            assert!(pair[1].layers.starts_with(&pair[0].layers), "{name}");
        }
    }
    let all = of(advice, DUPLICATION);
    let cost = all.last().unwrap().cost.share;
    assert!(cost > 1.0 && cost < 1.5, "all twice, and comparisons: {cost}");
    // Stored faults do not show in two copies, nor computed ones in weights.
    let ranking = &advice.targets[0].ranking;
    let computed = ranking.iter().map(|layer| layer.computed).sum::<u64>();
    assert!(computed >= all.last().unwrap().caught && computed > 0);
    let stored: u64 = ranking.iter().map(|layer| layer.stored).sum();
    assert_eq!(of(advice, CHECKSUMS).last().unwrap().caught, stored);
}

#[test]
fn huge_values_are_clipped_away() {
    let dir = ran("
targets: [{model: world:signs-shallow}]
cases: {data: 'world:signs:12'}
faults:
  - {fault: random_value, low: 1e6, high: 1e7, operators: [Relu], trials: 20}
");
    let margin =
        |margin| Options { asked: [(RANGES.to_owned(), 1)].into(), margin, ..Options::default() };
    let tight = advised(&dir, &margin(0.0));
    let clipped = of(&tight, RANGES)[0];
    assert!(tight.targets[0].broken.events > 20, "{:?}", tight.targets[0].broken);
    assert!(clipped.stopped.value.unwrap() > 0.5, "{:?}", clipped.stopped);
    assert!(clipped.cost.share > 0.0 && clipped.cost.share < 0.2, "{:?}", clipped.cost);
    assert!(clipped.gain.p_value.unwrap() < 1e-3, "{:?}", clipped.gain);
    let alarms = clipped.false_alarms.unwrap();
    assert_eq!((alarms.touched.n, alarms.changed.n), (12, 12));
    // What lies within a hundred times the range passes, and then clips say nothing either.
    let wide = advised(&dir, &margin(1e9));
    let wide = of(&wide, RANGES)[0];
    assert_eq!((wide.stopped.events, wide.worse), (0, 0));
    assert_eq!(wide.false_alarms.unwrap().touched.events, 0);
    assert!(tight.targets[0].limits.iter().all(|limit| limit.low <= limit.high));
}

/// One case: ranges come from the very run that they are tried on.
#[test]
fn clips_change_nothing_in_the_runs_that_they_come_from() {
    let dir = ran("
targets: [{model: world:signs-middle}]
cases: {data: 'world:signs:1'}
faults: [{fault: bit_flip, in: outputs, bit: 0, trials: 40}]
");
    let advice = advised(&dir, &Options::default());
    assert_eq!((advice.folds, advice.warnings.len()), (1, 1), "{:?}", advice.warnings);
    let clipped = of(&advice, RANGES)[0];
    assert_eq!((clipped.worse, clipped.false_alarms), (0, None));
    assert!(clipped.moves.iter().all(|m| m.before == m.after), "{:?}", clipped.moves);
}

#[test]
fn an_unknown_protection_is_refused() {
    let options = Options { asked: [("hope".to_owned(), 1)].into(), ..Options::default() };
    let error = protect(Path::new("nowhere"), &options).unwrap_err();
    assert!(matches!(error, ProtectError::Unknown(name) if name == "hope"));
}
