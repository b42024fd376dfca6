//! Pinned scenes: each is the one that was pinned.

use crate::campaigns::{parse, run};
use faultlens_campaign::OpenCampaign;
use faultlens_campaign::pin::Pin;
use faultlens_campaign::replay::Rerun;
use faultlens_core::{Outcome, OutcomeKind};

#[test]
fn a_pin_repeats_the_scene_that_was_pinned() {
    let dir = tempfile::tempdir().unwrap();
    let text = "
targets: [{name: boxes, model: 'world:detector'}]
cases: {data: 'world:scenes:66'}
oracle: {name: same_detections, score_band: 0}
faults: [{fault: remove_object, trials: 2}]
";
    let records = run(dir.path(), "run", text, 2);
    let rerun = Rerun::open(&dir.path().join("run")).unwrap();
    let open = OpenCampaign::open(parse(dir.path(), text)).unwrap();
    let mut told_apart = 0;
    for both in records.chunks(2) {
        for record in both {
            let pin = rerun.pin(&record.number.to_string(), None);
            if let Outcome::Skipped(reason) = &record.outcome {
                let error = pin.unwrap_err().to_string();
                assert!(error.contains("was not judged") && error.contains(&reason.to_string()));
                continue;
            }
            let pin = pin.unwrap();
            assert_eq!(pin.repeat, Some(record.repeat));
            assert_eq!(pin.replay(&open).outcome, record.outcome.kind().name(), "{record:?}");
            let unsaid = Pin { repeat: None, ..pin }.replay(&open);
            assert_eq!(unsaid.outcome, OutcomeKind::Skipped.name());
            assert!(unsaid.reason.unwrap().contains("pin it again with faultlens promote"));
        }
        let kinds = [0, 1].map(|at| both[at].outcome.kind());
        told_apart += usize::from(kinds == [OutcomeKind::Unchanged, OutcomeKind::Changed]);
    }
    assert!(told_apart > 0, "in no case does the second scene alone change the answer");
}
