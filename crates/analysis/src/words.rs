//! Sentences that findings, warnings and reports have in common.

use super::format::{
    count, counted, distance, ends, limit, mean, number, p_value, percent, points, rate,
};
use super::{Checked, DetectionPoint, Placed, Preserved, SceneTotal};
use faultlens_faults::IMAGE_FAULTS;

/// Corrected p-values below this tell more than chance.
pub(super) const CHANCE: f64 = 0.05;

/// What a requirement measured: `3.1% [2.8, 3.5]`, or `FIT 3.2 (2.9 to 3.5)`.
pub fn measured(checked: &Checked) -> String {
    match (&checked.fit, checked.rate.value) {
        (Some(fit), Some(value)) => {
            let (low, high) = ends(&checked.rate);
            let [value, low, high] = [value, low, high].map(|rate| failures(rate * fit.each()));
            format!("FIT {value} ({low} to {high})")
        }
        _ => rate(&checked.rate),
    }
}

/// What a requirement allows: `5%`, or `10` failures in time.
pub fn allowed(checked: &Checked) -> String {
    match &checked.fit {
        Some(fit) => number(fit.at_most, 6),
        None => limit(checked.limit),
    }
}

/// Failures in time, with as many digits as say something.
fn failures(fit: f64) -> String {
    match fit {
        1.0..100.0 => format!("{fit:.1}"),
        _ => number(fit, if fit < 1.0 { 2 } else { 3 }),
    }
}

/// "cars: correctness under frost, baseline": what is required of which target.
pub fn preserved(one: &Preserved) -> String {
    let name = one.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    format!("{name}{} under {}, {}", one.what, one.fault, one.target)
}

/// "91.2% of 95.0% required, distance +3.8 [−2.0, +9.6] points".
pub fn kept(one: &Preserved) -> String {
    match (one.required, one.reached, &one.distance) {
        (Some(required), Some(reached), Some(far)) => format!(
            "{}% of {}% required, distance {} points",
            percent(reached.mean),
            percent(required.mean),
            distance(far)
        ),
        _ => "no data".to_owned(),
    }
}

/// "AP 0.44 [0.38, 0.5], AP50 0.61": how well objects are found; `None` where nothing can be told.
pub fn precision(point: &DetectionPoint) -> Option<String> {
    point.ap.value?;
    let fifty = point.ap50.map(|value| format!(", AP50 {}", number(value, 3))).unwrap_or_default();
    Some(format!("AP {}{fifty}", mean(&point.ap)))
}

/// How often a target took other objects for something else, nothing or new ones; `None` without a
/// judged scene.
pub fn changed_scenes(total: &SceneTotal) -> Option<String> {
    let SceneTotal { target, changed, .. } = total;
    changed.value?;
    let (who, loses) = match target {
        Some(target) => (target.as_str(), "changes"),
        None => ("All targets together", "change"),
    };
    Some(format!(
        "{who} {loses} other detections in {} of {} ({}).",
        count(changed.events),
        counted(changed.n, "changed scene"),
        rate(changed)
    ))
}

/// That a target disagrees with itself, so that nobody could tell what a changed scene does; `None`
/// where it does not.
pub fn unsteady(total: &SceneTotal) -> Option<String> {
    let target = total.target.as_ref().filter(|_| total.unsteady > 0)?;
    Some(format!(
        "{target} disagrees with itself about {}: queried twice with the same clean image, it \
         returns different detections. Trials of these cases are skipped.",
        counted(total.unsteady, "case")
    ))
}

/// Whether it matters where objects are put; `None` where nothing can be told.
pub fn placed(one: &Placed) -> Option<String> {
    let Placed { target, fault, guided, random, difference, .. } = one;
    let value = difference.value?;
    let verdict = match one.p_value < CHANCE {
        true if value > 0.0 => {
            "Placing objects close to others is worse than placing them at random"
        }
        true => "Placing objects at random is worse than placing them close to others",
        false => "Placing objects close to others makes no significant difference",
    };
    let [value, low, high] = [value, difference.low, difference.high].map(points);
    Some(format!(
        "{verdict} ({fault} on {target}, {} with both kinds of scenes): {} of the scenes changed \
         the prediction, against {}; within cases a difference of {value} [{low}, {high}] \
         percentage points, \
         p = {}.",
        counted(difference.n, "case"),
        rate(guided),
        rate(random),
        p_value(one.p_value)
    ))
}

/// What a dose of a fault is, as an axis has it.
pub fn axis(axis: &str, fault: &str) -> String {
    let name = fault.split(' ').next().unwrap_or_default();
    let zero = name == "zero";
    let text = match axis {
        // Image faults have numbers of the same names, which mean other things.
        own if IMAGE_FAULTS.iter().any(|plugin| plugin.name == name) => {
            return own.replace('_', " ");
        }
        "amount" => "elements hit",
        "bit" => "bit",
        "bit_count" => "bits flipped together",
        "rate" => "fault probability per operator",
        "share" if zero => "share of elements set to zero, %",
        "share" => "share of elements hit, %",
        other => return other.replace('_', " "),
    };
    text.to_owned()
}

/// A layer as people read it: number and name.
pub fn layer(layer: u32, name: &str) -> String {
    match name {
        "" => layer.to_string(),
        name => format!("{layer} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;

    #[test]
    fn failures_in_time_read_as_such() {
        let rate = Rate { events: 32, n: 1000, value: Some(0.032), low: 0.029, high: 0.035 };
        let fit = Some(super::super::Fit { raw: 200.0, share: 0.5, at_most: 10.0 });
        let (requirement, why) = (String::new(), String::new());
        let verdict = super::super::Verdict::Met;
        let mut checked = Checked { requirement, rate, limit: 0.1, verdict, why, fit };
        let line = format!("{}, limit {}", measured(&checked), allowed(&checked));
        assert_eq!(line, "FIT 3.2 (2.9 to 3.5), limit 10");
        checked.fit = None;
        assert_eq!([measured(&checked), allowed(&checked)], ["3.2% [2.9, 3.5]", "10%"]);
    }
}
