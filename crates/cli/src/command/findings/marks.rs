//! What is framed in the pictures of a trial, and what is written at the frames.

use faultlens::Bounds;
use faultlens::campaign::detection_diff::{Answered, DetectionDiff, NamedBox, ObjectStatus, Pair};
use faultlens::campaign::scene::Replayed;

const BLACK: [u8; 3] = [0; 3];
const WHITE: [u8; 3] = [255; 3];

/// What a frame stands for; the last ones lie on top.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stands {
    /// Moved out of the image by the fault.
    Out,
    Same,
    Own,
    Touched,
    Changed,
}

impl Stands {
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
    pub(super) stands: Stands,
    pub(super) bounds: Bounds,
    pub(super) text: String,
}

fn said(thing: &NamedBox) -> String {
    format!("{} {:.2}", thing.label.to_lowercase(), thing.score)
}

/// What was found in the undisturbed image.
pub(super) fn before_marks(
    replayed: &Replayed,
    detection_diff: &DetectionDiff,
    answer: &Answered,
) -> Vec<Mark> {
    let taken_out = replayed.touched.as_ref().is_some_and(|touched| touched.object.is_none());
    detection_diff
        .golden
        .iter()
        .enumerate()
        .map(|(at, thing): (usize, &NamedBox)| {
            let pair = answer.pairs.iter().find(|pair| pair.golden == Some(at));
            let (stands, text) = match pair.map(|pair| pair.status) {
                Some(ObjectStatus::Same) => (Stands::Same, said(thing)),
                Some(ObjectStatus::Missed) => (Stands::Changed, format!("missed: {}", said(thing))),
                Some(_) => (Stands::Changed, said(thing)),
                None if taken_out => (Stands::Touched, format!("taken out: {}", said(thing))),
                None => (Stands::Out, said(thing)),
            };
            Mark { stands, bounds: thing.bounds, text }
        })
        .collect()
}

/// What was found in the changed one, and what came or went.
pub(super) fn after_marks(
    replayed: &Replayed,
    detection_diff: &DetectionDiff,
    answer: &Answered,
) -> Vec<Mark> {
    let mark = |pair: &Pair| {
        let thing = pair.after.as_ref()?;
        let (stands, text) = match (pair.status, &pair.before) {
            (ObjectStatus::Same, _) => (Stands::Same, said(thing)),
            (ObjectStatus::Relabelled, Some(before)) => {
                let was = before.label.to_lowercase();
                (Stands::Changed, format!("{}, was {was}", said(thing)))
            }
            (status, _) => (Stands::Changed, format!("{}: {}", status.name(), said(thing))),
        };
        Some(Mark { stands, bounds: thing.bounds, text })
    };
    let own = answer.own.iter().map(|thing| Mark {
        stands: Stands::Own,
        bounds: thing.bounds,
        text: said(thing),
    });
    let touched = replayed.touched.as_ref().zip(detection_diff.touched).map(|(touched, bounds)| {
        let label = touched.label.to_lowercase();
        let text = match &touched.object {
            Some(_) => format!("inserted {label}"),
            None => format!("{label} stood here"),
        };
        Mark { stands: Stands::Touched, bounds, text }
    });
    answer.pairs.iter().filter_map(mark).chain(own).chain(touched).collect()
}
