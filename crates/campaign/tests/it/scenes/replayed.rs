//! Trials told again: what was asked about, what was found, and what is left out.

use super::WORLD;
use crate::campaigns::run;
use faultlens_campaign::object_comparison::ObjectStatus;
use faultlens_campaign::replay::Rerun;
use faultlens_campaign::run::RunError;
use faultlens_core::{Outcome, OutcomeKind};
use faultlens_record::Record;

/// The numbers of a record, and those that changes of a comparison come to.
fn numbers(record: &Record, count: impl Fn(ObjectStatus) -> usize) -> Vec<(String, usize)> {
    let fates = [
        ObjectStatus::Missed,
        ObjectStatus::Spurious,
        ObjectStatus::Relabelled,
        ObjectStatus::Misplaced,
    ];
    let told = fates.map(|status| {
        let said = record.field(status.name()).map_or(0, |text| text.parse().unwrap());
        assert_eq!(said, count(status), "{record:?}");
        (status.name().to_owned(), said)
    });
    told.to_vec()
}

#[test]
fn findings_are_the_images_that_were_asked_about() {
    let dir = tempfile::tempdir().unwrap();
    let records = run(dir.path(), "run", WORLD, 2);
    let rerun = Rerun::open(&dir.path().join("run")).unwrap();
    let told = rerun.replayable(false, &|_| true).unwrap();
    let changed = |r: &&Record| r.outcome == Outcome::Changed;
    assert_eq!(told.records.len(), records.iter().filter(changed).count());
    assert!(told.left_out.is_empty(), "{:?}", told.left_out);
    let (mut seen, mut moved, mut mirrored) = (0, 0, 0);
    rerun
        .replay_images::<RunError>(&told.records, &mut |record, replayed| {
            seen += 1;
            let comparison = &replayed.comparison;
            let again = rerun.replay(&record.number.to_string()).unwrap();
            assert!(again.is_identical());
            assert_eq!(again.after.as_ref(), Some(&comparison.image));
            assert_eq!(again.comparison.unwrap().answer, comparison.answer);
            let answer = comparison.answer.as_ref().unwrap();
            numbers(record, |status| {
                comparison.changes().filter(|pair| pair.status == status).count()
            });
            let found = |one: &&_| answer.own.contains(one);
            assert!(!answer.observed.iter().any(|one| found(&one)));
            assert_eq!(replayed.touched.is_none(), record.fault == 3);
            mirrored += usize::from(record.fault == 3);
            assert_eq!(replayed.furthest.is_some(), record.field("moved_to").is_some());
            if let Some(further) = &replayed.furthest {
                moved += 1;
                assert_ne!(further.image, comparison.image);
                // Where it moved to, the answer is disturbed too.
                assert!(further.answer.is_ok() && further.changes().next().is_some());
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, told.records.len());
    assert!(moved > 0 && mirrored > 0, "{moved} {mirrored}");
    let all = rerun.replayable(true, &|fault| fault.name == "insert_object").unwrap().records;
    let judged = |r: &&Record| r.fault < 2 && r.outcome.kind() != OutcomeKind::Skipped;
    assert_eq!(all.len(), records.iter().filter(judged).count());
    assert_eq!(rerun.scenes(true).unwrap().len(), {
        let scenes = |r: &&Record| r.fault < 3 && r.outcome.kind() != OutcomeKind::Skipped;
        records.iter().filter(scenes).count()
    });
}

#[test]
fn labels_move_with_what_they_are_of() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "run", WORLD, 2);
    let rerun = Rerun::open(&dir.path().join("run")).unwrap();
    let mirrored = rerun.replayable(true, &|fault| fault.name == "mirror").unwrap().records;
    assert_eq!(mirrored.len(), 8);
    rerun
        .replay_images::<RunError>(&mirrored, &mut |_, replayed| {
            assert_eq!(replayed.objects.len(), replayed.case.objects.len());
            for (now, then) in replayed.objects.iter().zip(&replayed.case.objects) {
                assert_eq!((now.bounds.left, now.class), (128.0 - then.bounds.right, then.class));
                let [now, then] = [now, then].map(|object| object.mask.as_ref().unwrap());
                let bounds = [now, then].map(|mask| mask.bounds().unwrap());
                assert_eq!(bounds[0].right, 128.0 - bounds[1].left);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_is_left_out_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let text = "
targets: [{name: boxes, model: 'world:detector'}]
cases: {data: 'world:scenes:4'}
oracle: same_detections
faults:
  - {fault: bit_flip, bit: 30, trials: 20}
  - {fault: mirror}
  - {fault: random_noise, epsilon: 0.5}
";
    let records = run(dir.path(), "run", text, 2);
    let rerun = Rerun::open(&dir.path().join("run")).unwrap();
    let told = rerun.replayable(false, &|_| true).unwrap();
    let broken =
        |r: &&Record| !matches!(r.outcome.kind(), OutcomeKind::Unchanged | OutcomeKind::Skipped);
    let broken = records.iter().filter(broken).count() as u64;
    let left_out: u64 = told.left_out.values().sum();
    assert_eq!(told.records.len() as u64 + left_out, broken);
    for wanted in ["inside a model", "attacks on a model are shown at its size"] {
        assert!(told.left_out.keys().any(|why| why.contains(wanted)), "{:?}", told.left_out);
    }
    assert!(told.records.iter().all(|record| record.fault == 1), "mirrored images alone");
}
