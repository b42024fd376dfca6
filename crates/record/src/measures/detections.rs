//! How the objects of an answer differ from those that were expected, and which were found.

use super::number;
use faultlens_core::{Bounds, Detection, Detections};
use faultlens_judge::{ObjectChange, Rect, ScoredBox, object_changes};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Changes that the summary for people names one by one.
const SUMMARISED: usize = 16;

/// An object as an answer names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelledBox {
    /// What the target calls it. May hold any character.
    pub label: String,
    /// How sure the target is.
    #[serde(with = "number::exact")]
    pub score: f32,
    /// Where it is.
    #[serde(rename = "box", with = "number::bounds")]
    pub bounds: Bounds,
}

/// One object in two answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedBox {
    /// As it was expected.
    pub before: LabelledBox,
    /// As it was found.
    pub after: LabelledBox,
}

/// Every object that an answer lost, invented, renamed or moved. An object that is found as
/// expected is not listed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DetectionDiff {
    /// Objects that are found at the same place under another label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relabelled: Vec<ChangedBox>,
    /// Objects of the same label whose box moved too far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misplaced: Vec<ChangedBox>,
    /// Expected objects that are not found, as the undisturbed answer has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<LabelledBox>,
    /// Found objects that were not expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spurious: Vec<LabelledBox>,
    /// Changes that are counted but not listed. Only runs of earlier formats have any: they kept
    /// sixteen changes of a trial at most.
    #[serde(default, skip_serializing_if = "ChangeCounts::is_empty")]
    pub unlisted: ChangeCounts,
}

/// How many objects changed in each way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCounts {
    /// Objects under another label.
    pub relabelled: u64,
    /// Objects whose box moved too far.
    pub misplaced: u64,
    /// Objects that are not found.
    pub missed: u64,
    /// Objects that were not expected.
    pub spurious: u64,
}

impl ChangeCounts {
    /// All changes.
    pub fn total(&self) -> u64 {
        self.relabelled + self.misplaced + self.missed + self.spurious
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }
}

impl DetectionDiff {
    /// Compares two answers; boxes that overlap by `iou` (Jaccard index) are of one object.
    pub fn between(expected: &Detections, observed: &Detections, iou: f64) -> Self {
        let mut diff = Self::default();
        for change in object_changes(&expected.found, &observed.found, iou) {
            match change {
                ObjectChange::Label { golden, observed: at } => diff.relabelled.push(ChangedBox {
                    before: labelled(expected, golden),
                    after: labelled(observed, at),
                }),
                ObjectChange::Localisation { golden, observed: at } => {
                    diff.misplaced.push(ChangedBox {
                        before: labelled(expected, golden),
                        after: labelled(observed, at),
                    });
                }
                ObjectChange::Missed { golden } => diff.missed.push(labelled(expected, golden)),
                ObjectChange::Spurious { observed: at } => {
                    diff.spurious.push(labelled(observed, at));
                }
            }
        }
        diff
    }

    /// How many objects changed in each way, the unlisted ones included.
    pub fn counts(&self) -> ChangeCounts {
        ChangeCounts {
            relabelled: self.relabelled.len() as u64 + self.unlisted.relabelled,
            misplaced: self.misplaced.len() as u64 + self.unlisted.misplaced,
            missed: self.missed.len() as u64 + self.unlisted.missed,
            spurious: self.spurious.len() as u64 + self.unlisted.spurious,
        }
    }

    /// Whether both answers have the same objects.
    pub fn is_empty(&self) -> bool {
        self.counts().is_empty()
    }
}

fn labelled(answer: &Detections, at: usize) -> LabelledBox {
    let found: &Detection = &answer.found[at];
    LabelledBox {
        label: answer.name(found.class).to_string(),
        score: found.score,
        bounds: found.bounds,
    }
}

impl fmt::Display for LabelledBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.2} at {}", self.label, self.score, self.bounds)
    }
}

impl fmt::Display for ChangedBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.before, self.after)
    }
}

/// A summary for people: the first sixteen changes, and how many there are besides. Nothing reads
/// it back, except for runs of earlier formats, which kept nothing else.
impl fmt::Display for DetectionDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relabelled = self.relabelled.iter().map(|changed| format!("relabelled {changed}"));
        let misplaced = self.misplaced.iter().map(|changed| format!("misplaced {changed}"));
        let missed = self.missed.iter().map(|object| format!("missed {object}"));
        let spurious = self.spurious.iter().map(|object| format!("spurious {object}"));
        let all = relabelled.chain(misplaced).chain(missed).chain(spurious);
        let mut named = 0;
        for change in all.take(SUMMARISED) {
            if named > 0 {
                f.write_str("; ")?;
            }
            f.write_str(&change)?;
            named += 1;
        }
        let more = self.counts().total() - named;
        if more > 0 {
            let separator = if named > 0 { "; " } else { "" };
            write!(f, "{separator}{more} more")?;
        }
        Ok(())
    }
}

/// An object that a target found, where the objects of the case are known: average precision over
/// many cases does not follow from numbers of single ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FoundObject {
    /// The class, by its place in the target's list.
    pub class: usize,
    /// How sure the target is.
    #[serde(with = "number::exact")]
    pub score: f32,
    /// Where it starts, in columns.
    #[serde(with = "number::exact")]
    pub left: f32,
    /// Where it starts, in rows.
    #[serde(with = "number::exact")]
    pub top: f32,
    /// How many columns it has.
    #[serde(with = "number::exact")]
    pub width: f32,
    /// How many rows it has.
    #[serde(with = "number::exact")]
    pub height: f32,
}

impl FoundObject {
    /// The objects of an answer.
    pub fn all_of(answer: &Detections) -> Vec<Self> {
        let found = answer.found.iter().map(|found| {
            // The sides are differences in 64 bits, as COCO's files have them.
            let rect = Rect::from(&found.bounds);
            Self {
                class: found.class,
                score: found.score,
                left: rect.left as f32,
                top: rect.top as f32,
                width: rect.width as f32,
                height: rect.height as f32,
            }
        });
        found.collect()
    }
}

/// As COCO's evaluation would read it from a file: the shortest decimal of each number in 64 bits,
/// so that overlaps exactly at a threshold fall on the same side.
impl From<FoundObject> for ScoredBox {
    fn from(object: FoundObject) -> Self {
        Self {
            class: object.class,
            score: decimal(object.score),
            rect: Rect {
                left: decimal(object.left),
                top: decimal(object.top),
                width: decimal(object.width),
                height: decimal(object.height),
            },
        }
    }
}

/// The shortest decimal of a number in 32 bits, in 64 bits.
pub(crate) fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| f64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Names;

    fn answer(labels: [&str; 2], found: &[(usize, f32)]) -> Detections {
        let found = found.iter().map(|&(class, left)| Detection {
            class,
            score: 0.123_456_7,
            bounds: Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 },
        });
        let names = Names::Listed(labels.map(str::to_owned).into());
        Detections { found: found.collect(), names, finite: true, min_score: None }
    }

    #[test]
    fn every_change_is_kept_and_summarised() {
        let expected = answer(["car", "dog"], &[(0, 0.0), (0, 50.0), (1, 100.0), (1, 150.0)]);
        let observed = answer(["car", "dog"], &[(0, 0.0), (1, 50.0), (1, 106.0), (0, 200.0)]);
        let diff = DetectionDiff::between(&expected, &observed, 0.5);
        let counts = ChangeCounts { relabelled: 1, misplaced: 1, missed: 1, spurious: 1 };
        assert_eq!(diff.counts(), counts);
        assert_eq!(
            diff.to_string(),
            "relabelled car 0.12 at 50.0 0.0 60.0 10.0 to dog 0.12 at 50.0 0.0 60.0 10.0; \
             misplaced dog 0.12 at 100.0 0.0 110.0 10.0 to dog 0.12 at 106.0 0.0 116.0 10.0; \
             missed dog 0.12 at 150.0 0.0 160.0 10.0; spurious car 0.12 at 200.0 0.0 210.0 10.0"
        );
        assert!(DetectionDiff::between(&expected, &expected, 0.5).is_empty());
    }

    #[test]
    fn labels_with_separators_and_more_than_sixteen_objects_come_through() {
        let labels = ["missed; at 1 2", "dog"];
        let found: Vec<(usize, f32)> = (0..40).map(|at| (0, 20.0 * at as f32)).collect();
        let diff = DetectionDiff::between(&answer(labels, &found), &answer(labels, &[]), 0.5);
        let json = serde_json::to_string(&diff).unwrap();
        let back: DetectionDiff = serde_json::from_str(&json).unwrap();
        assert_eq!(back, diff);
        assert_eq!(back.missed.len(), 40);
        assert!(back.missed.iter().all(|object| object.label == labels[0]));
        assert!(back.missed.iter().all(|object| object.score == 0.123_456_7));
        assert!(diff.to_string().ends_with("; 24 more"), "{diff}");
    }

    #[test]
    fn found_objects_are_read_as_from_a_file() {
        let found = FoundObject::all_of(&answer(["car", "dog"], &[(1, 0.1)]));
        let read = ScoredBox::from(found[0]);
        assert_eq!((read.class, read.score, read.rect.left), (1, 0.123_456_7, 0.1));
    }
}
