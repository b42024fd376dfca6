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
struct Mine {
    objects: Vec<(usize, Known)>,
    detections: Vec<(usize, Found)>,
}

fn by_class(scenes: &[Scene], classes: usize) -> Vec<Mine> {
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
        let objects: Vec<usize> = grid.sizes.iter().map(|size| self.to_find(size)).collect();
        let reached = |(size, &objects): (usize, &usize)| {
            let ious = 0..grid.ious.len();
            (objects > 0).then(|| Reached {
                precision: ious.clone().map(|at| judged.precision(size, at, objects)).collect(),
                recall: ious.map(|at| judged.recall(size, at, objects, usize::MAX)).collect(),
            })
        };
        let surest = |objects| {
            FEWER_DETECTIONS.map(|most| {
                (0..grid.ious.len()).map(|at| judged.recall(0, at, objects, most)).collect()
            })
        };
        ClassScores {
            objects: self.objects.iter().filter(|(_, known)| !known.crowd).count(),
            detections: self.detections.len(),
            sizes: objects.iter().enumerate().map(reached).collect(),
            surest: objects.first().filter(|&&objects| objects > 0).map(|&all| surest(all)),
        }
    }

    fn to_find(&self, size: &Size) -> usize {
        let counts = |(_, known): &&(usize, Known)| standing(known, size) == Standing::Counts;
        self.objects.iter().filter(counts).count()
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
            bench.judge(here, grid, &mut judged);
        }
        judged.order();
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

    fn judge(&mut self, objects: &[(usize, Known)], grid: Grid<'_>, judged: &mut Judged) {
        let Self { found, standings, meetings, .. } = self;
        judged.found.extend(found.iter().enumerate().map(|(rank, found)| (found.score, rank)));
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
enum Verdict {
    Right,
    Wrong,
    /// Neither: it found what does not count.
    Aside,
}

/// Every detection of a class that counts, judged.
struct Judged {
    /// Score, and how many of the same image and class are surer.
    found: Vec<(f64, usize)>,
    /// For each size, then threshold, a verdict on each detection.
    verdicts: Vec<Vec<Verdict>>,
    ious: usize,
    /// Places of detections, surest first.
    order: Vec<usize>,
}

impl Judged {
    fn new(grid: Grid<'_>) -> Self {
        let ious = grid.ious.len();
        let verdicts = vec![Vec::new(); grid.sizes.len() * ious];
        Self { found: Vec::new(), verdicts, ious, order: Vec::new() }
    }

    fn verdicts(&mut self, size: usize) -> impl Iterator<Item = &mut Vec<Verdict>> {
        self.verdicts[size * self.ious..(size + 1) * self.ious].iter_mut()
    }

    fn order(&mut self) {
        self.order = (0..self.found.len()).collect();
        let score = |&at: &usize| self.found[at].0;
        self.order.sort_by(|a, b| super::surest_first(score(a), score(b)));
    }

    fn precision(&self, size: usize, iou: usize, objects: usize) -> f64 {
        let verdicts = &self.verdicts[size * self.ious + iou];
        let counting = self.order.iter().map(|&at| verdicts[at]).filter(|&v| v != Verdict::Aside);
        Curve::new(counting.map(|verdict| verdict == Verdict::Right), objects).at_101_recalls()
    }

    /// Recall of the `most` surest detections of each image.
    fn recall(&self, size: usize, iou: usize, objects: usize, most: usize) -> f64 {
        let verdicts = &self.verdicts[size * self.ious + iou];
        let right = verdicts.iter().zip(&self.found);
        let right = right.filter(|&(&v, &(_, rank))| v == Verdict::Right && rank < most).count();
        right as f64 / objects as f64
    }
}

/// COCO's twelve numbers; `None` where there is no object to find.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CocoSummary {
    /// Average precision over classes and thresholds 0.5, 0.55 … 0.95.
    pub ap: Option<f64>,
    /// Average precision where boxes overlap by half.
    pub ap50: Option<f64>,
    /// Average precision where boxes overlap by three quarters.
    pub ap75: Option<f64>,
    /// `ap` of objects of less than 32² pixels.
    pub ap_small: Option<f64>,
    /// `ap` of objects in between.
    pub ap_medium: Option<f64>,
    /// `ap` of objects of more than 96² pixels.
    pub ap_large: Option<f64>,
    /// Average recall with 1 detection per image and class.
    pub ar1: Option<f64>,
    /// Average recall with 10 detections per image and class.
    pub ar10: Option<f64>,
    /// Average recall with 100 detections per image and class.
    pub ar100: Option<f64>,
    /// `ar100` of small objects.
    pub ar_small: Option<f64>,
    /// `ar100` of medium objects.
    pub ar_medium: Option<f64>,
    /// `ar100` of large objects.
    pub ar_large: Option<f64>,
}

impl CocoSummary {
    /// The means over classes of what [`coco_scores`] found.
    pub fn of(classes: &[ClassScores]) -> Self {
        let precision = |size| mean(classes.iter().filter_map(|class| class.ap(size)));
        let recall = |size| mean(classes.iter().filter_map(|class| class.ar(size)));
        let at = |iou| mean(classes.iter().filter_map(|class| class.ap_at(iou)));
        let surest = |most: usize| {
            let mine = classes.iter().filter_map(|class| class.surest.as_ref());
            mean(mine.filter_map(|surest| mean(surest[most].iter().copied())))
        };
        Self {
            ap: precision(0),
            ap50: at(0),
            ap75: at(5),
            ap_small: precision(1),
            ap_medium: precision(2),
            ap_large: precision(3),
            ar1: surest(0),
            ar10: surest(1),
            ar100: recall(0),
            ar_small: recall(1),
            ar_medium: recall(2),
            ar_large: recall(3),
        }
    }
}

impl ClassScores {
    /// Average precision over thresholds, of a size: 0 all, 1 small, 2 medium, 3 large.
    pub fn ap(&self, size: usize) -> Option<f64> {
        self.of_size(size).and_then(|reached| mean(reached.precision.iter().copied()))
    }

    /// Average recall over thresholds, of a size.
    pub fn ar(&self, size: usize) -> Option<f64> {
        self.of_size(size).and_then(|reached| mean(reached.recall.iter().copied()))
    }

    /// Average precision at one of the thresholds, by its place.
    pub fn ap_at(&self, iou: usize) -> Option<f64> {
        self.of_size(0)?.precision.get(iou).copied()
    }

    fn of_size(&self, size: usize) -> Option<&Reached> {
        self.sizes.get(size)?.as_ref()
    }
}

/// `None` of nothing.
pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) =
        numbers.fold((0usize, 0.0), |(count, sum), number| (count + 1, sum + number));
    (count > 0).then(|| sum / count as f64)
}
