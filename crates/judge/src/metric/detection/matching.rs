//! Which detection finds which object, step for step as pycocotools decides it.

use super::Rect;

/// How an object of the ground truth counts for the detection that is matched with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectRole {
    /// It should be found, once: its detection is a true positive.
    Counts,
    /// It can be found once, but its detection counts neither as right nor as wrong.
    Ignored,
    /// It can be found any number of times, and its detections count neither way.
    Crowd,
}

/// Which detections of one image and class overlap which objects, and by how much.
///
/// Overlaps are computed once and serve every threshold. Those below the smallest threshold are not
/// kept, so that most detections have one or none. The rows lie one after the other, as in a
/// compressed sparse matrix.
#[derive(Debug, Default)]
pub(crate) struct OverlapTable {
    /// For each detection, where its overlaps start; one more at the end.
    starts: Vec<usize>,
    overlaps: Vec<Overlap>,
    /// For each object, whether a detection has it; scratch space of [`assign`](Self::assign).
    taken: Vec<bool>,
}

#[derive(Debug, Clone, Copy)]
struct Overlap {
    object: usize,
    iou: f64,
}

impl OverlapTable {
    /// Replaces the content by the overlaps of one image: detections by descending score, and objects
    /// with whether they are crowds. Buffers are reused, since there are many images.
    pub(crate) fn fill(
        &mut self,
        detections: impl Iterator<Item = Rect>,
        objects: &[(Rect, bool)],
        min_iou: f64,
    ) {
        let min_iou = reachable(min_iou);
        self.starts.clear();
        self.overlaps.clear();
        for rect in detections {
            self.starts.push(self.overlaps.len());
            for (object, &(known, crowd)) in objects.iter().enumerate() {
                let iou = if crowd { rect.part_in(&known) } else { rect.iou(&known) };
                if iou >= min_iou {
                    self.overlaps.push(Overlap { object, iou });
                }
            }
        }
        self.starts.push(self.overlaps.len());
    }

    /// Assigns objects to detections at a threshold, and reports for each detection the object that
    /// it finds.
    ///
    /// This is the greedy matching of pycocotools: detections choose by descending score, and each
    /// takes the free object that it overlaps most, of equal ones the last. Objects that do not
    /// count are taken only by detections that find no other.
    pub(crate) fn assign(
        &mut self,
        min_iou: f64,
        roles: &[ObjectRole],
        mut report: impl FnMut(usize, Option<usize>),
    ) {
        self.taken.clear();
        self.taken.resize(roles.len(), false);
        for detection in 0..self.starts.len().saturating_sub(1) {
            let row = &self.overlaps[self.starts[detection]..self.starts[detection + 1]];
            let mut best = best_match(row, min_iou, |object| {
                roles[object] == ObjectRole::Counts && !self.taken[object]
            });
            if best.is_none() {
                best = best_match(row, min_iou, |object| match roles[object] {
                    ObjectRole::Counts => false,
                    ObjectRole::Ignored => !self.taken[object],
                    ObjectRole::Crowd => true,
                });
            }
            if let Some(object) = best {
                self.taken[object] = true;
            }
            report(detection, best);
        }
    }
}

/// The available object with the largest overlap of at least `min_iou`; of equal ones the last.
fn best_match(
    row: &[Overlap],
    min_iou: f64,
    is_available: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut largest = reachable(min_iou);
    let mut best = None;
    for &Overlap { object, iou } in row {
        if iou >= largest && is_available(object) {
            largest = iou;
            best = Some(object);
        }
    }
    best
}

/// After rounding, a box may overlap itself by a little less than 1; with this margin, which
/// pycocotools has too, it still finds itself at threshold 1.
fn reachable(iou: f64) -> f64 {
    iou.min(1.0 - 1e-10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ObjectRole::{Counts, Crowd, Ignored};

    fn rect(left: f64) -> Rect {
        Rect { left, top: 0.0, width: 10.0, height: 10.0 }
    }

    #[test]
    fn the_highest_score_chooses_first() {
        let cases = [
            ("the nearest", vec![1.0], vec![(0.0, Counts), (2.0, Counts)], vec![Some(1)]),
            ("once", vec![0.0, 0.0], vec![(0.0, Counts)], vec![Some(0), None]),
            (
                "the next best",
                vec![0.0, 0.0],
                vec![(0.0, Counts), (1.0, Counts)],
                vec![Some(0), Some(1)],
            ),
            (
                "what counts first",
                vec![0.0, 0.0],
                vec![(0.0, Ignored), (1.0, Counts)],
                vec![Some(1), Some(0)],
            ),
            ("a crowd again and again", vec![0.0, 1.0], vec![(0.0, Crowd)], vec![Some(0), Some(0)]),
            ("ignored once", vec![0.0, 0.0], vec![(0.0, Ignored)], vec![Some(0), None]),
            ("too far", vec![4.0], vec![(0.0, Counts)], vec![None]),
        ];
        let mut overlaps = OverlapTable::default();
        for (what, detections, objects, wanted) in cases {
            let outlines: Vec<_> =
                objects.iter().map(|&(left, role)| (rect(left), role == Crowd)).collect();
            let roles: Vec<ObjectRole> = objects.iter().map(|&(_, role)| role).collect();
            overlaps.fill(detections.into_iter().map(rect), &outlines, 0.5);
            let mut got = Vec::new();
            overlaps.assign(0.5, &roles, |_, object| got.push(object));
            assert_eq!(got, wanted, "{what}");
        }
    }
}
