//! The fate of each object under a fault: found again, missed, moved, relabelled, or spurious.

use super::detection::ScoredBox;
use super::detection::matching::{ObjectRole, OverlapTable};
use faultlens_core::Detection;
use std::collections::BTreeSet;

/// Boxes of one class that overlap by less show different objects; TIDE's background threshold.
const BACKGROUND: f64 = 0.1;

/// One way in which an answer differs from golden. Numbers are places in the two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectChange {
    /// An object of golden has another class at the same place.
    Label {
        /// Which of golden's.
        golden: usize,
        /// Which of the observed.
        observed: usize,
    },
    /// An object of golden has the same class, but its box moved too far.
    Localisation {
        /// Which of golden's.
        golden: usize,
        /// Which of the observed.
        observed: usize,
    },
    /// An object of golden is gone.
    Missed {
        /// Which of golden's.
        golden: usize,
    },
    /// An object that golden does not have.
    Spurious {
        /// Which of the observed.
        observed: usize,
    },
}

/// The objects of two answers, paired. Numbers are places in the two answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectPairs {
    /// Objects that are found again, of golden and observed, in golden's order.
    pub same: Vec<(usize, usize)>,
    /// All others, in the order of [`ObjectChange`].
    pub changes: Vec<ObjectChange>,
}

/// Pairs the objects of an answer with golden's.
///
/// Three greedy passes. First one to one, as average precision matches: each of `observed`, by
/// descending score, is matched with the free object of its class that it overlaps most, by `iou` at
/// least. Of the rest, pairs of different classes that overlap by `iou` are relabelled objects; then
/// pairs of one class that overlap by more than a tenth are moved objects. In the second and third
/// pass the largest overlap chooses first.
pub fn object_pairs(golden: &[Detection], observed: &[Detection], iou: f64) -> ObjectPairs {
    let golden = in_64_bits(golden);
    let observed = in_64_bits(observed);
    let mut left = Unmatched::new(&golden, &observed, iou);
    let mut changes: Vec<ObjectChange> = left
        .take(|a, b, overlap| a.class != b.class && overlap >= iou && overlap > 0.0)
        .map(|(golden, observed)| ObjectChange::Label { golden, observed })
        .collect();
    changes.extend(
        left.take(|a, b, overlap| a.class == b.class && overlap > BACKGROUND)
            .map(|(golden, observed)| ObjectChange::Localisation { golden, observed }),
    );
    changes.sort_unstable();
    changes.extend(left.golden.iter().map(|&(golden, _)| ObjectChange::Missed { golden }));
    changes.extend(left.observed.iter().map(|&(observed, _)| ObjectChange::Spurious { observed }));
    ObjectPairs { same: left.same, changes }
}

/// How an answer differs from golden, object by object; see [`object_pairs`].
pub fn object_changes(golden: &[Detection], observed: &[Detection], iou: f64) -> Vec<ObjectChange> {
    object_pairs(golden, observed, iou).changes
}

/// How many of golden's objects are not found again, and how many of the observed are not golden's;
/// an object in another place or of another name counts on both sides.
pub fn changed_objects(golden: &[Detection], observed: &[Detection], iou: f64) -> (usize, usize) {
    let left = Unmatched::new(&in_64_bits(golden), &in_64_bits(observed), iou);
    (left.golden.len(), left.observed.len())
}

/// The same for objects that score at least `min_score` in the answer that has them: how many of
/// golden's are lost, and how many observed ones are new.
pub fn changed_objects_from(
    golden: &[Detection],
    observed: &[Detection],
    iou: f64,
    min_score: f64,
) -> (usize, usize) {
    let left = Unmatched::new(&in_64_bits(golden), &in_64_bits(observed), iou);
    (scoring(&left.golden, min_score), scoring(&left.observed, min_score))
}

/// How many score at least so much; a score that is no number is not below it.
fn scoring(objects: &[(usize, ScoredBox)], min_score: f64) -> usize {
    let scores = objects.iter().map(|(_, object)| object.score);
    scores.filter(|score| score.is_nan() || *score >= min_score).count()
}

fn in_64_bits(detections: &[Detection]) -> Vec<ScoredBox> {
    detections.iter().map(ScoredBox::from).collect()
}

/// Objects without a partner, in the order of the answers; and the pairs that are the same.
struct Unmatched {
    same: Vec<(usize, usize)>,
    golden: Vec<(usize, ScoredBox)>,
    observed: Vec<(usize, ScoredBox)>,
}

impl Unmatched {
    fn new(golden: &[ScoredBox], observed: &[ScoredBox], iou: f64) -> Self {
        let classes: BTreeSet<usize> =
            golden.iter().chain(observed).map(|found| found.class).collect();
        let mut overlaps = OverlapTable::default();
        let mut left = Self { same: Vec::new(), golden: Vec::new(), observed: Vec::new() };
        for class in classes {
            left.add(of_class(golden, class), of_class(observed, class), iou, &mut overlaps);
        }
        left.same.sort_unstable();
        left.golden.sort_by_key(|&(at, _)| at);
        left.observed.sort_by_key(|&(at, _)| at);
        left
    }

    /// Matches the objects of one class and adds the ones without a partner.
    fn add(
        &mut self,
        golden: Vec<(usize, ScoredBox)>,
        observed: Vec<(usize, ScoredBox)>,
        iou: f64,
        overlaps: &mut OverlapTable,
    ) {
        let outlines: Vec<_> = golden.iter().map(|(_, found)| (found.rect, false)).collect();
        overlaps.fill(observed.iter().map(|(_, found)| found.rect), &outlines, iou);
        let mut again = vec![false; golden.len()];
        overlaps.assign(iou, &vec![ObjectRole::Counts; golden.len()], |at, object| match object {
            Some(object) => {
                again[object] = true;
                self.same.push((golden[object].0, observed[at].0));
            }
            None => self.observed.push(observed[at]),
        });
        let gone = golden.into_iter().zip(again).filter(|&(_, again)| !again);
        self.golden.extend(gone.map(|(found, _)| found));
    }

    /// Takes out pairs that belong together, largest overlap first, one to one, and returns their
    /// places in the answers.
    fn take(
        &mut self,
        together: impl Fn(&ScoredBox, &ScoredBox, f64) -> bool,
    ) -> impl Iterator<Item = (usize, usize)> {
        let mut pairs = Vec::new();
        for (a, golden) in &self.golden {
            for (b, observed) in &self.observed {
                let overlap = golden.rect.iou(&observed.rect);
                if together(golden, observed, overlap) {
                    pairs.push((overlap, *a, *b));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut golden = BTreeSet::new();
        let mut observed = BTreeSet::new();
        pairs.retain(|(_, a, b)| {
            let free = !golden.contains(a) && !observed.contains(b);
            if free {
                golden.insert(*a);
                observed.insert(*b);
            }
            free
        });
        self.golden.retain(|(at, _)| !golden.contains(at));
        self.observed.retain(|(at, _)| !observed.contains(at));
        pairs.into_iter().map(|(_, a, b)| (a, b))
    }
}

/// Detections of a class with their places, by descending score.
fn of_class(detections: &[ScoredBox], class: usize) -> Vec<(usize, ScoredBox)> {
    let mut mine: Vec<(usize, ScoredBox)> =
        detections.iter().copied().enumerate().filter(|(_, found)| found.class == class).collect();
    mine.sort_by(|(_, a), (_, b)| ScoredBox::by_descending_score(a, b));
    mine
}

#[cfg(test)]
mod tests {
    use super::ObjectChange::{Label, Localisation, Missed, Spurious};
    use super::*;
    use faultlens_core::Bounds;

    fn found(class: usize, score: f32, left: f32) -> Detection {
        let bounds = Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 };
        Detection { class, score, bounds }
    }

    #[test]
    fn every_object_is_found_again_once() {
        let golden = [found(0, 0.9, 0.0), found(0, 0.8, 4.0), found(1, 0.7, 50.0)];
        let cases = [
            ("nothing changed", golden.to_vec(), vec![]),
            ("other order and scores", vec![golden[2], golden[1], golden[0]], vec![]),
            ("one is lost", golden[1..].to_vec(), vec![Missed { golden: 0 }]),
            (
                "one is new",
                [&golden[..], &[found(1, 0.1, 90.0)]].concat(),
                vec![Spurious { observed: 3 }],
            ),
            (
                "another class",
                vec![golden[0], golden[1], found(2, 0.7, 50.0)],
                vec![Label { golden: 2, observed: 2 }],
            ),
            ("moved by 3 of 10", vec![golden[0], golden[1], found(1, 0.7, 53.0)], vec![]),
            (
                "moved by 4 of 10",
                vec![golden[0], golden[1], found(1, 0.7, 54.0)],
                vec![Localisation { golden: 2, observed: 2 }],
            ),
            (
                "moved by 9 of 10",
                vec![golden[0], golden[1], found(1, 0.7, 59.0)],
                vec![Missed { golden: 2 }, Spurious { observed: 2 }],
            ),
            (
                "another class elsewhere",
                vec![golden[0], golden[1], found(2, 0.7, 54.0)],
                vec![Missed { golden: 2 }, Spurious { observed: 2 }],
            ),
            ("one for two", vec![found(0, 0.9, 2.0), golden[2]], vec![Missed { golden: 0 }]),
            (
                "two for one",
                vec![golden[0], golden[0], golden[1], golden[2]],
                vec![Spurious { observed: 1 }],
            ),
            (
                "the name goes before the place",
                vec![found(0, 0.9, 0.0), found(2, 0.3, 4.0), found(0, 0.2, 8.0), golden[2]],
                vec![Label { golden: 1, observed: 1 }, Spurious { observed: 2 }],
            ),
            ("nothing left", vec![], (0..3).map(|golden| Missed { golden }).collect()),
        ];
        for (what, observed, wanted) in cases {
            let got = object_changes(&golden, &observed, 0.5);
            assert_eq!(got, wanted, "{what}");
            let same = object_pairs(&golden, &observed, 0.5).same;
            assert_eq!(same.len() + changed_objects(&golden, &observed, 0.5).0, 3, "{what}");
            for (a, b) in same {
                assert_eq!(golden[a].class, observed[b].class, "{what}");
                assert!(golden[a].bounds.iou(&observed[b].bounds) >= 0.5, "{what}");
            }
            let gone = got.iter().filter(|change| !matches!(change, Spurious { .. })).count();
            let new = got.iter().filter(|change| !matches!(change, Missed { .. })).count();
            assert_eq!(changed_objects(&golden, &observed, 0.5), (gone, new), "{what}");
        }
        assert_eq!(changed_objects(&[], &golden, 0.5), (0, 3));
        assert_eq!(changed_objects(&[], &[], 0.5), (0, 0));
    }

    #[test]
    fn the_largest_overlap_chooses_first() {
        let golden = [found(0, 0.9, 0.0), found(0, 0.8, 20.0)];
        let observed = [found(0, 0.9, 5.0), found(0, 0.5, 4.0), found(0, 0.5, 27.0)];
        let wanted = [
            Localisation { golden: 0, observed: 1 },
            Localisation { golden: 1, observed: 2 },
            Spurious { observed: 0 },
        ];
        assert_eq!(object_changes(&golden, &observed, 0.5), wanted);
    }

    #[test]
    fn broken_boxes_are_found_nowhere() {
        let golden = [found(0, 0.9, f32::NAN)];
        let wanted = [Missed { golden: 0 }, Spurious { observed: 0 }];
        assert_eq!(object_changes(&golden, &golden, 0.5), wanted);
        let apart = [found(1, f32::NAN, 50.0)];
        assert_eq!(object_changes(&[found(0, 0.5, 0.0)], &apart, 0.0), wanted);
        assert_eq!(changed_objects(&[found(1, 0.5, 0.0)], &apart, 0.0), (0, 0));
    }

    #[test]
    fn objects_beyond_a_hundred_count_too() {
        let many: Vec<Detection> = (0..150).map(|at| found(0, 0.5, at as f32 * 20.0)).collect();
        assert_eq!(changed_objects(&many, &many[..120], 0.5), (30, 0));
    }
}
