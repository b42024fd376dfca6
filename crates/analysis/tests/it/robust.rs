//! Wrong answers under faults in images, counted by hand.

use crate::sample::{Run, fault, golden};
use faultlens_analysis::{Mean, Verdict};

/// Ten cases of a stop sign. Undisturbed, `small` is wrong on two and `large` on none; noise of
/// severities 1 and 5 makes `small` wrong on 4 and 8, `large` on 1 and 5, fog on 2 and 1.
fn run(reference: &str) -> Run {
    let mut run = Run::new(&["small", "large"], 10, "");
    run.yaml = run.yaml.replace(
        "targets: [{model: a.onnx, name: small}]",
        &format!(
            "targets: [{{model: a.onnx, name: small}}, {{model: b.onnx, name: large}}]\n{reference}"
        ),
    );
    let graded = |name: &str, severity: f64| {
        let mut point = fault(name, "severity", severity, 1);
        point.settings.insert("severity".to_owned(), severity.into());
        point
    };
    run.manifest.faults = vec![
        graded("gaussian_noise", 1.0),
        graded("gaussian_noise", 5.0),
        graded("fog", 3.0),
        // A control, which has no severity.
        fault("unchanged", "severity", 1.0, 1),
    ];
    for (target, wrong) in [(0, [4, 8, 2, 10]), (1, [1, 5, 1, 0])] {
        for case in 0..10 {
            let right = target == 1 || case >= 2;
            let answer = if right { "stop" } else { "yield" };
            let known = golden(target, case, answer);
            let truth = Some("stop".into());
            run.goldens.push(faultlens_record::GoldenRecord {
                correct: Some(right),
                truth,
                ..known
            });
        }
        for (fault, wrong) in (0..).zip(wrong) {
            let from = run.records.len();
            run.add((target, fault), 1, |case, _| case < wrong);
            for record in &mut run.records[from..] {
                let right = record.case >= wrong;
                record.answer = Some(if right { "stop" } else { "tree" }.into());
            }
        }
    }
    run
}

#[test]
fn errors_are_counted_by_severity_and_beside_the_reference() {
    let summary = run("reference: large").summarised(&[]).unwrap();
    let [small, large] = &summary.images.robustness[..] else {
        panic!("{:?}", summary.images.robustness)
    };
    assert_eq!((small.target.as_str(), small.clean.value), ("small", Some(0.2)));
    let errors = |at: usize| {
        let fault = &small.faults[at];
        let errors: Vec<_> =
            fault.errors.iter().map(|(s, rate)| (*s, rate.events, rate.n)).collect();
        (fault.fault.as_str(), errors, (10.0 * fault.mean).round())
    };
    assert_eq!(errors(0), ("fog", vec![(3.0, 2, 10)], 2.0));
    assert_eq!(errors(1), ("gaussian_noise", vec![(1.0, 4, 10), (5.0, 8, 10)], 6.0));
    let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-12;
    // Each fault counts the same, whatever the number of its severities.
    let mean = |mean: Option<Mean>| mean.and_then(|mean| mean.value);
    assert!(near(mean(small.mean_accuracy), (0.8 + 0.4) / 2.0));
    assert!(near(mean(small.kept), 0.6 / 0.8));
    assert!(small.unlike_severities);
    // Ten images are resampled; the mean of three rates of the same images varies with them.
    let accuracy = small.mean_accuracy.unwrap();
    assert!(accuracy.low < 0.5 && accuracy.high > 0.7 && accuracy.n == 10, "{accuracy:?}");
    assert!(near(small.faults[0].relative, 0.2 / 0.1) && near(small.faults[1].relative, 2.0));
    assert!(near(mean(small.mean_relative), 2.0) && near(mean(large.mean_relative), 1.0));
}

#[test]
fn without_a_reference_or_a_truth_nothing_is_made_up() {
    let summary = run("").summarised(&[]).unwrap();
    assert!(summary.images.robustness.iter().all(|one| one.mean_relative.is_none()));
    let mut unknown = run("");
    unknown.goldens.iter_mut().for_each(|golden| golden.truth = None);
    assert!(unknown.summarised(&[]).unwrap().images.robustness.is_empty());
    // A trial that a guard barred was never asked.
    let mut barred = run("");
    barred.records.iter_mut().for_each(|record| record.cost.queries = 0);
    assert!(barred.summarised(&[]).unwrap().images.robustness.is_empty());
}

/// Of `small` 16 of 30 answers under faults are right, of 8 of 10 without; the means are those above.
#[test]
fn quality_can_be_required() {
    let more = "reference: large
requirements:
  - {metric: accuracy, at_least: 0.1, where: {target: small}}
  - {metric: accuracy, at_least: 0.9, where: {target: small}}
  - {metric: accuracy_drop, at_most: 0.9, where: {target: small}}
  - {metric: mpc, at_least: 0.05}
  - {metric: rpc, at_least: 0.99}
  - {metric: mce, at_most: 90, where: {target: small}}
  - {metric: accuracy, at_least: 0.1, by: target}
  - {metric: ap, at_least: 0.5}";
    let summary = run(more).summarised(&[]).unwrap();
    let checked: Vec<_> = summary
        .checks
        .requirements
        .iter()
        .map(|one| (one.verdict, one.rate.value.map(|value| (1000.0 * value).round())))
        .collect();
    let met = Verdict::Met;
    assert_eq!(checked[0], (met, Some(533.0)));
    assert_eq!(checked[1].0, Verdict::NotMet);
    assert_eq!(checked[2], (met, Some(267.0)));
    // The worst of both targets.
    assert_eq!(checked[3], (met, Some(600.0)));
    assert_eq!((checked[4].1, summary.checks.requirements[4].groups), (Some(750.0), 2));
    assert_eq!(checked[5], (met, Some(2000.0)));
    let by_target = &summary.checks.requirements[6];
    assert_eq!((by_target.group.as_deref(), by_target.groups), (Some("small"), 2));
    assert!(by_target.rate.low < summary.checks.requirements[0].rate.low, "{by_target:?}");
    // Nothing here has boxes.
    assert_eq!(checked[7], (Verdict::Inconclusive, None));
}

/// On these images a drop is exact only where faults draw nothing: noise and fog would come out
/// differently if they were drawn again.
#[test]
fn a_drop_on_these_images_knows_what_was_drawn() {
    let more = "requirements:
  - {metric: accuracy_drop, at_most: 0.28, population: these_images, where: {target: small}}";
    let drawn = run(more).summarised(&[]).unwrap();
    let checked = &drawn.checks.requirements[0];
    assert_eq!(checked.verdict, Verdict::Inconclusive, "{checked:?}");
    assert!(checked.rate.low < 0.2 && checked.rate.high > 0.35, "{checked:?}");
    let mut fixed = run(more);
    let from = fixed.yaml.find("faults:").unwrap();
    fixed.yaml.truncate(from);
    fixed.yaml.push_str("faults: [{fault: brightness, severity: [1, 2, 3, 4]}]\n");
    let fixed = fixed.summarised(&[]).unwrap();
    let checked = &fixed.checks.requirements[0];
    assert_eq!((checked.verdict, checked.rate.is_exact()), (Verdict::Met, true), "{checked:?}");
}
