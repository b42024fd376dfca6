//! Objects found under faults in images, counted by hand.

use crate::sample::{Run, fault, golden};
use faultlens_analysis::Finding;
use faultlens_record::{FoundObject, GoldenScene, KnownObject, Measures};

const KNOWN: KnownObject =
    KnownObject { class: 5, crowd: false, left: 0.0, top: 0.0, width: 10.0, height: 10.0 };
const OBJECT: FoundObject =
    FoundObject { class: 5, score: 0.9, left: 0.0, top: 0.0, width: 10.0, height: 10.0 };

/// Ten cases with an object each. Undisturbed all are found; noise of severities 1 and 5 loses 4 and
/// 8 of them, fog 2, and the control none.
fn run() -> Run {
    let mut run = Run::new(&["small"], 10, "");
    let graded = |name: &str, severity: f64| {
        let mut point = fault(name, "severity", severity, 1);
        point.settings.insert("severity".to_owned(), severity.into());
        point
    };
    run.manifest.faults = vec![
        graded("gaussian_noise", 1.0),
        graded("gaussian_noise", 5.0),
        graded("fog", 3.0),
        fault("unchanged", "level", 1.0, 1),
    ];
    for case in 0..10 {
        let scene = Some(GoldenScene { known: vec![KNOWN], found: vec![OBJECT] });
        let known = golden(0, case, "1 object");
        run.goldens.push(faultlens_record::GoldenRecord { scene, ..known });
    }
    for (fault, lost) in (0..).zip([4, 8, 2, 0]) {
        let from = run.records.len();
        run.add((0, fault), 1, |case, _| case < lost);
        for record in &mut run.records[from..] {
            let found = if record.case < lost { vec![] } else { vec![OBJECT] };
            record.measures.found = Some(found);
        }
    }
    run
}

#[test]
fn average_precision_is_of_all_cases_together() {
    let summary = run().summarised(&[]).unwrap();
    let [small] = &summary.images.detection[..] else { panic!("{:?}", summary.images.detection) };
    assert_eq!((small.target.as_str(), small.cases, small.points.len()), ("small", 10, 4));
    let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-12;
    // What is found is found with full precision: one more recall of 101 for each hundredth.
    for (point, lost) in small.points.iter().zip([4u32, 8, 2, 0]) {
        let recalls = f64::from(101 - 10 * lost) / 101.0;
        assert!(near(point.ap.value, recalls) && near(point.ap50, recalls), "{point:?}");
        assert_eq!((point.errors["Miss"], point.errors["Loc"]), (lost.into(), 0));
        let (low, high) = (point.ap.low, point.ap.high);
        assert!(low <= recalls && recalls <= high && high - low < 0.8, "{point:?}");
    }
    assert!(near(small.clean.ap.value, 1.0) && small.clean.fault.is_none());
    // Each fault counts the same, whatever the number of its severities; controls do not.
    let wanted = ((61.0 + 21.0) / 2.0 + 81.0) / 2.0 / 101.0;
    let (mean, kept) = (small.mean_ap.unwrap(), small.kept.unwrap());
    assert!(near(mean.value, wanted) && near(kept.value, wanted), "{mean:?} {kept:?}");
    assert!(mean.low < wanted && wanted < mean.high, "{mean:?}");
    assert_eq!(run().summarised(&[]).unwrap().images.detection, summary.images.detection);
}

#[test]
fn without_objects_nothing_is_made_up() {
    let mut unknown = run();
    unknown.goldens.iter_mut().for_each(|golden| golden.scene = None);
    assert!(unknown.summarised(&[]).unwrap().images.detection.is_empty());
    let mut other = run();
    other.records.iter_mut().for_each(|record| record.measures = Measures::default());
    // The undisturbed answers are known whatever the faults are.
    let summary = other.summarised(&[]).unwrap();
    let small = &summary.images.detection[0];
    assert!(small.clean.ap.value > Some(1.0 - 1e-9) && small.points.is_empty());
    assert_eq!((small.mean_ap, small.kept), (None, None));
    let without_faults = summary.findings().into_iter().find_map(|finding| match finding {
        Finding::WithoutFaults { precision, .. } => Some(precision),
        _ => None,
    });
    assert_eq!(without_faults, Some(vec![("small", &small.clean)]));
}
