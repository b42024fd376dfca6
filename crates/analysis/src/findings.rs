//! What a run found, in plain words.

use super::attribute::Context;
use super::format::{self, count, counted, percent, rate};
use super::words::{self, CHANCE};
use super::{
    CriticalBits, CriticalLayer, GroupRow, Grouping, Preserved, Ranking, Rate, Summary, Verdict,
};

/// Trials that a group must have before it is called the weakest.
const ENOUGH: u64 = 20;

/// The findings, the most important first.
pub(super) fn findings(summary: &Summary, context: &Context) -> Vec<String> {
    let mut findings: Vec<String> = opening(summary, context).into_iter().collect();
    findings.extend(verdict(summary));
    findings.extend(farthest(summary));
    let totals = summary.scene_totals.iter();
    findings.extend(totals.filter(|one| one.target.is_some()).filter_map(words::changed_scenes));
    let placed = summary.placed.iter().filter(|one| one.p_value < CHANCE);
    findings.extend(placed.filter_map(words::placed));
    findings.extend(accuracy(summary));
    for attribute in ["operator", "point", "target"] {
        findings.extend(weakest(summary, attribute));
    }
    findings.extend(summary.rankings.iter().filter_map(|ranking| first(ranking, summary)));
    findings.extend(bits(summary));
    findings.extend(summary.critical.iter().map(critical));
    findings.extend(curves(summary));
    findings.extend(skipped(summary));
    findings
}

/// Where answers stay farthest behind what people cope with.
fn farthest(summary: &Summary) -> Option<String> {
    let unmet = summary.preserved.iter().filter(|one| one.verdict == Verdict::NotMet);
    let far = |one: &Preserved| one.distance.map_or(0.0, |distance| distance.value);
    let worst = unmet.max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let (what, kept) = (words::preserved(worst), words::kept(worst));
    Some(format!("Furthest below human performance: {what}, {kept}."))
}

/// `None` where the run only searched, and what it found says more.
fn opening(summary: &Summary, context: &Context) -> Option<String> {
    let (overall, manifest) = (&summary.overall, &context.manifest);
    let trials = overall.rate.n;
    if trials == 0 {
        let nothing = "No trial could be judged yet.";
        return summary.critical.is_empty().then(|| nothing.to_owned());
    }
    let on = match manifest.targets.as_slice() {
        [only] => format!("on {}", only.name),
        many => format!("on {} targets", many.len()),
    };
    let others = [
        (overall.detected, "were detected (not finite, or rejected)"),
        (overall.crashed, "crashed"),
        (overall.timed_out, "timed out"),
    ];
    let others: Vec<String> = others
        .into_iter()
        // Shares of counts are no rates where trials count differently.
        .filter(|(count, _)| *count > 0 && !summary.weighted)
        .map(|(count, what)| format!("{}% {what}", percent(count as f64 / trials as f64)))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    let counted_all = format::trials(overall) + overall.spare == summary.progress.recorded;
    let of_all = if counted_all || context.manifest.stop.is_none() {
        String::new()
    } else {
        let recorded = count(summary.progress.recorded);
        format!(
            " (the repeats that all faults have in common; the stop rule ran more of some, \
             {recorded} in total)"
        )
    };
    Some(format!(
        "In {} {on}{of_all}, {} changed the prediction{others}.",
        counted(trials, "judged trial"),
        rate(&overall.rate)
    ))
}

/// What searches found in one target.
fn critical(found: &CriticalBits) -> String {
    let CriticalLayer { mean, share, .. } = &found.all;
    format!(
        "An element of {} has {} critical bits on average over {} ({}): {} of all flips change \
         the prediction or make it non-finite. The search took {} queries instead of {}.",
        found.target,
        format::mean(mean),
        counted(mean.n, "element"),
        found.point,
        rate(share),
        count(found.queries),
        count(found.exhaustive)
    )
}

/// What protecting the first few parts would catch.
fn first(ranking: &Ranking, summary: &Summary) -> Option<String> {
    let broken = ranking.rows.first()?.share.n;
    // As many as catch most of it, where that is fewer than half of them.
    let enough = ranking.rows.iter().position(|row| row.together.low > 0.5)? + 1;
    if broken < ENOUGH || 2 * enough as u64 >= ranking.of {
        return None;
    }
    let Ranking { attribute, of, rows, .. } = ranking;
    let names: Vec<&str> = rows.iter().take(enough).map(|row| row.name.as_str()).collect();
    let names = if enough <= 3 { format!(" ({})", names.join(", ")) } else { String::new() };
    let on = match summary.targets.len() {
        1 => String::new(),
        _ => format!(" of {}", ranking.target),
    };
    Some(format!(
        "Protecting the top {enough} of {of} {attribute}s{on}{names} prevents {} of the changed \
         predictions.",
        rate(&rows[enough - 1].together)
    ))
}

fn verdict(summary: &Summary) -> Option<String> {
    let text = match summary.verdict? {
        Verdict::Met => "Every requirement is met.",
        Verdict::NotMet => "Not every requirement is met.",
        Verdict::Inconclusive => "There is not enough evidence for a verdict yet.",
    };
    Some(text.to_owned())
}

fn accuracy(summary: &Summary) -> Option<String> {
    let known: Vec<String> = summary
        .targets
        .iter()
        .filter_map(|target| {
            Some(format!("{} predicts {} correctly", target.name, rate(&target.accuracy?)))
        })
        .collect();
    let found = summary.detection.iter().filter_map(|one| {
        Some(format!("{} detects objects with {}", one.target, words::precision(&one.clean)?))
    });
    let known: Vec<String> = known.into_iter().chain(found).collect();
    (!known.is_empty()).then(|| format!("Without faults, {}.", known.join("; ")))
}

/// The group that deviates most, where that is more than chance.
fn weakest(summary: &Summary, attribute: &str) -> Option<String> {
    let grouping = summary.groupings.iter().find(|grouping| grouping.attribute == attribute)?;
    let row = worst(grouping)?;
    if row.p_value? >= CHANCE {
        return None;
    }
    let (own, others) = (row.tally.rate, others(grouping, row)?);
    let (key, n) = (row.name(), counted(own.n, "trial"));
    let lead = match attribute {
        "operator" => format!("{key} is the weakest operator"),
        "target" => format!("{key} is the weakest target"),
        _ => format!("{key} causes the most failures"),
    };
    Some(format!(
        "{lead}: {} of its {n} changed the prediction, compared with {}% of all others{}.",
        rate(&own),
        percent(others),
        higher(grouping, row)
    ))
}

/// The group with the highest rate, as charts have it, of those with enough trials to tell.
fn worst(grouping: &Grouping) -> Option<&GroupRow> {
    let enough = grouping.rows.iter().filter(|row| row.tally.rate.n >= ENOUGH);
    let known = enough.filter_map(|row| Some((row.tally.rate.value?, row.tally.rate.low, row)));
    let worst = known.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    worst.map(|(_, _, row)| row)
}

/// That charts have groups above this one, where these have too few trials to tell.
fn higher(grouping: &Grouping, than: &GroupRow) -> String {
    let higher = grouping.rows.iter().filter(|row| row.tally.rate.value > than.tally.rate.value);
    let higher: Vec<String> = higher
        .map(|row| format!("{} ({})", row.name(), counted(row.tally.rate.n, "trial")))
        .collect();
    match higher.as_slice() {
        [] => String::new(),
        [only] => format!("; {only} has a higher rate, but too few trials to be sure"),
        [first, ..] => {
            let more = higher.len() - 1;
            format!("; {first} and {more} more have a higher rate, but too few trials to be sure")
        }
    }
}

fn others(grouping: &Grouping, row: &GroupRow) -> Option<f64> {
    let sum =
        |of: fn(&Rate) -> u64| grouping.rows.iter().map(|row| of(&row.tally.rate)).sum::<u64>();
    let own = &row.tally.rate;
    let (events, n) = (sum(|rate| rate.events) - own.events, sum(|rate| rate.n) - own.n);
    (n > 0 && own.value? > events as f64 / n as f64).then(|| events as f64 / n as f64)
}

/// Which bits the changed answers come from.
fn bits(summary: &Summary) -> Option<String> {
    let grouping = summary.groupings.iter().find(|grouping| grouping.attribute == "bit")?;
    let all: u64 = grouping.rows.iter().map(|row| row.tally.changed).sum();
    let worst = grouping.rows.iter().max_by_key(|row| row.tally.changed)?;
    let share = worst.tally.changed as f64 / all as f64;
    let telling = all >= ENOUGH && grouping.rows.len() > 3 && share > 0.2;
    (telling && !summary.weighted).then(|| {
        let share = percent(share);
        format!(
            "Bit {} alone accounts for {share}% of the predictions that bit flips changed.",
            worst.key
        )
    })
}

fn curves(summary: &Summary) -> Option<String> {
    let steepest = summary.curves.iter().max_by(|a, b| rise(a).total_cmp(&rise(b)))?;
    let ((low, first), (high, last)) = (steepest.points.first()?, steepest.points.last()?);
    (rise(steepest) > 0.0).then(|| {
        format!(
            "{} on {} rises from {} at {} {low} to {} at {} {high}.",
            steepest.fault,
            steepest.target,
            rate(first),
            steepest.axis,
            rate(last),
            steepest.axis
        )
    })
}

/// How much the rate surely rises from the first dose to the last.
fn rise(curve: &super::Curve) -> f64 {
    match (curve.points.first(), curve.points.last()) {
        (Some((_, first)), Some((_, last))) => last.low - first.high,
        _ => 0.0,
    }
}

fn skipped(summary: &Summary) -> Option<String> {
    let all: u64 = summary.overall.skipped.values().sum();
    let (reason, _) = summary.overall.skipped.iter().max_by_key(|(_, count)| **count)?;
    Some(format!("{} were skipped, mostly because {reason}.", counted(all, "trial")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tally;

    #[test]
    fn the_worst_is_the_highest_of_the_chart_or_says_why_not() {
        let row = |key: &str, events: u64, n: u64, low: f64| {
            let rate = Rate { events, n, value: Some(events as f64 / n as f64), low, high: 1.0 };
            let tally = Tally { rate, ..Tally::default() };
            GroupRow { key: key.to_owned(), tally, ..GroupRow::default() }
        };
        let grouping = |rows: Vec<GroupRow>| Grouping {
            attribute: "point".to_owned(),
            title: String::new(),
            ordered: false,
            rows,
            correction: None,
        };
        // Of the second more is known, but the first is higher.
        let known = grouping(vec![row("mirror", 17, 32, 0.36), row("insert", 200, 400, 0.45)]);
        let first = worst(&known).unwrap();
        assert_eq!((first.key.as_str(), higher(&known, first).as_str()), ("mirror", ""));
        let few = grouping(vec![row("mirror", 8, 10, 0.5), row("insert", 200, 400, 0.45)]);
        let first = worst(&few).unwrap();
        assert_eq!(first.key, "insert");
        assert_eq!(
            higher(&few, first),
            "; mirror (10 trials) has a higher rate, but too few trials to be sure"
        );
        let none = grouping(vec![row("mirror", 8, 10, 0.5)]);
        assert!(worst(&none).is_none());
    }
}
