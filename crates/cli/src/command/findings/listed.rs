//! What `findings.json` says of each image.

use faultlens::Bounds;
use faultlens::campaign::object_comparison::{ObjectComparison, Pair};
use faultlens::campaign::scene::ReplayedImage;
use faultlens::record::LabelledBox;
use faultlens::record::Record;
use serde::Serialize;

/// One changed image, as `findings.json` holds it.
#[derive(Serialize)]
pub(super) struct Listed {
    /// The file in `images/`.
    image: String,
    /// The picture of both answers, from the folder; nothing where there is no answer.
    drawn: Option<String>,
    /// The trial, as `replay` and `promote` take it.
    number: u64,
    /// The trial's identity.
    trial: String,
    /// Who was asked.
    target: String,
    /// The fault with its settings.
    fault: String,
    /// What became of the trial.
    outcome: &'static str,
    /// The undisturbed case.
    background: String,
    /// Which object of the pool came.
    object: Option<String>,
    /// What came or went; nothing where the whole image was changed.
    label: Option<String>,
    /// Where it stands or stood.
    position: Option<[f32; 4]>,
    /// Whether this is where the object moved to, as close to its destination as it disturbs.
    moved: bool,
    /// What differs, one by one; nothing where there is no answer.
    changes: Option<Vec<Change>>,
    /// What the target finds in the background.
    golden: Vec<Found>,
    /// What it should find in the changed image, where that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Vec<Found>>,
    /// What it finds in the changed image, without the thing that came or went.
    observed: Option<Vec<Found>>,
    /// What it finds of that thing, which does not count.
    own: Option<Vec<Found>>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) no_answer: Option<String>,
}

/// Something found: left, top, right and bottom of its box.
#[derive(Serialize)]
struct Found {
    label: String,
    score: f32,
    #[serde(rename = "box")]
    bounds: [f32; 4],
}

/// One change: the thing as it is found now, or as it was where it is missed.
#[derive(Serialize)]
struct Change {
    kind: &'static str,
    label: String,
    score: f32,
    #[serde(rename = "box")]
    bounds: [f32; 4],
    /// What it was, where it is still there but called otherwise or elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Found>,
}

impl Listed {
    pub(super) fn new(
        record: &Record,
        replayed: &ReplayedImage,
        detection_diff: &ObjectComparison,
        moved: bool,
        image: String,
        drawn: Option<String>,
    ) -> Self {
        let touched = replayed.touched.as_ref();
        let answer = detection_diff.answer.as_ref().ok();
        Self {
            image,
            drawn,
            number: record.number,
            trial: record.trial.to_string(),
            target: replayed.target.clone(),
            fault: replayed.fault.clone(),
            outcome: record.outcome.kind().name(),
            background: replayed.case.name.clone(),
            object: touched.and_then(|touched| touched.object.clone()),
            label: touched.map(|touched| touched.label.clone()),
            position: detection_diff.touched.as_ref().map(Bounds::sides),
            moved,
            changes: answer.map(|_| detection_diff.changes().filter_map(change).collect()),
            golden: all(&detection_diff.golden),
            expected: (detection_diff.expected != detection_diff.golden)
                .then(|| all(&detection_diff.expected)),
            observed: answer.map(|answer| all(&answer.observed)),
            own: answer.map(|answer| all(&answer.own)),
            no_answer: detection_diff.answer.as_ref().err().cloned(),
        }
    }
}

fn all(things: &[LabelledBox]) -> Vec<Found> {
    things.iter().map(found).collect()
}

fn found(thing: &LabelledBox) -> Found {
    Found { label: thing.label.clone(), score: thing.score, bounds: thing.bounds.sides() }
}

fn change(pair: &Pair) -> Option<Change> {
    let Found { label, score, bounds } = found(pair.after.as_ref().or(pair.before.as_ref())?);
    let before = pair.before.as_ref().filter(|_| pair.after.is_some()).map(found);
    Some(Change { kind: pair.status.name(), label, score, bounds, before })
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens::campaign::object_comparison::ObjectStatus;

    #[test]
    fn a_change_has_what_is_there_now_and_what_was_there() {
        let thing = |label: &str, left: f32| LabelledBox {
            label: label.to_owned(),
            score: 0.5,
            bounds: Bounds { left, top: 1.0, right: 9.0, bottom: 9.5 },
        };
        let car = Some(thing("car", 0.0));
        let dog = Some(thing("dog", 2.0));
        let dog_now = r#""label":"dog","score":0.5,"box":[2.0,1.0,9.0,9.5]"#;
        let car_then = r#""label":"car","score":0.5,"box":[0.0,1.0,9.0,9.5]"#;
        for (status, before, after, wanted) in [
            (ObjectStatus::Missed, &car, &None, format!(r#"{{"kind":"missed",{car_then}}}"#)),
            (ObjectStatus::Spurious, &None, &dog, format!(r#"{{"kind":"spurious",{dog_now}}}"#)),
            (
                ObjectStatus::Relabelled,
                &car,
                &dog,
                format!(r#"{{"kind":"relabelled",{dog_now},"before":{{{car_then}}}}}"#),
            ),
        ] {
            let pair = Pair { status, golden: None, before: before.clone(), after: after.clone() };
            assert_eq!(serde_json::to_string(&change(&pair)).unwrap(), wanted);
        }
    }
}
