//! Requirements: what they speak of, and when they are met.

use crate::sample::Run;
use faultlens_analysis::Verdict;
use faultlens_spec::Campaign;
use faultlens_spec::{FitLimit, Population, Quantity};
use std::path::Path;

/// A run in which nothing deviates, with one requirement.
fn run(filter: &str) -> Run {
    let more = format!(
        "requirements: [{{rate: changed, at_most: 0.1, population: these_images, \
         where: {{{filter}}}}}]"
    );
    let mut run = Run::new(&["small"], 4, &more);
    for (fault, repeats) in [(0, 100), (1, 100), (2, 1)] {
        run.add((0, fault), repeats, |_, _| false);
    }
    run
}

#[test]
fn only_a_whole_run_meets_a_requirement() {
    let checked = |run: &Run| {
        let summary = run.summarised(&[]).unwrap();
        let checked = summary.checks.requirements[0].clone();
        assert_eq!(summary.checks.verdict, Some(checked.verdict));
        (checked.verdict, checked.complete, checked.missing.open)
    };
    let mut run = run("");
    assert_eq!(checked(&run), (Verdict::Met, true, 0));
    run.manifest.shard = Some((1, 2));
    assert_eq!(checked(&run).0, Verdict::Inconclusive);
    assert!(!checked(&run).1);
    run.manifest.shard = None;
    // A few that are open change little; more than 5% may change everything.
    run.complete = false;
    run.manifest.planned = run.records.len() as u64 + 40;
    assert_eq!(checked(&run), (Verdict::Met, true, 40));
    run.manifest.planned += 10;
    assert_eq!(checked(&run), (Verdict::Inconclusive, true, 50));
    // A stop rule that still looks may stop elsewhere.
    run.manifest.planned -= 10;
    run.manifest.stop = Some("until every rate is known".to_owned());
    assert_eq!(checked(&run).0, Verdict::Inconclusive);
    run.manifest.stop = None;
    // Cases run in their order, so that those so far may be the worst of all.
    run.records.clear();
    run.add((0, 0), 100, |_, _| true);
    assert_eq!(checked(&run), (Verdict::Inconclusive, true, 444));
    run.complete = true;
    assert_eq!(checked(&run), (Verdict::NotMet, true, 0));
}

#[test]
fn a_limit_for_new_images_needs_images() {
    let verdict = |cases: u32, changed: u32| {
        let more = "requirements: [{rate: changed, at_most: 0.1}]";
        let mut run = Run::new(&["small"], cases, more);
        run.add((0, 0), 50, |case, _| case < changed);
        let summary = run.summarised(&[]).unwrap();
        let checked = &summary.checks.requirements[0];
        (checked.verdict, checked.rate.population, checked.rate.images)
    };
    // However many trials they have, nine images say nothing about others.
    assert_eq!(verdict(9, 0), (Verdict::Inconclusive, Population::TheseImages, 9));
    // The rule of three: none of 30 leaves room for one in ten, none of 40 does not.
    assert_eq!(verdict(30, 0), (Verdict::Inconclusive, Population::NewImages, 30));
    assert_eq!(verdict(40, 0), (Verdict::Met, Population::NewImages, 40));
    assert_eq!(verdict(40, 20).0, Verdict::NotMet);
    assert_eq!(verdict(40, 4).0, Verdict::Inconclusive);
}

#[test]
fn requirements_find_their_trials_however_they_are_written() {
    for (filter, n) in [
        ("", 804),
        ("severity: 5.0", 4),
        ("severity: 5", 4),
        ("fault: bit_flip", 800),
        ("fault: bit_flip bit=30", 400),
        ("point: bit_flip bit=30", 400),
        ("label: stop", 804),
        ("case: image 3", 201),
        ("outcome: unchanged", 804),
    ] {
        let summary = run(filter).summarised(&[]).unwrap();
        assert_eq!(summary.checks.requirements[0].rate.n, n, "{filter}");
    }
}

#[test]
fn a_requirement_that_speaks_of_no_trial_is_a_mistake() {
    let speaks = "a requirement speaks of";
    for (filter, wanted) in [
        ("labl: stop", "trials have no attribute \"labl\"; did you mean \"label\"?".to_owned()),
        ("label: stopp", format!("{speaks} label \"stopp\", which no trial has; did you mean")),
        ("severity: 4", format!("{speaks} severity \"4\", which no trial has; known is 5")),
        ("point: bit_flip bit=32", format!("{speaks} point \"bit_flip bit=32\"")),
        ("case: image 9", format!("{speaks} case \"image 9\"")),
        ("outcome: mask", format!("{speaks} outcome \"mask\"")),
        // Only a fault inside the model has a place there.
        ("operator: Conv", "trials have no attribute \"operator\"; known are".to_owned()),
    ] {
        let error = run(filter).summarised(&[]).unwrap_err().to_string();
        assert!(error.starts_with(&wanted), "{filter}: {error}");
    }
}

#[test]
fn what_later_trials_may_have_is_no_mistake_yet() {
    let mut run = run("light: night");
    run.complete = false;
    let summary = run.summarised(&[]).unwrap();
    assert_eq!(summary.checks.requirements[0].verdict, Verdict::Inconclusive);
    // Doses are known from the start.
    let mut run = self::run("severity: 4");
    run.complete = false;
    assert!(run.summarised(&[]).is_err());
}

#[test]
fn failures_in_time_are_read_and_checked() {
    let campaign = |requirement: &str| {
        let text = format!(
            "targets: [{{model: 'world:signs-shallow', traits: {{depth: 3, optimiser: adam}}}}]\n\
             cases: {{data: 'world:signs:4'}}\nfaults: [{{fault: bit_flip}}]\n\
             requirements:\n  - {requirement}\n"
        );
        Campaign::parse(&text, Path::new("c.yaml"))
    };
    let good = campaign("{fit: {raw: 100, share: 0.5}, at_most: 10}").unwrap();
    let fit = FitLimit { raw: 100.0, share: 0.5 };
    assert_eq!(good.requirements[0].quantity, Quantity::Fit(fit));
    assert_eq!(good.targets[0].traits["depth"], "3");
    assert_eq!(good.targets[0].traits["optimiser"], "adam");
    for (requirement, at, wanted) in [
        ("{at_most: 0.1}", "5:5", "requirements needs rate, fit or metric"),
        (
            "{rate: failed, at_most: 10}",
            "5:29",
            "at_most takes a number above 0 and up to 1, not 10",
        ),
        (
            "{rate: failed, fit: {raw: 1}, at_most: 1}",
            "5:25",
            "a requirement limits a rate, fit or a metric",
        ),
        ("{fit: {share: 1}, at_most: 1}", "5:11", "fit needs raw"),
        ("{fit: {raw: 0}, at_most: 1}", "5:17", "raw takes a number above 0"),
        (
            "{fit: {raw: 9, share: 2}, at_most: 1}",
            "5:27",
            "share takes a number above 0 and up to 1",
        ),
        ("{fit: {raw: 9, shar: 1}, at_most: 1}", "5:20", "fit has no key \"shar\"; did you mean"),
        ("{rate: changed}", "5:5", "a requirement needs at_most: the limit"),
        ("{metric: accuracy, at_most: 0.9}", "5:33", "limited by at_least, not by at_most"),
        ("{metric: acuracy, at_least: 0.9}", "5:14", "did you mean \"accuracy\"?"),
        ("{metric: mpc, at_least: 0.9, where: {label: a}}", "5:49", "not by label"),
        ("{metric: mce, at_most: 101}", "5:28", "up to 100"),
        ("{fit: 9, at_most: 1}", "5:11", "fit takes keys such as raw"),
    ] {
        let error = campaign(requirement).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains(at), "{requirement}: {error}");
    }
}
