//! Campaigns on the embedded world: the same records, whatever happens on the way.

use crate::campaigns::records;
use faultlens_analysis::{Verdict, compare, summarise};
use faultlens_campaign::OpenCampaign;
use faultlens_campaign::pin;
use faultlens_campaign::plan::Shard;
use faultlens_campaign::replay::Rerun;
use faultlens_campaign::run::{Ending, Event, RunOptions, Sink, SinkError};
use faultlens_core::{OutcomeKind, Seed};
use faultlens_record::Record;
use faultlens_record::store::{Store, merge};
use faultlens_spec::Campaign;
use faultlens_spec::Disturbance;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const SMALL: &str = "
name: small
targets: [{model: world:signs-shallow}, {model: world:signs-middle}]
cases: {data: 'world:signs:6'}
faults:
  - {fault: bit_flip, in: [outputs, weights], trials: 20}
  - {fault: random_value, low: -100, high: 100, trials: 3}
  - {fault: zero, operators: [Conv], trials: 2}
  - {fault: gaussian_noise, severity: [3, 5], trials: 2}
  - {fault: brightness, severity: 5}
guards: [golden_correct]
requirements:
  - {rate: changed, at_most: 0.999, population: these_images}
  - {rate: crashed, at_most: 0.01, where: {fault: brightness}}
";

/// Sets the flag once so many trials are on record.
struct Interrupt<'a> {
    after: usize,
    seen: usize,
    flag: &'a AtomicBool,
}

impl Sink for Interrupt<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), SinkError> {
        if let Event::Recorded(records) = event {
            self.seen += records.len();
            self.flag.fetch_or(self.seen >= self.after, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn campaign(text: &str) -> Campaign {
    Campaign::parse(text, Path::new("small.yaml")).unwrap()
}

fn options(dir: &Path) -> RunOptions {
    RunOptions { output: Some(dir.to_path_buf()), ..RunOptions::default() }
}

fn run(text: &str, options: &RunOptions) -> Ending {
    faultlens_campaign::run_campaign(campaign(text), options, &mut [], &AtomicBool::new(false))
        .unwrap()
}

/// Says where two runs differ; all of their records would say too much.
fn assert_same(got: &[Record], wanted: &[Record]) {
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        assert!(got.is_same(wanted), "{got:?}\n{wanted:?}");
    }
}

fn reference() -> (TempDir, Vec<Record>) {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = dir.path().join("run");
    assert_eq!(run(SMALL, &RunOptions { threads: Some(1), ..options(&run_dir) }), Ending::Complete);
    let records = records(&run_dir);
    assert_eq!(records.len(), 2 * 6 * (40 + 3 + 2 + 4 + 1));
    assert!(records.iter().enumerate().all(|(at, record)| record.number == at as u64));
    (dir, records)
}

#[test]
fn threads_shards_and_interruptions_change_nothing() {
    let (dir, wanted) = reference();
    let threads = dir.path().join("threads");
    run(SMALL, &RunOptions { threads: Some(3), ..options(&threads) });
    assert_same(&records(&threads), &wanted);

    let shards: Vec<PathBuf> = (1..=5)
        .map(|part| {
            let shard = dir.path().join(format!("shard{part}"));
            run(SMALL, &RunOptions { shard: Some(Shard { part, of: 5 }), ..options(&shard) });
            shard
        })
        .collect();
    let merged = dir.path().join("merged");
    let told = merge(&shards[1..], &merged).unwrap();
    assert!(!told.missing.is_empty());
    let merged = dir.path().join("whole");
    let told = merge(&shards, &merged).unwrap();
    assert_eq!((told.records, told.duplicates, told.missing), (wanted.len() as u64, 0, vec![]));
    assert_same(&records(&merged), &wanted);

    let pieces = dir.path().join("pieces");
    let mut endings = 0;
    loop {
        let flag = AtomicBool::new(false);
        let mut interrupt = Interrupt { after: 10, seen: 0, flag: &flag };
        let ending = faultlens_campaign::run_campaign(
            campaign(SMALL),
            &options(&pieces),
            &mut [&mut interrupt],
            &flag,
        )
        .unwrap();
        endings += 1;
        if ending == Ending::Complete {
            break;
        }
        assert!(!Store::read(&pieces).unwrap().progress().unwrap().complete);
    }
    // How far workers get before they see the flag is not ours to say.
    assert!(endings > 1, "{endings}");
    assert_same(&records(&pieces), &wanted);
}

#[test]
fn every_recorded_trial_repeats_bit_for_bit() {
    let (dir, records) = reference();
    let run_dir = dir.path().join("run");
    let rerun = Rerun::open(&run_dir).unwrap();
    for record in records.iter().step_by(23) {
        let by_number = rerun.replay(&record.number.to_string()).unwrap();
        assert!(by_number.is_identical(), "{:?} {:?}", by_number.recorded, by_number.now);
        let by_identity = rerun.replay(&record.trial.to_string()[..12]).unwrap();
        assert_eq!(by_identity.recorded.number, record.number);
    }
    assert!(rerun.replay("999999").is_err());
}

#[test]
fn image_faults_are_the_same_for_all_targets_and_others_are_not() {
    let open = OpenCampaign::open(campaign(SMALL)).unwrap();
    let all = open.plan.total() / 2;
    for number in 0..all {
        let (first, second) = (open.plan.key(number), open.plan.key(number + all));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!((first.fault, first.case, second.target), (second.fault, second.case, 1));
        assert_ne!(open.identity(first, "case"), open.identity(second, "case"));
        let image = matches!(open.fault(first).disturbance, Disturbance::Image(_));
        let seed = |spot| open.stream_seed(spot, "case");
        assert_eq!(seed(first) == seed(second), image, "{number}");
    }
}

#[test]
fn other_data_under_the_same_path_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let picture = |class: &str, number: u64| {
        std::fs::create_dir_all(data.join(class)).unwrap();
        let case = faultlens_world::sign(Seed::new(3), number);
        let path = data.join(class).join(format!("{number}.png"));
        faultlens_data::write_png(&case.image, path).unwrap();
    };
    picture("stop", 0);
    picture("stop", 1);
    let text = format!(
        "targets: [{{model: world:signs-shallow}}]\ncases: {{data: '{}'}}\nfaults: [{{fault: zero}}]",
        data.display()
    );
    let options = options(&dir.path().join("run"));
    run(&text, &options);
    picture("stop", 2);
    let again = || {
        faultlens_campaign::run_campaign(
            campaign(&text),
            &options,
            &mut [],
            &AtomicBool::new(false),
        )
    };
    let error = again().unwrap_err().to_string();
    assert!(error.contains("2 cases then, 3 now"), "{error}");
    let rerun = Rerun::open(&dir.path().join("run"));
    assert!(rerun.is_err(), "replaying numbers of another plan would show other trials");
    std::fs::remove_file(data.join("stop/2.png")).unwrap();
    std::fs::copy(data.join("stop/1.png"), data.join("stop/0.png")).unwrap();
    let error = Rerun::open(&dir.path().join("run")).unwrap().replay("0").err().unwrap();
    assert!(error.to_string().contains("the image of case"), "{error}");
}

#[test]
fn a_summary_says_what_the_records_say() {
    let (dir, records) = reference();
    let summary = summarise(&dir.path().join("run"), &[]).unwrap();
    let count = |kind| records.iter().filter(|r| r.outcome.kind() == kind).count() as u64;
    assert_eq!(summary.overall.changed, count(OutcomeKind::Changed));
    assert_eq!(summary.overall.unchanged, count(OutcomeKind::Unchanged));
    assert_eq!(summary.overall.detected, count(OutcomeKind::Detected));
    assert_eq!(summary.overall.skipped.values().sum::<u64>(), count(OutcomeKind::Skipped));
    assert_eq!(summary.overall.rate.n + count(OutcomeKind::Skipped), records.len() as u64);
    assert!(summary.overall.changed > 0 && summary.overall.unchanged > 0);
    assert_eq!(
        summary.checks.verdict,
        Some(summary.checks.requirements.iter().map(|r| r.verdict).max().unwrap())
    );
    assert_eq!(summary.checks.requirements[0].verdict, Verdict::Met);
    // So few images say nothing about others.
    assert_eq!(summary.checks.requirements[1].verdict, Verdict::Inconclusive);
    assert!(summary.examples.iter().all(|e| e.before.is_some()), "every example has a picture");
    assert!(summary.examples.iter().any(|e| e.after.is_some()));
    let by_kind = summarise(&dir.path().join("run"), &["kind".to_owned()]).unwrap();
    let sited = records.iter().filter(|r| r.site.is_some()).count() as u64;
    let grouped: u64 = by_kind.groupings[0]
        .rows
        .iter()
        .map(|row| row.tally.rate.n + row.tally.skipped.values().sum::<u64>())
        .sum();
    assert_eq!(grouped, sited);
    let error = summarise(&dir.path().join("run"), &["operatr".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("did you mean \"operator\"?"), "{error}");
}

#[test]
fn a_stop_rule_looks_the_same_after_every_restart() {
    let text = "
targets: [{model: world:signs-shallow}]
cases: {data: 'world:signs:8'}
faults:
  - {fault: bit_flip, in: outputs, bit: 30}
  - {fault: zero}
stop: {half_width: 0.1, at_most: 60}
";
    let dir = tempfile::tempdir().unwrap();
    let (whole, pieces) = (dir.path().join("whole"), dir.path().join("pieces"));
    assert_eq!(run(text, &options(&whole)), Ending::StoppedEarly);
    let wanted = records(&whole);
    assert!(wanted.len() < 2 * 8 * 60, "{}", wanted.len());
    // A fault that is always unchanged is known sooner.
    let of = |fault| wanted.iter().filter(|record| record.fault == fault).count();
    assert_ne!(of(0), of(1));
    loop {
        let flag = AtomicBool::new(false);
        let mut interrupt = Interrupt { after: 100, seen: 0, flag: &flag };
        let sinks: &mut [&mut dyn Sink] = &mut [&mut interrupt];
        let ending =
            faultlens_campaign::run_campaign(campaign(text), &options(&pieces), sinks, &flag)
                .unwrap();
        if ending != Ending::Interrupted {
            break;
        }
    }
    assert_same(&records(&pieces), &wanted);
    let shard = Some(Shard { part: 1, of: 2 });
    let options = RunOptions { shard, ..options(&dir.path().join("shard")) };
    let error = faultlens_campaign::run_campaign(
        campaign(text),
        &options,
        &mut [],
        &AtomicBool::new(false),
    )
    .unwrap_err();
    assert!(error.to_string().contains("stop rule"), "{error}");
    for row in &summarise(&whole, &["point".to_owned()]).unwrap().groupings[0].rows {
        let rate = row.tally.rate;
        assert!((rate.high - rate.low) / 2.0 <= 0.1, "{rate:?}");
    }
}

#[test]
fn a_pinned_trial_is_replayed_first_and_judged() {
    let (dir, records) = reference();
    let broken = records.iter().find(|r| r.outcome.kind() == OutcomeKind::Changed).unwrap();
    let rerun = Rerun::open(&dir.path().join("run")).unwrap();
    let pinned = rerun.pin(&broken.number.to_string(), Some("found once")).unwrap();
    let file = dir.path().join("pins.yaml");
    assert!(pin::add(&file, &pinned).unwrap());
    assert!(!pin::add(&file, &pinned).unwrap());
    let text = format!("{SMALL}pinned: {}\n", file.display());
    let again = dir.path().join("again");
    run(&text, &options(&again));
    let summary = summarise(&again, &[]).unwrap();
    assert_eq!(summary.checks.pinned[0].name, "found once");
    assert_eq!(summary.checks.pinned[0].verdict, Verdict::NotMet);
    assert_eq!(summary.checks.verdict, Some(Verdict::NotMet));
    // Another image of that name is another trial, and says nothing about this one.
    let open = OpenCampaign::open(campaign(SMALL)).unwrap();
    assert_eq!(pinned.replay(&open).outcome, "changed");
    let other = pin::Pin { pixels: "0123456789abcdef".to_owned(), ..pinned };
    let replayed = other.replay(&open);
    assert_eq!(replayed.outcome, "skipped");
    assert!(replayed.reason.unwrap().contains("is another one"));
}

#[test]
fn labels_that_are_not_the_models_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("labels.txt"), "stop\nyield\nother\n").unwrap();
    let text = "targets: [{model: world:signs-shallow, labels: labels.txt}]\n\
                cases: {data: 'world:signs:2'}\nfaults: [{fault: zero}]";
    let campaign = Campaign::parse(text, &dir.path().join("c.yaml")).unwrap();
    let error = OpenCampaign::open(campaign).err().unwrap().to_string();
    assert!(error.contains("there are 3 labels, but the model has 14 classes"), "{error}");
}

#[test]
fn labels_that_change_during_a_run_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    for class in ["stop", "yield"] {
        std::fs::create_dir_all(data.join(class)).unwrap();
    }
    for number in 0..4 {
        let case = faultlens_world::sign(Seed::new(3), number);
        let path = data.join("stop").join(format!("{number}.png"));
        faultlens_data::write_png(&case.image, path).unwrap();
    }
    let case = faultlens_world::sign(Seed::new(3), 9);
    faultlens_data::write_png(&case.image, data.join("yield/9.png")).unwrap();
    let text = format!(
        "targets: [{{model: world:signs-shallow}}]\ncases: {{data: '{}'}}\n\
         faults: [{{fault: bit_flip, trials: 5000}}]",
        data.display()
    );
    let options = RunOptions { threads: Some(1), ..options(&dir.path().join("run")) };
    let flag = AtomicBool::new(false);
    let mut interrupt = Interrupt { after: 1, seen: 0, flag: &flag };
    let sinks: &mut [&mut dyn Sink] = &mut [&mut interrupt];
    assert_eq!(
        faultlens_campaign::run_campaign(campaign(&text), &options, sinks, &flag).unwrap(),
        Ending::Interrupted
    );
    std::fs::rename(data.join("stop/0.png"), data.join("yield/0.png")).unwrap();
    let again = faultlens_campaign::run_campaign(
        campaign(&text),
        &options,
        &mut [],
        &AtomicBool::new(false),
    );
    let error = again.unwrap_err().to_string();
    assert!(error.contains("is not as it was when the run began"), "{error}");
}

#[test]
fn two_runs_are_compared_trial_by_trial() {
    let (dir, _) = reference();
    let first = dir.path().join("run");
    let same = compare(&first, &first).unwrap();
    // Few images are compared, and nothing is said about others.
    assert_eq!((same.rows[0].difference, same.rows[0].p_value), (Some(0.0), None));
    assert!(same.rows[0].pairs > 0);
    let noisy = dir.path().join("noisy");
    run(&SMALL.replace("severity: [3, 5]", "severity: [5]"), &options(&noisy));
    let compared = compare(&first, &noisy).unwrap();
    assert!(compared.rows.iter().any(|row| row.what.contains("severity=5") && row.pairs > 0));
    assert!(!compared.rows.iter().any(|row| row.what.contains("severity=3")));
    assert!(compared.rows[0].pairs > 0 && compared.rows[0].unpaired == 0);
}

#[test]
fn a_run_of_another_campaign_is_refused() {
    let (dir, _) = reference();
    let other = SMALL.replace("severity: [3, 5]", "severity: [3, 4]");
    let options = options(&dir.path().join("run"));
    let error = faultlens_campaign::run_campaign(
        campaign(&other),
        &options,
        &mut [],
        &AtomicBool::new(false),
    )
    .unwrap_err();
    assert!(error.to_string().contains("another campaign"), "{error}");
}

const LAST_BIASES: &str = "in: weights, layers: [-1], values: ['re:bias$']";

fn flips(rest: &str) -> String {
    format!(
        "targets: [{{model: world:signs-shallow}}]\ncases: {{data: 'world:signs:2'}}\n\
         faults: [{{fault: bit_flip, {LAST_BIASES}, {rest}}}]"
    )
}

#[test]
fn an_exhaustive_plan_flips_every_bit_once() {
    let dir = tempfile::tempdir().unwrap();
    run(&flips("sites: exhaustive"), &options(dir.path()));
    let records = records(dir.path());
    let classes = 14;
    assert_eq!(records.len(), 2 * classes * 32);
    let places = records.iter().map(|record| {
        let site = record.site.as_ref().unwrap();
        (record.case, site.element, site.bit.unwrap())
    });
    assert_eq!(places.collect::<BTreeSet<_>>().len(), records.len());
    let rerun = Rerun::open(dir.path()).unwrap();
    assert!(rerun.replay("801").unwrap().is_identical());
}

#[test]
fn a_permanent_fault_is_the_same_for_every_case() {
    let dir = tempfile::tempdir().unwrap();
    let sites = |duration: &str| {
        let dir = dir.path().join(duration);
        run(&flips(&format!("duration: {duration}, trials: 30")), &options(&dir));
        let mut sites: Vec<Vec<(u64, Option<u32>)>> = vec![Vec::new(); 2];
        for record in records(&dir) {
            let site = record.site.unwrap();
            sites[record.case as usize].push((site.element, site.bit));
        }
        sites
    };
    let permanent = sites("permanent");
    assert_eq!(permanent[0], permanent[1]);
    let transient = sites("transient");
    assert_ne!(transient[0], transient[1]);
}

/// The search against all bits of the same elements, each flipped by itself.
#[test]
fn the_boundary_is_where_all_flips_say_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (all, searched) = (dir.path().join("all"), dir.path().join("searched"));
    run(&flips("sites: exhaustive"), &options(&all));
    run(&flips("sites: boundary, trials: 60"), &options(&searched));
    let broken: BTreeSet<(u32, u64, u32)> = records(&all)
        .iter()
        .filter(|record| record.outcome.kind() != OutcomeKind::Unchanged)
        .map(|record| (record, record.site.as_ref().unwrap()))
        .map(|(record, site)| (record.case, site.element, site.bit.unwrap()))
        .collect();
    assert!(!broken.is_empty());
    let (mut agree, mut asked) = (0, 0);
    let searches = records(&searched);
    for record in &searches {
        let site = record.site.as_ref().unwrap();
        let number = |name: &str| record.field(name).unwrap().parse::<usize>().unwrap();
        let of_element = broken
            .iter()
            .filter(|(case, element, _)| (*case, *element) == (record.case, site.element));
        let critical = of_element.count();
        agree += usize::from(number("critical") == critical);
        asked += record.cost.queries;
        assert_eq!(number("searched"), 32);
        // What is told of the lowest bit was seen.
        let told = site.bit.map(|bit| (record.case, site.element, bit));
        assert!(told.is_none_or(|told| broken.contains(&told)), "{record:?}");
        assert_eq!(site.bit.is_some(), record.outcome.kind() != OutcomeKind::Unchanged);
    }
    assert!(agree * 10 >= searches.len() * 9, "{agree} of {}", searches.len());
    assert!(asked < 14 * searches.len() as u32, "{asked}");
    let rerun = Rerun::open(&searched).unwrap();
    assert!(rerun.replay("7").unwrap().is_identical());
}

/// Nothing of a fault that has nowhere to land is run.
#[test]
fn a_fault_without_a_place_is_refused() {
    let refused = |fault: &str| {
        let text = format!(
            "targets: [{{model: world:signs-shallow}}]\ncases: {{data: 'world:signs:2'}}\n\
             faults: [{{{fault}}}]"
        );
        OpenCampaign::open(campaign(&text)).err().unwrap().to_string()
    };
    for (fault, wanted) in [
        ("fault: bit_flip, bit: 40", "bit 40: what is selected is f32 (bits 0 to 31)"),
        ("fault: zero, layers: [77]", "no layer has a number in 77; the model's go from 0 to"),
        ("fault: zero, operators: [Conv], layers: [0]", "nothing in the model is selected"),
        ("fault: zero, operators: [Cnv]", "did you mean \"Conv\"?"),
        ("fault: zero, values: [conv]", "has nothing of kind or name \"conv\""),
    ] {
        let error = refused(fault);
        assert!(error.contains(wanted), "{fault}: {error}");
    }
}

/// Everything a sixth of the image to the right: boxes that were not moved along would meet almost
/// none of what the detector finds then.
#[test]
fn faults_that_move_things_move_what_is_expected() {
    let dir = tempfile::tempdir().unwrap();
    let text = "
targets: [{model: world:detector}]
cases: {data: 'world:scenes:30'}
oracle: {name: same_detections, iou: 0.5}
faults:
  - {fault: rotation, angle: 0}
  - {fault: translation, right: 0.15, down: 0, fill: edge}
";
    run(text, &options(dir.path()));
    let changed = |fault: u32| {
        let of = |record: &&Record| {
            record.fault == fault && record.outcome == faultlens_core::Outcome::Changed
        };
        records(dir.path()).iter().filter(of).count()
    };
    assert_eq!(changed(0), 0, "nothing moved");
    assert!((1..=20).contains(&changed(1)), "{} of 30", changed(1));
}

/// The run directory alone says how well objects were found over all cases.
#[test]
fn objects_that_were_found_are_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let text = "
targets: [{model: world:detector}]
cases: {data: 'world:scenes:12'}
oracle: {name: same_detections}
faults:
  - {fault: gaussian_noise, severity: [1, 5]}
  - {fault: translation, right: 0.15, down: 0, fill: edge}
";
    run(text, &options(dir.path()));
    let summary = summarise(dir.path(), &[]).unwrap();
    let [one] = &summary.images.detection[..] else { panic!("{:?}", summary.images.detection) };
    assert!((6..=12).contains(&one.cases), "{}", one.cases);
    // What a fault has moved is not where the truth has it.
    let faults: Vec<_> = one.points.iter().filter_map(|point| point.fault.clone()).collect();
    assert_eq!(faults, ["gaussian_noise severity=1", "gaussian_noise severity=5"]);
    let ap = |at: usize| one.points[at].ap.value.unwrap();
    let clean = one.clean.ap.value.unwrap();
    assert!(clean > 0.3 && ap(1) < clean, "{one:?}");
    let (mean, kept) = (one.mean_ap.unwrap().value.unwrap(), one.kept.unwrap().value.unwrap());
    assert!((mean - (ap(0) + ap(1)) / 2.0).abs() < 1e-12 && (kept - mean / clean).abs() < 1e-12);
}
