//! Requirements within human tolerance: what was measured by image, and why a verdict is what it is.

use super::checks::too_many_missing;
use faultlens_analysis::format::{NONE, count, counted, number, percent, points};
use faultlens_analysis::{BatchRule, Distance, NothingToDraw, Preserved, PreservedReason};

/// What the paper's rule is called wherever it is shown.
pub(crate) const BATCH_RULE: &str = "batch rule of Hu et al.";

/// "cars: correctness under frost, baseline": what is required of which target.
pub fn preserved_name(one: &Preserved) -> String {
    let name = one.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    format!("{name}{} under {}, {}", one.what, one.fault, one.target)
}

/// "91.2% of 95.0% required, difference −3.8 [−5.9, −1.7] points by image, margin 2".
pub fn preserved_scores(one: &Preserved) -> String {
    match one.required.zip(one.reached) {
        Some((required, reached)) => format!(
            "{}% of {}% required, difference {} points by image, margin {}",
            percent(reached),
            percent(required),
            difference(one),
            margin(one)
        ),
        None => "no data".to_owned(),
    }
}

/// The scores with what the paper's rule says of them.
pub(crate) fn preserved_measured(one: &Preserved) -> String {
    let scores = preserved_scores(one);
    let beside = [tolerance_ends(one), batch_rule(one)];
    [Some(scores)].into_iter().chain(beside).flatten().collect::<Vec<_>>().join("; ")
}

/// "−3.2 [−7.4, −1.0], margin 2": the difference in few words.
pub(crate) fn brief(one: &Preserved) -> String {
    match one.difference {
        Some(_) => format!("{}, margin {}", difference(one), margin(one)),
        None => NONE.to_owned(),
    }
}

/// "−3.2 [−7.4, −1.0]": what is reached less what is required, with its interval among new images.
pub(crate) fn difference(one: &Preserved) -> String {
    let Some(found) = one.difference else { return NONE.to_owned() };
    match found.low.zip(found.high) {
        Some((low, high)) => {
            let [value, low, high] = [found.value, low, high].map(points);
            format!("{value} [{low}, {high}]")
        }
        None => points(found.value),
    }
}

/// The requirement's margin in points: "2".
pub(crate) fn margin(one: &Preserved) -> String {
    in_points(one.margin)
}

/// A share in points: "2", or "0.5".
pub(crate) fn in_points(share: f64) -> String {
    if share == 0.0 { "0".to_owned() } else { number(100.0 * share, 3) }
}

/// "inconclusive, distance +3.2 [−1.0, +7.4]": what the paper's rule says.
pub(crate) fn batch_verdict(rule: &BatchRule) -> String {
    format!("{}, distance {}", rule.verdict.text(), distance(&rule.distance))
}

/// What the paper's rule says beside the one that decides; `None` where it decides itself, or says
/// nothing.
pub fn batch_rule(one: &Preserved) -> Option<String> {
    let rule = one.batch_rule.as_ref().filter(|_| one.rule != "batches")?;
    Some(format!("{BATCH_RULE}: {} points (does not decide)", batch_verdict(rule)))
}

fn distance(distance: &Distance) -> String {
    let [value, low, high] = [distance.value, distance.low, distance.high].map(points);
    format!("{value} [{low}, {high}]")
}

/// Why a requirement within human tolerance has its verdict, and what to do where it is
/// inconclusive.
pub fn preserved_reason(one: &Preserved) -> String {
    match one.reason {
        PreservedReason::OtherMetric => format!(
            "the target's answers are scored in another way; leave out metric, or write {}",
            one.metric
        ),
        PreservedReason::ClassesWithoutAccuracy => {
            "classes are for answers that are one class; leave them out".to_owned()
        }
        PreservedReason::NothingToDraw(nothing) => nothing_to_draw(nothing).to_owned(),
        PreservedReason::RunIncomplete => "the run is not complete".to_owned(),
        PreservedReason::TooManyMissing => too_many_missing(&one.missing),
        PreservedReason::TooFewImages => format!(
            "no statement about new images is made from {}; use at least 10",
            counted(one.images, "image")
        ),
        PreservedReason::EndsDiffer => format!(
            "the verdict depends on how much people tolerate: {}; more answers of people would \
             narrow it",
            at_ends(one)
        ),
        PreservedReason::PartOfRangeTried => format!(
            "only changes up to {:.2} of the tolerated {:.2} were tried; draw strengths up to that",
            one.tried_up_to, one.tolerated
        ),
        PreservedReason::WithinMargin
        | PreservedReason::BeyondMargin
        | PreservedReason::StraddlesMargin => match &one.batch_rule {
            Some(rule) if one.rule == "batches" => by_batches(one, rule),
            _ => by_image(one),
        },
    }
}

/// The verdict on new images.
fn by_image(one: &Preserved) -> String {
    let ends = one.difference.and_then(|found| found.low.zip(found.high));
    let [low, high] =
        ends.map_or([String::new(), String::new()], |(low, high)| [low, high].map(points));
    let margin = margin(one);
    match one.reason {
        PreservedReason::WithinMargin => {
            format!(
                "on new images the difference is above {low} points, within the margin of {margin}"
            )
        }
        PreservedReason::BeyondMargin => {
            format!(
                "on new images the difference is below {high} points, beyond the margin of {margin}"
            )
        }
        _ => format!(
            "on new images the difference lies between {low} and {high} points, and the margin of \
             {margin} lies between; more images would narrow it"
        ),
    }
}

/// The verdict where the requirement asks for the paper's rule.
fn by_batches(one: &Preserved, rule: &BatchRule) -> String {
    let [low, high] = [rule.distance.low, rule.distance.high].map(points);
    let margin = margin(one);
    let mut reason = match one.reason {
        PreservedReason::WithinMargin => {
            format!("{BATCH_RULE}: the distance is at most {high} points, no more than {margin}")
        }
        PreservedReason::BeyondMargin => {
            format!("{BATCH_RULE}: the distance is at least {low} points, above {margin}")
        }
        _ => format!(
            "{BATCH_RULE}: the distance lies between {low} and {high} points, around {margin}; \
             larger batches would narrow it"
        ),
    };
    if !rule.distance.settled {
        reason += &format!(
            "; other random numbers give another distance: set batches to {} or more",
            count(rule.batches.suggested)
        );
    }
    reason
}

/// What would follow at the ends of the tolerance's interval where these do not decide; `None`
/// without an interval, or where they do.
pub fn tolerance_ends(one: &Preserved) -> Option<String> {
    if one.both_ends || one.ends.is_empty() {
        return None;
    }
    Some(format!("interval of the tolerance: {} (does not decide)", at_ends(one)))
}

/// "met up to 0.45, not met up to 0.72".
fn at_ends(one: &Preserved) -> String {
    let ends = one.ends.iter().map(|end| {
        let verdict = end.verdict.text();
        if end.part_tried {
            let tried = end.tried_up_to;
            format!("{verdict} up to {:.2} (tried up to {tried:.2})", end.at_most)
        } else {
            format!("{verdict} up to {:.2}", end.at_most)
        }
    });
    ends.collect::<Vec<_>>().join(", ")
}

fn nothing_to_draw(nothing: NothingToDraw) -> &'static str {
    match nothing {
        NothingToDraw::OutsideTolerance => {
            "no version of an image is changed as little as people tolerate; draw strengths with \
             within"
        }
        NothingToDraw::VisualChangeUnknown => {
            "nobody can tell how much the images are changed; they need sides of at least 9 pixels"
        }
        NothingToDraw::NoTruth => {
            "no version of an image has a score; correctness needs a truth to hold answers against"
        }
        NothingToDraw::NoScore => "no version of an image has a score",
    }
}
