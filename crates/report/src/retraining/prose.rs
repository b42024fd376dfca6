//! Findings of an experiment as text for terminals and pages.

use faultlens_analysis::retraining::{
    Configuration, Difference, Findings, Known, Metric, Retraining, Standing,
};

/// Shares as percent: `31.2 [29.0, 33.4]`.
pub fn percent(known: &Known) -> String {
    with_interval(known, |share| signed(format!("{:.1}", 100.0 * share)))
}

/// Differences of shares as points: `+1.2 [−0.3, +2.7]`.
pub fn points(known: &Known) -> String {
    with_interval(known, |share| signed(format!("{:+.1}", 100.0 * share)))
}

/// A minus as people write it, and none before a zero.
fn signed(text: String) -> String {
    match text.as_str() {
        "-0.0" | "+0.0" => "0.0".to_owned(),
        text => text.replace('-', "−"),
    }
}

fn with_interval(known: &Known, number: impl Fn(f64) -> String) -> String {
    let Some(mean) = known.mean else { return "–".to_owned() };
    match known.interval {
        Some([low, high]) => format!("{} [{}, {}]", number(mean), number(low), number(high)),
        None => number(mean),
    }
}

/// The standing of a difference in words.
pub fn standing(of: Standing) -> &'static str {
    match of {
        Standing::Better => "better",
        Standing::Worse => "worse",
        Standing::Undecided => "no difference that these seeds could show",
    }
}

/// The answer to the experiment's question, by COCO's AP; a number is called better or worse only
/// where its interval says so.
pub fn conclusions(of: &Findings) -> Vec<String> {
    let differences = of.differences.iter().filter(|one| one.metric == Metric::Ap);
    differences.filter(|one| one.known.mean.is_some()).map(sentence).collect()
}

fn sentence(of: &Difference) -> String {
    let against = match of.less {
        Configuration::Unchecked => "unchecked scenes",
        _ => "the originals alone",
    };
    let points = points(&of.known);
    let metric = of.metric.name();
    match of.standing {
        Standing::Undecided => format!(
            "Failing scenes and {against} cannot be told apart: {points} points of {metric}."
        ),
        other => format!(
            "Failing scenes are {} than {against}: {points} points of {metric}.",
            standing(other)
        ),
    }
}

/// What to know before one trusts the numbers.
pub fn cautions(of: &Retraining) -> Vec<String> {
    let mut all = Vec::new();
    if !of.is_complete() {
        let done = of.seeds.len();
        let planned = of.plan.seeds;
        all.push(format!("{done} of {planned} seeds are done; run the same command to resume."));
    }
    if of.seeds.len() == 1 {
        all.push("One seed has no interval, and decides nothing.".to_owned());
    }
    for seed in of.seeds.iter().filter(|seed| seed.used.failing_used < seed.scenes) {
        all.push(format!(
            "Seed {}: only {} different scenes fail for {} originals, so that all are used, and some \
             of them again.",
            seed.seed, seed.used.different, seed.scenes
        ));
    }
    for seed in of.seeds.iter().filter(|seed| seed.used.unchecked_used < seed.scenes) {
        all.push(format!(
            "Seed {}: only {} scenes could be changed for {} originals, so that some are used again.",
            seed.seed, seed.used.unchecked_used, seed.scenes
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_with_their_intervals() {
        let known = |mean, interval| Known { mean, interval, n: 3 };
        for (known, shares, differences) in [
            (known(Some(0.3124), Some([0.29, 0.334])), "31.2 [29.0, 33.4]", "+31.2 [+29.0, +33.4]"),
            (known(Some(-0.01), Some([-0.02, 0.0001])), "−1.0 [−2.0, 0.0]", "−1.0 [−2.0, 0.0]"),
            (known(Some(0.5), None), "50.0", "+50.0"),
            (known(None, None), "–", "–"),
        ] {
            assert_eq!((percent(&known).as_str(), points(&known).as_str()), (shares, differences));
        }
    }

    #[test]
    fn only_an_interval_makes_better_or_worse() {
        let known = Known { mean: Some(0.05), interval: Some([0.01, 0.09]), n: 5 };
        for (standing, wanted) in [
            (Standing::Better, "Failing scenes are better than the originals alone: +5.0 [+1.0"),
            (Standing::Worse, "are worse than"),
            (Standing::Undecided, "cannot be told apart"),
        ] {
            let text = sentence(
                &(Difference {
                    of: Configuration::Failing,
                    less: Configuration::Originals,
                    metric: Metric::Ap,
                    known,
                    standing,
                }),
            );
            assert!(text.contains(wanted), "{text}");
        }
    }
}
