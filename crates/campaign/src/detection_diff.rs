//! What a target finds in a changed image, thing by thing beside what was expected.

pub use faultlens_record::keys::CHANGES;

use crate::inject::{GoldenCase, Observation};
use faultlens_core::{Bounds, Detection, Detections, Image, Response};
use faultlens_judge::{ObjectChange, ObjectPairs, object_pairs};
use faultlens_record::keys::{MISPLACED, MISSED, RELABELLED, SPURIOUS};

/// A changed image, and what the target finds in it.
#[derive(Debug, Clone)]
pub struct DetectionDiff {
    /// What the target was shown.
    pub image: Image,
    /// Where the thing stands that came into the scene, or stood that went out of it.
    pub touched: Option<Bounds>,
    /// What the target finds in the undisturbed image.
    pub golden: Vec<NamedBox>,
    /// What it should find in this one.
    pub expected: Vec<NamedBox>,
    /// What it found, or why there is no answer.
    pub answer: Result<Answered, String>,
}

/// An answer with objects, beside what was expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// What was found, without what was found of the thing that came or went.
    pub observed: Vec<NamedBox>,
    /// What was found of that thing, which does not count.
    pub own: Vec<NamedBox>,
    /// What became of every thing: golden's in their order, then what is spurious.
    pub pairs: Vec<Pair>,
}

/// Something that a target finds.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedBox {
    /// What the target calls it.
    pub label: String,
    /// How sure it is.
    pub score: f32,
    /// Where it is.
    pub bounds: Bounds,
}

/// One thing before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// What became of it.
    pub status: ObjectStatus,
    /// Its place among golden's things.
    pub golden: Option<usize>,
    /// As it was expected in the changed image; nothing where nobody expected it.
    pub before: Option<NamedBox>,
    /// As it was found; nothing where it is missed.
    pub after: Option<NamedBox>,
}

/// What became of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectStatus {
    /// It is found where it was and called as before.
    Same,
    /// It is gone.
    Missed,
    /// It was not there before.
    Spurious,
    /// It is called otherwise.
    Relabelled,
    /// Its box has moved too far.
    Misplaced,
}

impl ObjectStatus {
    /// Its name, as records have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Missed => MISSED,
            Self::Spurious => SPURIOUS,
            Self::Relabelled => RELABELLED,
            Self::Misplaced => MISPLACED,
        }
    }
}

impl DetectionDiff {
    /// What was observed of a stage; `None` where answers are about something else than objects.
    pub(crate) fn new(stage: &GoldenCase<'_>, observed: &Observation) -> Option<Self> {
        let Response::Detections(golden) = &stage.answer else { return None };
        let expected = match observed.moved.as_deref() {
            Some(Response::Detections(moved)) => moved,
            _ => golden,
        };
        let answer = match (&observed.answer, &observed.void) {
            (Ok(None), Some(reason)) => Err(format!("nobody was asked: {reason}")),
            (Ok(None), None) => Ok(golden),
            (Ok(Some(Response::Detections(found))), _) => Ok(found),
            (Ok(Some(_)), _) => Err("the answer names no objects".to_owned()),
            (Err(error), _) => Err(error.to_string()),
        };
        let iou = stage.setup.judge.overlap();
        Some(Self {
            image: observed.image.as_ref().unwrap_or(&stage.case.image).clone(),
            touched: observed.touched,
            golden: things(golden, &golden.found),
            expected: things(expected, &expected.found),
            answer: answer.map(|answer| Answered {
                observed: things(answer, &answer.found),
                own: things(answer, &observed.own),
                pairs: pairs(golden, expected, answer, iou),
            }),
        })
    }

    /// What changed; nothing where there is no answer.
    pub fn changes(&self) -> impl Iterator<Item = &Pair> {
        let pairs = self.answer.iter().flat_map(|answer| &answer.pairs);
        pairs.filter(|pair| pair.status != ObjectStatus::Same)
    }
}

fn things(of: &Detections, found: &[Detection]) -> Vec<NamedBox> {
    found.iter().map(|found| thing(of, found)).collect()
}

fn thing(of: &Detections, found: &Detection) -> NamedBox {
    NamedBox { label: of.name(found.class), score: found.score, bounds: found.bounds }
}

fn pairs(golden: &Detections, expected: &Detections, answer: &Detections, iou: f64) -> Vec<Pair> {
    let ObjectPairs { same, changes } = object_pairs(&expected.found, &answer.found, iou);
    let same = same.into_iter().map(|(from, to)| (ObjectStatus::Same, Some(from), Some(to)));
    let changed = changes.into_iter().map(|change| match change {
        ObjectChange::Label { golden, observed } => {
            (ObjectStatus::Relabelled, Some(golden), Some(observed))
        }
        ObjectChange::Localisation { golden, observed } => {
            (ObjectStatus::Misplaced, Some(golden), Some(observed))
        }
        ObjectChange::Missed { golden } => (ObjectStatus::Missed, Some(golden), None),
        ObjectChange::Spurious { observed } => (ObjectStatus::Spurious, None, Some(observed)),
    });
    let mut all: Vec<(ObjectStatus, Option<usize>, Option<usize>)> = same.chain(changed).collect();
    all.sort_by_key(|&(_, from, to)| (from.is_none(), from, to));
    let places = places(&golden.found, &expected.found);
    let pair = |(status, from, to): (ObjectStatus, Option<usize>, Option<usize>)| Pair {
        status,
        golden: from.and_then(|at| places[at]),
        before: from.map(|at| thing(expected, &expected.found[at])),
        after: to.map(|at| thing(answer, &answer.found[at])),
    };
    all.into_iter().map(pair).collect()
}

/// Where golden has each thing that is expected: faults move things or take them out, and keep
/// their order.
pub(crate) fn places(golden: &[Detection], expected: &[Detection]) -> Vec<Option<usize>> {
    let mut rest = golden.iter().enumerate();
    let alike =
        |a: &Detection, b: &Detection| (a.class, a.score.to_bits()) == (b.class, b.score.to_bits());
    expected.iter().map(|one| Some(rest.find(|(_, other)| alike(one, other))?.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Names;

    fn found(class: usize, score: f32, left: f32) -> Detection {
        let bounds = Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 };
        Detection { class, score, bounds }
    }

    fn detections(found: &[Detection]) -> Detections {
        let names = Names::Listed(["car", "dog"].map(str::to_owned).into());
        Detections { found: found.to_vec(), names, finite: true }
    }

    #[test]
    fn every_thing_is_paired_in_golden_order() {
        let golden =
            [found(0, 0.9, 0.0), found(0, 0.8, 30.0), found(1, 0.7, 60.0), found(1, 0.6, 90.0)];
        // The second went out of the scene; the third is called otherwise, the last has moved.
        let expected = [golden[0], golden[2], golden[3]];
        let observed = [found(0, 0.5, 200.0), found(1, 0.4, 95.0), found(0, 0.3, 60.0)];
        let [golden, expected, observed] = [&golden[..], &expected, &observed].map(detections);
        let told = pairs(&golden, &expected, &observed, 0.5);
        let told: Vec<_> = told
            .iter()
            .map(|pair| {
                let label = |one: &Option<NamedBox>| one.as_ref().map(|one| one.label.clone());
                (pair.status.name(), pair.golden, label(&pair.before), label(&pair.after))
            })
            .collect();
        let label = |text: &str| Some(text.to_owned());
        assert_eq!(
            told,
            [
                ("missed", Some(0), label("car"), None),
                ("relabelled", Some(2), label("dog"), label("car")),
                ("misplaced", Some(3), label("dog"), label("dog")),
                ("spurious", None, None, label("car")),
            ]
        );
        let same = pairs(&golden, &golden, &golden, 0.5);
        assert!(
            same.iter().all(|pair| pair.status == ObjectStatus::Same && pair.before == pair.after)
        );
        assert_eq!(same.iter().map(|pair| pair.golden).collect::<Vec<_>>(), [0, 1, 2, 3].map(Some));
    }
}
