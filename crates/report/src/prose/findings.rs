//! What a run found, in one or two sentences each.

use super::checks::measured;
use super::detection::average_precision;
use super::preserve::{preserved_name, preserved_scores};
use super::scenes::{changed_scenes, placement};
use faultlens_analysis::format::{self, count, counted, percent, rate};
use faultlens_analysis::{
    Checks, CriticalBits, CriticalLayer, Curve, DetectionPoint, Family, Finding, GroupRow,
    OverallFinding, Ranking, Rate, Summary, Verdict, WeakestGroup,
};
use faultlens_core::OutcomeKind;

/// Requirements that a finding names.
const MOST_NAMED: usize = 3;

/// The findings of a run, the most important first.
pub fn findings(summary: &Summary) -> Vec<String> {
    summary.findings().iter().filter_map(sentence).collect()
}

fn sentence(finding: &Finding<'_>) -> Option<String> {
    Some(match finding {
        Finding::NothingJudged => "No trial could be judged yet.".to_owned(),
        Finding::Overall(overall) => of_all_trials(overall),
        Finding::Verdict(checks) => verdict(checks)?,
        Finding::FurthestBelowPeople(worst) => format!(
            "Furthest below human performance: {}, {}.",
            preserved_name(worst),
            preserved_scores(worst)
        ),
        Finding::ChangedScenes(total) => return changed_scenes(total),
        Finding::Placement(effect) => return placement(effect),
        Finding::WithoutFaults { accuracy, precision } => without_faults(accuracy, precision),
        Finding::WeakestGroup(weakest) => weakest_group(weakest),
        Finding::ProtectFirst { ranking, enough, several_targets } => {
            protect_first(ranking, *enough, *several_targets)
        }
        Finding::DominantBit { bit, share, changed } => format!(
            "Bit {bit} alone accounts for {}% of the {} predictions that bit flips changed.",
            percent(*share),
            count(*changed)
        ),
        Finding::CriticalBits(found) => critical_bits(found),
        Finding::SteepestCurve(curve) => return steepest_curve(curve),
        Finding::Skipped { trials, reason } => {
            let reason = format::reason(reason);
            format!("{} were skipped, mostly because {reason}.", counted(*trials, "trial"))
        }
    })
}

/// What decided the verdict; `None` where the verdict itself says all.
fn verdict(checks: &Checks) -> Option<String> {
    let (lead, which) = match checks.verdict? {
        Verdict::Met => return None,
        Verdict::NotMet => ("Not met", Verdict::NotMet),
        Verdict::Inconclusive => ("Not decided", Verdict::Inconclusive),
    };
    let of = checks.requirements.iter().filter(|one| one.verdict == which);
    let mut named: Vec<String> = of
        .map(|one| {
            let images = counted(one.rate.images, "image");
            format!("{} (measured {} on {images})", one.requirement, measured(one))
        })
        .collect();
    let more = named.len().saturating_sub(MOST_NAMED);
    named.truncate(MOST_NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("{lead}: {}{more}.", named.join("; ")))
}

fn of_all_trials(overall: &OverallFinding<'_>) -> String {
    let targets = match overall.targets {
        [only] => only.name.clone(),
        several => format!("{} targets", several.len()),
    };
    let more = match overall.recorded {
        Some(recorded) => format!(
            " (the repeats that all faults have in common; the stop rule ran more of some, {} in \
             total)",
            count(recorded)
        ),
        None => String::new(),
    };
    let mut others = Vec::new();
    for (kind, share) in &overall.others {
        let what = match kind {
            OutcomeKind::Detected => "were detected (not finite, or rejected)",
            OutcomeKind::TimedOut => "timed out",
            other => other.name(),
        };
        others.push(format!("{}% {what}", percent(*share)));
    }
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    let family = overall.family.map(|family| format!("{}: in", family_name(family)));
    let worst = overall.worst.map(|worst| {
        format!(" The worst is {} on {} with {}.", worst.point, worst.target, rate(&worst.rate))
    });
    format!(
        "{} {} on {targets}{more}, {} changed the prediction{others}.{}",
        family.as_deref().unwrap_or("In"),
        counted(overall.rate.n, "judged trial"),
        rate(&overall.rate),
        worst.unwrap_or_default()
    )
}

/// What a family of faults is called.
pub(crate) fn family_name(family: Family) -> &'static str {
    match family {
        Family::InsideModel => "Inside the model",
        Family::Images => "Image faults",
        Family::Attacks => "Attacks",
        Family::Scenes => "Changed scenes",
    }
}

fn without_faults(accuracy: &[(&str, Rate)], precision: &[(&str, &DetectionPoint)]) -> String {
    let mut known = Vec::new();
    for (target, accuracy) in accuracy {
        known.push(format!("the accuracy of {target} is {}", rate(accuracy)));
    }
    for (target, point) in precision {
        let precision = average_precision(point).unwrap_or_default();
        known.push(format!("{target} detects objects with {precision}"));
    }
    format!("Without faults, {}.", known.join("; "))
}

fn weakest_group(weakest: &WeakestGroup<'_>) -> String {
    let name = weakest.row.name();
    let lead = match weakest.attribute {
        "operator" => {
            let of = weakest.target.map(|target| format!(" of {target}")).unwrap_or_default();
            format!("{name} is the weakest operator{of}")
        }
        "target" => format!("{name} is the weakest target"),
        _ => format!("{name} has the highest failure rate"),
    };
    let lead = match weakest.family {
        Some(family) => format!("{}: {lead}", family_name(family)),
        None => lead,
    };
    let own = &weakest.row.tally.rate;
    format!(
        "{lead}. The prediction changed in {} of {} ({}); in all other trials, in {}%{}.",
        count(own.events),
        counted(own.n, "trial"),
        rate(own),
        percent(weakest.others),
        higher(&weakest.higher)
    )
}

/// That charts show groups above the weakest one, which have too few trials.
fn higher(higher: &[&GroupRow]) -> String {
    let Some(first) = higher.first() else { return String::new() };
    let first = format!("{} ({})", first.name(), counted(first.tally.rate.n, "trial"));
    match higher.len() - 1 {
        0 => format!("; {first} has a higher rate, but too few trials to be sure"),
        more => {
            format!("; {first} and {more} more have a higher rate, but too few trials to be sure")
        }
    }
}

fn protect_first(ranking: &Ranking, enough: usize, several_targets: bool) -> String {
    let Ranking { attribute, of, rows, target } = ranking;
    let names: Vec<&str> = rows.iter().take(enough).map(|row| row.name.as_str()).collect();
    let names = if enough <= 3 { format!(" ({})", names.join(", ")) } else { String::new() };
    let on = if several_targets { format!(" of {target}") } else { String::new() };
    format!(
        "Protecting the top {enough} of {of} {attribute}s{on}{names} prevents {} of the {} changed \
         predictions.",
        rate(&rows[enough - 1].together),
        count(rows[enough - 1].together.n)
    )
}

fn critical_bits(found: &CriticalBits) -> String {
    let CriticalLayer { mean, share, .. } = &found.all;
    format!(
        "An element of {} has {} critical bits on average over {} ({}): {} of all flips change the \
         prediction or make it non-finite. The search took {} queries instead of {}.",
        found.target,
        format::mean(mean),
        counted(mean.n, "element"),
        found.point,
        rate(share),
        count(found.queries),
        count(found.exhaustive)
    )
}

fn steepest_curve(curve: &Curve) -> Option<String> {
    let (low, first) = curve.points.first()?;
    let (high, last) = curve.points.last()?;
    let axis = &curve.axis;
    Some(format!(
        "{} on {} rises from {} at {axis} {low} to {} at {axis} {high}.",
        curve.fault,
        curve.target,
        rate(first),
        rate(last)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_analysis::Tally;

    #[test]
    fn groups_with_few_trials_are_named_where_their_rate_is_higher() {
        let row = |key: &str, n: u64| GroupRow {
            key: key.to_owned(),
            tally: Tally { rate: Rate { n, ..Rate::default() }, ..Tally::default() },
            ..GroupRow::default()
        };
        let mirror = row("mirror", 10);
        let fog = row("fog", 1);
        assert_eq!(higher(&[]), "");
        assert_eq!(
            higher(&[&mirror]),
            "; mirror (10 trials) has a higher rate, but too few trials to be sure"
        );
        assert_eq!(
            higher(&[&fog, &mirror]),
            "; fog (1 trial) and 1 more have a higher rate, but too few trials to be sure"
        );
    }
}
