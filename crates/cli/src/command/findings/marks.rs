//! What is framed in the pictures of a trial, and what is written at the frames.

use faultlens::Bounds;
use faultlens::campaign::object_comparison::{Answered, ObjectComparison, ObjectStatus};
use faultlens::campaign::scene::ReplayedImage;
use faultlens::record::LabelledBox;

const BLACK: [u8; 3] = [0; 3];
const WHITE: [u8; 3] = [255; 3];

/// What a frame marks; the last ones lie on top.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MarkKind {
    /// Moved out of the image by the fault.
    Out,
    Same,
    Own,
    Touched,
    Changed,
}

impl MarkKind {
    /// The colour of its frame, and of words on it.
    pub(super) fn colours(self) -> [[u8; 3]; 2] {
        match self {
            Self::Out => [[150, 150, 150], BLACK],
            Self::Same => [[0, 200, 83], BLACK],
            Self::Own => [[0, 229, 255], BLACK],
            Self::Touched => [[41, 98, 255], WHITE],
            Self::Changed => [[229, 28, 35], WHITE],
        }
    }
}

/// A frame and what is written at it.
pub(super) struct Mark {
    pub(super) kind: MarkKind,
    pub(super) bounds: Bounds,
    pub(super) text: String,
}

/// The label with its score, as it is written at a frame.
fn caption(thing: &LabelledBox) -> String {
    format!("{} {:.2}", thing.label.to_lowercase(), thing.score)
}

/// What was found in the undisturbed image.
pub(super) fn before_marks(
    replayed: &ReplayedImage,
    detection_diff: &ObjectComparison,
    answer: &Answered,
) -> Vec<Mark> {
    let taken_out = replayed.touched.as_ref().is_some_and(|touched| touched.object.is_none());
    detection_diff
        .golden
        .iter()
        .enumerate()
        .map(|(at, thing): (usize, &LabelledBox)| {
            let pair = answer.pairs.iter().find(|pair| pair.golden == Some(at));
            let (kind, text) = match pair.map(|pair| pair.status) {
                Some(ObjectStatus::Same) => (MarkKind::Same, caption(thing)),
                Some(ObjectStatus::Missed) => {
                    (MarkKind::Changed, format!("missed: {}", caption(thing)))
                }
                Some(_) => (MarkKind::Changed, caption(thing)),
                None if taken_out => (MarkKind::Touched, format!("taken out: {}", caption(thing))),
                None => (MarkKind::Out, caption(thing)),
            };
            Mark { kind, bounds: thing.bounds, text }
        })
        .collect()
}

/// What was found in the changed one, and what came or went.
pub(super) fn after_marks(
    replayed: &ReplayedImage,
    detection_diff: &ObjectComparison,
    answer: &Answered,
) -> Vec<Mark> {
    let mut marks = Vec::new();
    for pair in &answer.pairs {
        let Some(thing) = &pair.after else { continue };
        let (kind, text) = match (pair.status, &pair.before) {
            (ObjectStatus::Same, _) => (MarkKind::Same, caption(thing)),
            (ObjectStatus::Relabelled, Some(before)) => {
                let was = before.label.to_lowercase();
                (MarkKind::Changed, format!("{}, was {was}", caption(thing)))
            }
            (status, _) => (MarkKind::Changed, format!("{}: {}", status.name(), caption(thing))),
        };
        marks.push(Mark { kind, bounds: thing.bounds, text });
    }
    let own = answer.own.iter().map(|thing| Mark {
        kind: MarkKind::Own,
        bounds: thing.bounds,
        text: caption(thing),
    });
    let touched = replayed.touched.as_ref().zip(detection_diff.touched).map(|(touched, bounds)| {
        let label = touched.label.to_lowercase();
        let text = match &touched.object {
            Some(_) => format!("inserted {label}"),
            None => format!("{label} was here"),
        };
        Mark { kind: MarkKind::Touched, bounds, text }
    });
    marks.extend(own);
    marks.extend(touched);
    marks
}
