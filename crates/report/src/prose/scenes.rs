//! How predictions fared in changed scenes.

use faultlens_analysis::format::{count, counted, p_value, points, rate};
use faultlens_analysis::{PlacementEffect, SceneTotal};

/// How often other detections of a target changed; `None` without a judged scene.
pub(crate) fn changed_scenes(total: &SceneTotal) -> Option<String> {
    let SceneTotal { target, changed, .. } = total;
    changed.value?;
    let (who, verb) = match target {
        Some(target) => (target.as_str(), "changes"),
        None => ("All targets together", "change"),
    };
    Some(format!(
        "{who} {verb} other detections in {} of {} ({}).",
        count(changed.events),
        counted(changed.n, "changed scene"),
        rate(changed)
    ))
}

/// That a target returns different detections for the same image, so that nobody could tell what a
/// changed scene does.
pub(crate) fn unstable_target(target: &str, cases: u64) -> String {
    format!(
        "{target} disagrees with itself about {}: queried twice with the same clean image, it \
         returns different detections. Trials of these cases are skipped.",
        counted(cases, "case")
    )
}

/// Whether it matters where objects are placed; `None` where the difference is not known.
pub(crate) fn placement(one: &PlacementEffect) -> Option<String> {
    let difference = &one.difference;
    let value = difference.value?;
    let verdict = if !one.is_significant() {
        "Placing objects close to others makes no significant difference"
    } else if value > 0.0 {
        "Placing objects close to others is worse than placing them at random"
    } else {
        "Placing objects at random is worse than placing them close to others"
    };
    let [value, low, high] = [value, difference.low, difference.high].map(points);
    Some(format!(
        "{verdict} ({} on {}, {} with both kinds of scenes): {} of the scenes changed the \
         prediction, against {}; within cases a difference of {value} [{low}, {high}] percentage \
         points, p = {}.",
        one.fault,
        one.target,
        counted(difference.n, "case"),
        rate(&one.guided),
        rate(&one.random),
        p_value(one.p_value)
    ))
}
