//! What to do about the findings, one or two sentences each.

use faultlens_analysis::format::{self, count, counted, number};
use faultlens_analysis::{Benefit, DefenceEffect, Fairness, LostObjects, Recommendation, Summary};

/// Faults that a sentence names, at most.
const MOST_NAMED: usize = 5;

/// The recommendations for a run.
pub fn recommendations(summary: &Summary) -> Vec<String> {
    summary.recommendations().iter().map(sentence).collect()
}

fn sentence(recommendation: &Recommendation<'_>) -> String {
    match recommendation {
        Recommendation::PlanFor { high, low, several_targets } => {
            plan_for(high, low, *several_targets)
        }
        Recommendation::ValidateInputs(targets) => {
            let targets: Vec<String> =
                targets.iter().map(|(name, mean)| format!("{name} {}", percent(*mean))).collect();
            format!(
                "Predictions change even at the lowest severity of each fault: {}; validate inputs \
                 before inference.",
                targets.join(", ")
            )
        }
        Recommendation::ChooseTarget { best, worst, faults } => format!(
            "Choose the target with care: {} changes {} of its predictions, {} {}; under {} their \
             intervals do not overlap.",
            best.0,
            percent(best.1),
            worst.0,
            percent(worst.1),
            counted(*faults, "fault")
        ),
        Recommendation::UseTopFive { target, first, fifth } => format!(
            "Use more than the top-1 prediction where the task allows it: with the top 5 of \
             {target}, {} instead of {} of the trials lose the clean top-1 prediction.",
            percent(*fifth),
            percent(*first)
        ),
        Recommendation::InspectScenes { changed, retrain } => format!(
            "Inspect the {} in which other detections changed: faultlens findings exports them as \
             a data set with both predictions drawn{}.",
            counted(*changed, "changed scene"),
            if *retrain {
                "; faultlens retrain measures whether training on them helps"
            } else {
                ""
            }
        ),
        Recommendation::RaiseThreshold { target, lost } => raise_threshold(target, lost),
        Recommendation::Defence { benefit, effect, fewer_wrong } => {
            defence(benefit, *effect, *fewer_wrong)
        }
        Recommendation::Fairness { fairness: one, clean_differs, configurations } => {
            fairness(one, *clean_differs, *configurations)
        }
    }
}

fn percent(share: f64) -> String {
    format!("{}%", format::percent(share))
}

fn plan_for(high: &[(&str, f64)], low: &[(&str, f64)], several_targets: bool) -> String {
    // Charts pool the trials of all targets instead.
    let means = if several_targets { " (means over the targets)" } else { "" };
    if low.is_empty() {
        format!("Plan for {}{means}: these faults change predictions most often.", named(high))
    } else if high.is_empty() {
        format!("Low impact: {}{means}.", named(low))
    } else {
        format!("Plan for {} first; low impact: {}{means}.", named(high), named(low))
    }
}

/// "fog (50.0%), rain (43.1%)".
fn named(faults: &[(&str, f64)]) -> String {
    let mut names = Vec::new();
    for (name, share) in faults.iter().take(MOST_NAMED) {
        names.push(format!("{name} ({})", percent(*share)));
    }
    names.join(", ")
}

fn raise_threshold(target: &str, lost: &LostObjects) -> String {
    format!(
        "{} of {} that {target} lost in changed scenes had a clean score within {} of the lowest \
         that it reports ({}): it was unsure of them before. If you need confident detections \
         only, raise the threshold of the target; inspect the other lost objects first.",
        count(lost.unsure),
        counted(lost.all, "object"),
        LostObjects::NEAR,
        number(lost.least, 2)
    )
}

fn defence(benefit: &Benefit, effect: DefenceEffect, fewer_wrong: f64) -> String {
    let verdict = match effect {
        DefenceEffect::Helps => "helps",
        DefenceEffect::Harms => "harms",
        DefenceEffect::NotSignificant => "makes no significant difference",
    };
    format!(
        "{} before {} {verdict}: {} percentage points {} wrong predictions over all faults; the \
         table shows which faults it helps with.",
        benefit.defences,
        benefit.plain,
        number(100.0 * fewer_wrong.abs(), 3),
        if fewer_wrong < 0.0 { "more" } else { "fewer" }
    )
}

fn fairness(fairness: &Fairness, clean_differs: bool, configurations: u64) -> String {
    format!(
        "Fairness of {} by {}: without faults, true positive rates {}; under faults they differ in \
         {configurations} of {} (Holm's correction over {} tests).",
        fairness.target,
        fairness.by,
        if clean_differs { "differ" } else { "do not differ significantly" },
        counted(fairness.points.len() as u64, "configuration"),
        fairness.tests
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_with_their_shares() {
        let high = [("fog", 0.5)];
        let low = [("jpeg", 0.01)];
        let plan = plan_for(&high, &[], false);
        assert_eq!(plan, "Plan for fog (50.0%): these faults change predictions most often.");
        assert_eq!(plan_for(&[], &low, true), "Low impact: jpeg (1.0%) (means over the targets).");
        let both = "Plan for fog (50.0%) first; low impact: jpeg (1.0%).";
        assert_eq!(plan_for(&high, &low, false), both);
    }

    #[test]
    fn unsure_objects_are_counted_with_the_lowest_score() {
        let said = raise_threshold("eye", &LostObjects { all: 40, least: 0.3, unsure: 30 });
        assert!(said.starts_with("30 of 40 objects that eye lost"), "{said}");
        assert!(said.contains("within 0.05 of the lowest that it reports (0.3)"), "{said}");
    }
}
