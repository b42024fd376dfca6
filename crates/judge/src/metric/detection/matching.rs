//! Which detection finds which object, step for step as pycocotools decides it.

use super::Rect;

/// How an object counts for who finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is to be found, once.
    Counts,
    /// It can be found once, but whoever finds it is neither right nor wrong.
    Aside,
    /// It can be found any number of times, by who is then neither right nor wrong.
    Crowd,
}

/// Which detections of one image and class overlap which objects, and by how much.
///
/// Overlaps are computed once and serve every threshold. Those below the least threshold are not
/// kept, so that most detections have one or none.
#[derive(Debug, Default)]
pub(crate) struct Meetings {
    /// For each detection, where its meetings start; one more at the end.
    starts: Vec<usize>,
    met: Vec<Meeting>,
    taken: Vec<bool>,
}

#[derive(Debug, Clone, Copy)]
struct Meeting {
    object: usize,
    overlap: f64,
}

impl Meetings {
    /// Forgets what was there and takes in one image: detections surest first, and objects with
    /// whether they are crowds. Buffers are used again, since there are many images.
    pub(crate) fn note(
        &mut self,
        detections: impl Iterator<Item = Rect>,
        objects: &[(Rect, bool)],
        least: f64,
    ) {
        let least = reachable(least);
        self.starts.clear();
        self.met.clear();
        for rect in detections {
            self.starts.push(self.met.len());
            for (object, &(known, crowd)) in objects.iter().enumerate() {
                let overlap = if crowd { rect.part_in(&known) } else { rect.iou(&known) };
                if overlap >= least {
                    self.met.push(Meeting { object, overlap });
                }
            }
        }
        self.starts.push(self.met.len());
    }

    /// Tells, for each detection, which object it finds at a threshold.
    ///
    /// The surest detection chooses first and takes the object that it overlaps most, of equal
    /// ones the last. Objects that do not count are found by who finds no other.
    pub(crate) fn find(
        &mut self,
        iou: f64,
        standings: &[Standing],
        mut tell: impl FnMut(usize, Option<usize>),
    ) {
        self.taken.clear();
        self.taken.resize(standings.len(), false);
        for detection in 0..self.starts.len().saturating_sub(1) {
            let met = &self.met[self.starts[detection]..self.starts[detection + 1]];
            let free = |object: usize| !self.taken[object];
            let best = most(met, iou, |object: usize| {
                standings[object] == Standing::Counts && free(object)
            })
            .or_else(|| {
                most(met, iou, |object: usize| match standings[object] {
                    Standing::Counts => false,
                    Standing::Aside => free(object),
                    Standing::Crowd => true,
                })
            });
            if let Some(object) = best {
                self.taken[object] = true;
            }
            tell(detection, best);
        }
    }
}

/// The object of the largest overlap that reaches `iou`; of equal ones the last.
fn most(met: &[Meeting], iou: f64, open: impl Fn(usize) -> bool) -> Option<usize> {
    let mut least = reachable(iou);
    let mut best = None;
    for &Meeting { object, overlap } in met {
        if overlap >= least && open(object) {
            least = overlap;
            best = Some(object);
        }
    }
    best
}

/// A box that overlaps itself by less than 1, after rounding, still finds itself at threshold 1.
fn reachable(iou: f64) -> f64 {
    iou.min(1.0 - 1e-10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Standing::{Aside, Counts, Crowd};

    #[test]
    fn the_surest_chooses_first() {
        let rect = |left| Rect { left, top: 0.0, width: 10.0, height: 10.0 };
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
                vec![(0.0, Aside), (1.0, Counts)],
                vec![Some(1), Some(0)],
            ),
            ("a crowd again and again", vec![0.0, 1.0], vec![(0.0, Crowd)], vec![Some(0), Some(0)]),
            ("aside once", vec![0.0, 0.0], vec![(0.0, Aside)], vec![Some(0), None]),
            ("too far", vec![4.0], vec![(0.0, Counts)], vec![None]),
        ];
        let mut meetings = Meetings::default();
        for (what, detections, objects, wanted) in cases {
            let outlines: Vec<_> =
                objects.iter().map(|&(left, standing)| (rect(left), standing == Crowd)).collect();
            let standings: Vec<Standing> = objects.iter().map(|&(_, standing)| standing).collect();
            meetings.note(detections.into_iter().map(rect), &outlines, 0.5);
            let mut got = Vec::new();
            meetings.find(0.5, &standings, |_, object| got.push(object));
            assert_eq!(got, wanted, "{what}");
        }
    }
}
