//! Average precision and recall as COCO defines them, step for step as pycocotools computes them.

use super::curve::Curve;
use super::matching::{Meetings, Standing};
use super::{Found, Known, Rect, Scene};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of each class, only the surest detections of an image count, as COCO has it.
const MOST_DETECTIONS: usize = 100;

/// Recall is also told of only so many detections of an image and class.
const FEWER_DETECTIONS: [usize; 2] = [1, 10];

/// COCO's ten thresholds, 0.5, 0.55 … 0.95, with the very bits that pycocotools has.
pub fn coco_ious() -> [f64; 10] {
    std::array::from_fn(|step| 0.5 + step as f64 * ((0.95 - 0.5) / 9.0))
}

/// From how many pixels up to how many an object belongs to a size, both included.
pub(crate) type Size = (f64, f64);

const LARGEST: f64 = 1e10;

/// All objects, then small, medium and large ones.
const SIZES: [Size; 4] = [(0.0, LARGEST), (0.0, 1024.0), (1024.0, 9216.0), (9216.0, LARGEST)];

/// What was reached among objects of one class and size: a number for each threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    /// Precision, averaged over 101 recalls.
    pub precision: Vec<f64>,
    /// The share of objects that were found.
    pub recall: Vec<f64>,
}

/// How well objects of one class were found.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassScores {
    /// How many objects are to be found; crowds are not.
    pub objects: usize,
    /// How many detections there are, also those that are too many to count.
    pub detections: usize,
    /// Among all objects, small, medium and large ones; `None` where there is none.
    pub sizes: Vec<Option<Reached>>,
    /// Recall of the surest 1 and 10 detections of each image, for each threshold.
    pub surest: Option<[Vec<f64>; 2]>,
}

/// What is judged, and how finely.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid<'a> {
    pub(crate) ious: &'a [f64],
    pub(crate) sizes: &'a [Size],
}

/// Scores for each of `classes`, at COCO's thresholds and sizes. Scenes stand in the order of their
/// numbers; threads change nothing but the time.
///
/// ```
/// use faultlens_judge::{CocoSummary, Found, Known, Rect, Scene, coco_scores};
///
/// let rect = Rect { left: 8.0, top: 8.0, width: 20.0, height: 20.0 };
/// let known = Known { class: 0, rect, area: 400.0, crowd: false, difficult: false };
/// let found = Found { class: 0, rect, score: 0.9 };
/// let scene = Scene { objects: vec![known], detections: vec![found] };
/// let summary = CocoSummary::of(&coco_scores(&[scene], 1, 1));
/// assert!(summary.ap.is_some_and(|ap| ap > 0.999));
/// assert_eq!(summary.ap_large, None);
/// ```
pub fn coco_scores(scenes: &[Scene], classes: usize, threads: usize) -> Vec<ClassScores> {
    scores(scenes, classes, Grid { ious: &coco_ious(), sizes: &SIZES }, threads)
}

/// [`coco_scores`] at other thresholds and sizes.
pub(crate) fn scores(
    scenes: &[Scene],
    classes: usize,
    grid: Grid<'_>,
    threads: usize,
) -> Vec<ClassScores> {
    let all = by_class(scenes, classes);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let class = next.fetch_add(1, Ordering::Relaxed);
            let Some(mine) = all.get(class) else { return done };
            done.push((class, mine.scores(grid)));
        }
    };
    let mut done = if threads <= 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(classes)).map(|_| scope.spawn(work)).collect();
            let mut done = work();
            for other in others {
                done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            done
        })
    };
    done.sort_by_key(|&(class, _)| class);
    done.into_iter().map(|(_, scores)| scores).collect()
}

/// What is known and found of one class, with the numbers of the scenes.
#[derive(Default)]
pub(super) struct Mine {
    pub(super) objects: Vec<(usize, Known)>,
    detections: Vec<(usize, Found)>,
}

pub(super) fn by_class(scenes: &[Scene], classes: usize) -> Vec<Mine> {
    let mut all: Vec<Mine> = (0..classes).map(|_| Mine::default()).collect();
    for (at, scene) in scenes.iter().enumerate() {
        for known in &scene.objects {
            if let Some(mine) = all.get_mut(known.class) {
                mine.objects.push((at, *known));
            }
        }
        for found in &scene.detections {
            if let Some(mine) = all.get_mut(found.class) {
                mine.detections.push((at, *found));
            }
        }
    }
    all
}

impl Mine {
    fn scores(&self, grid: Grid<'_>) -> ClassScores {
        let judged = self.judge(grid);
        let order = judged.order();
        let all = grid.ious.len();
        let reached = |(at, size): (usize, &Size)| {
            let objects = self.to_find(size);
            let ious = at * all..(at + 1) * all;
            (objects > 0).then(|| Reached {
                precision: ious.clone().map(|at| judged.precision(&order, at, objects)).collect(),
                recall: ious.map(|at| judged.recall(at, objects, usize::MAX)).collect(),
            })
        };
        let objects = grid.sizes.first().map_or(0, |size| self.to_find(size));
        let surest =
            |most| (0..all).map(|at| judged.recall(at, objects, most)).collect::<Vec<f64>>();
        ClassScores {
            objects: self.objects.iter().filter(|(_, known)| !known.crowd).count(),
            detections: self.detections.len(),
            sizes: grid.sizes.iter().enumerate().map(reached).collect(),
            surest: (objects > 0).then(|| FEWER_DETECTIONS.map(surest)),
        }
    }

    fn to_find(&self, size: &Size) -> usize {
        self.objects.iter().filter(|(_, known)| standing(known, size) == Standing::Counts).count()
    }

    /// Judges every detection that counts, whatever the objects' size.
    pub(super) fn judge_at(&self, ious: &[f64]) -> Judged {
        self.judge(Grid { ious, sizes: &SIZES[..1] })
    }

    /// Judges every detection that counts at every threshold and size.
    fn judge(&self, grid: Grid<'_>) -> Judged {
        let mut judged = Judged::new(grid);
        let mut bench = Bench::default();
        let mut objects = &self.objects[..];
        for group in self.detections.chunk_by(|(a, _), (b, _)| a == b) {
            let scene = group[0].0;
            objects = &objects[objects.partition_point(|(at, _)| *at < scene)..];
            let here = &objects[..objects.partition_point(|(at, _)| *at == scene)];
            bench.take(group, here, grid);
            bench.judge(scene, here, grid, &mut judged);
        }
        judged
    }
}

fn standing(known: &Known, size: &Size) -> Standing {
    if known.crowd {
        Standing::Crowd
    } else if outside(known.area, size) {
        Standing::Aside
    } else {
        Standing::Counts
    }
}

fn outside(area: f64, &(least, most): &Size) -> bool {
    area < least || area > most
}

/// One image and class at work; its buffers serve the next one.
#[derive(Default)]
struct Bench {
    found: Vec<Found>,
    outlines: Vec<(Rect, bool)>,
    standings: Vec<Standing>,
    meetings: Meetings,
}

impl Bench {
    fn take(&mut self, group: &[(usize, Found)], objects: &[(usize, Known)], grid: Grid<'_>) {
        self.found.clear();
        self.found.extend(group.iter().map(|&(_, found)| found));
        self.found.sort_by(Found::surest_first);
        self.found.truncate(MOST_DETECTIONS);
        self.outlines.clear();
        self.outlines.extend(objects.iter().map(|(_, known)| (known.rect, known.crowd)));
        let least = grid.ious.iter().copied().fold(f64::INFINITY, f64::min);
        self.meetings.note(self.found.iter().map(|found| found.rect), &self.outlines, least);
    }

    fn judge(
        &mut self,
        scene: usize,
        objects: &[(usize, Known)],
        grid: Grid<'_>,
        judged: &mut Judged,
    ) {
        let Self { found, standings, meetings, .. } = self;
        let counted = found.iter().enumerate();
        judged.found.extend(counted.map(|(rank, found)| Counted {
            scene,
            rank,
            score: found.score,
        }));
        for (at, size) in grid.sizes.iter().enumerate() {
            standings.clear();
            standings.extend(objects.iter().map(|(_, known)| standing(known, size)));
            for (to, &iou) in judged.verdicts(at).zip(grid.ious) {
                meetings.find(iou, standings, |detection, object| {
                    to.push(match object.map(|object| standings[object]) {
                        Some(Standing::Counts) => Verdict::Right,
                        Some(_) => Verdict::Aside,
                        None if outside(found[detection].rect.area(), size) => Verdict::Aside,
                        None => Verdict::Wrong,
                    });
                });
            }
        }
    }
}

/// What a detection is at one threshold and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Right,
    Wrong,
    /// Neither: it found what does not count.
    Aside,
}

/// A detection that counts.
pub(super) struct Counted {
    pub(super) scene: usize,
    pub(super) score: f64,
    /// How many of the same image and class are surer.
    rank: usize,
}

/// Every detection of a class that counts, judged.
pub(super) struct Judged {
    pub(super) found: Vec<Counted>,
    /// For each size, then threshold, a verdict on each detection.
    pub(super) verdicts: Vec<Vec<Verdict>>,
    ious: usize,
}

impl Judged {
    fn new(grid: Grid<'_>) -> Self {
        let ious = grid.ious.len();
        let verdicts = vec![Vec::new(); grid.sizes.len() * ious];
        Self { found: Vec::new(), verdicts, ious }
    }

    fn verdicts(&mut self, size: usize) -> impl Iterator<Item = &mut Vec<Verdict>> {
        self.verdicts[size * self.ious..(size + 1) * self.ious].iter_mut()
    }

    /// Places of detections, surest first.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.found.len()).collect();
        order.sort_by(|&a, &b| super::surest_first(self.found[a].score, self.found[b].score));
        order
    }

    fn precision(&self, order: &[usize], at: usize, objects: usize) -> f64 {
        let verdicts = order.iter().map(|&place| self.verdicts[at][place]);
        let counting = verdicts.filter(|&verdict| verdict != Verdict::Aside);
        Curve::new(counting.map(|verdict| verdict == Verdict::Right), objects).at_101_recalls()
    }

    /// Recall of the `most` surest detections of each image.
    fn recall(&self, at: usize, objects: usize, most: usize) -> f64 {
        let right = self.verdicts[at].iter().zip(&self.found);
        let right = right.filter(|&(&v, found)| v == Verdict::Right && found.rank < most).count();
        right as f64 / objects as f64
    }
}

/// `None` of nothing.
pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) =
        numbers.fold((0usize, 0.0), |(count, sum), number| (count + 1, sum + number));
    (count > 0).then(|| sum / count as f64)
}
