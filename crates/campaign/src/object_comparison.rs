//! The objects that a target finds in a changed image, each beside the one that was expected.

use crate::golden_case::GoldenCase;
use crate::observation::Observation;
use faultlens_core::{Bounds, Detection, Detections, Image, Response};
use faultlens_judge::{ObjectChange, ObjectPairs, object_pairs};
use faultlens_record::LabelledBox;

/// A changed image, and what the target finds in it.
#[derive(Debug, Clone)]
pub struct ObjectComparison {
    /// What the target was shown.
    pub image: Image,
    /// The box of the object that came into the scene or went out of it.
    pub touched: Option<Bounds>,
    /// What the target finds in the undisturbed image.
    pub golden: Vec<LabelledBox>,
    /// What it should find in this one.
    pub expected: Vec<LabelledBox>,
    /// What it found, or why there is no answer.
    pub answer: Result<Answered, String>,
}

/// An answer with objects, beside what was expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// What was found, without what was found of the thing that came or went.
    pub observed: Vec<LabelledBox>,
    /// What was found of that thing, which does not count.
    pub own: Vec<LabelledBox>,
    /// Every object before and after: the golden ones in their order, then the spurious ones.
    pub pairs: Vec<Pair>,
}

/// One object before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// How it has changed.
    pub status: ObjectStatus,
    /// Its position among the golden objects.
    pub golden: Option<usize>,
    /// As it was expected in the changed image; `None` for a spurious one.
    pub before: Option<LabelledBox>,
    /// As it was found; `None` where it is missed.
    pub after: Option<LabelledBox>,
}

/// How an object has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectStatus {
    /// It is found in the same place under the same label.
    Same,
    /// It is gone.
    Missed,
    /// It was not there before.
    Spurious,
    /// It has another label.
    Relabelled,
    /// Its box has moved too far.
    Misplaced,
}

impl ObjectStatus {
    /// Its name, as records have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Missed => "missed",
            Self::Spurious => "spurious",
            Self::Relabelled => "relabelled",
            Self::Misplaced => "misplaced",
        }
    }
}

impl ObjectComparison {
    /// The observation of a trial; `None` where answers are no detections.
    pub(crate) fn new(case: &GoldenCase<'_>, observation: &Observation) -> Option<Self> {
        let Response::Detections(golden) = &case.answer else { return None };
        let expected = match observation.expected() {
            Some(Response::Detections(expected)) => expected,
            _ => golden,
        };
        let shown = observation.shown.as_deref();
        let answer = match (&observation.answer, &observation.skipped) {
            (Ok(None), Some(reason)) => Err(format!("skipped: {reason}")),
            (Ok(None), None) => Ok(golden),
            (Ok(Some(Response::Detections(found))), _) => Ok(found),
            (Ok(Some(_)), _) => Err("the answer names no objects".to_owned()),
            (Err(error), _) => Err(error.to_string()),
        };
        let iou = case.context.judge.overlap();
        let own = shown.map_or(&[][..], |shown| &shown.touched_found);
        Some(Self {
            image: observation.image().unwrap_or(&case.case.image).clone(),
            touched: shown.and_then(|shown| shown.touched),
            golden: labelled_boxes(golden, &golden.found),
            expected: labelled_boxes(expected, &expected.found),
            answer: answer.map(|answer| Answered {
                observed: labelled_boxes(answer, &answer.found),
                own: labelled_boxes(answer, own),
                pairs: pairs(golden, expected, answer, iou),
            }),
        })
    }

    /// The objects that changed; none where there is no answer.
    pub fn changes(&self) -> impl Iterator<Item = &Pair> {
        let pairs = self.answer.iter().flat_map(|answer| &answer.pairs);
        pairs.filter(|pair| pair.status != ObjectStatus::Same)
    }
}

fn labelled_boxes(of: &Detections, found: &[Detection]) -> Vec<LabelledBox> {
    found.iter().map(|found| labelled_box(of, found)).collect()
}

fn labelled_box(of: &Detections, found: &Detection) -> LabelledBox {
    LabelledBox { label: of.name(found.class), score: found.score, bounds: found.bounds }
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
    all.into_iter()
        .map(|(status, from, to)| Pair {
            status,
            golden: from.and_then(|at| places[at]),
            before: from.map(|at| labelled_box(expected, &expected.found[at])),
            after: to.map(|at| labelled_box(answer, &answer.found[at])),
        })
        .collect()
}

/// The position among the golden objects of each one that is expected. Faults move objects or take
/// them out but keep their order, class and score, so one pass over both lists matches them.
pub(crate) fn places(golden: &[Detection], expected: &[Detection]) -> Vec<Option<usize>> {
    let mut rest = golden.iter().enumerate();
    let mut places = Vec::with_capacity(expected.len());
    for one in expected {
        let same = rest.find(|(_, other)| {
            one.class == other.class && one.score.to_bits() == other.score.to_bits()
        });
        places.push(same.map(|(at, _)| at));
    }
    places
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
        Detections { found: found.to_vec(), names, finite: true, min_score: None }
    }

    #[test]
    fn every_object_is_paired_in_golden_order() {
        let golden =
            [found(0, 0.9, 0.0), found(0, 0.8, 30.0), found(1, 0.7, 60.0), found(1, 0.6, 90.0)];
        // The second went out of the scene; the third is called otherwise, the last has moved.
        let expected = [golden[0], golden[2], golden[3]];
        let observed = [found(0, 0.5, 200.0), found(1, 0.4, 95.0), found(0, 0.3, 60.0)];
        let [golden, expected, observed] = [&golden[..], &expected, &observed].map(detections);
        let paired = pairs(&golden, &expected, &observed, 0.5);
        let paired: Vec<_> = paired
            .iter()
            .map(|pair| {
                let label = |one: &Option<LabelledBox>| one.as_ref().map(|one| one.label.clone());
                (pair.status.name(), pair.golden, label(&pair.before), label(&pair.after))
            })
            .collect();
        let label = |text: &str| Some(text.to_owned());
        assert_eq!(
            paired,
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
