//! Average precision and recall as COCO defines them, step for step as pycocotools computes them.

use super::curve::Curve;
use super::matching::{ObjectRole, OverlapTable};
use super::{Rect, Scene, ScoredBox, TruthBox};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of each class, only the highest-scoring detections of an image count, as in COCO.
const MAX_DETECTIONS: usize = 100;

/// Recall is also reported for the best 1 and 10 detections of an image and class.
const FEWER_DETECTIONS: [usize; 2] = [1, 10];

/// COCO's ten thresholds, 0.5, 0.55 … 0.95, with the same bits as in pycocotools (`np.linspace`).
pub fn coco_ious() -> [f64; 10] {
    std::array::from_fn(|step| 0.5 + step as f64 * ((0.95 - 0.5) / 9.0))
}

/// The smallest and the largest number of pixels of a size class, both included.
pub(crate) type Size = (f64, f64);

const LARGEST: f64 = 1e10;

/// All objects, then small, medium and large ones.
const SIZES: [Size; 4] = [(0.0, LARGEST), (0.0, 1024.0), (1024.0, 9216.0), (9216.0, LARGEST)];

/// The scores for objects of one class and size: a number for each threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeScores {
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
    pub sizes: Vec<Option<SizeScores>>,
    /// Recall of the best 1 and 10 detections of each image, for each threshold.
    pub top_recalls: Option<[Vec<f64>; 2]>,
}

/// The thresholds and sizes at which detections are judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EvaluationGrid<'a> {
    pub(crate) ious: &'a [f64],
    pub(crate) sizes: &'a [Size],
}

/// Scores for each of `classes`, at COCO's thresholds and sizes. Scenes stand in the order of their
/// numbers; the number of threads does not change the result.
///
/// ```
/// use faultlens_judge::{CocoSummary, ScoredBox, TruthBox, Rect, Scene, coco_scores};
///
/// let rect = Rect { left: 8.0, top: 8.0, width: 20.0, height: 20.0 };
/// let known = TruthBox { class: 0, rect, area: 400.0, crowd: false, difficult: false };
/// let found = ScoredBox { class: 0, rect, score: 0.9 };
/// let scene = Scene { objects: vec![known], detections: vec![found] };
/// let summary = CocoSummary::of(&coco_scores(&[scene], 1, 1));
/// assert!(summary.ap.is_some_and(|ap| ap > 0.999));
/// assert_eq!(summary.ap_large, None);
/// ```
pub fn coco_scores(scenes: &[Scene], classes: usize, threads: usize) -> Vec<ClassScores> {
    scores(scenes, classes, EvaluationGrid { ious: &coco_ious(), sizes: &SIZES }, threads)
}

/// [`coco_scores`] at other thresholds and sizes.
pub(crate) fn scores(
    scenes: &[Scene],
    classes: usize,
    grid: EvaluationGrid<'_>,
    threads: usize,
) -> Vec<ClassScores> {
    let all = by_class(scenes, classes);
    // Threads take the next class when they are done with one: classes differ much in size.
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

/// The ground truth and the detections of one class, with the numbers of their scenes.
#[derive(Default)]
pub(super) struct ClassBoxes {
    pub(super) objects: Vec<(usize, TruthBox)>,
    detections: Vec<(usize, ScoredBox)>,
}

pub(super) fn by_class(scenes: &[Scene], classes: usize) -> Vec<ClassBoxes> {
    let mut all: Vec<ClassBoxes> = (0..classes).map(|_| ClassBoxes::default()).collect();
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

impl ClassBoxes {
    fn scores(&self, grid: EvaluationGrid<'_>) -> ClassScores {
        let judged = self.judge(grid);
        let order = judged.order();
        let thresholds = grid.ious.len();
        let mut sizes = Vec::with_capacity(grid.sizes.len());
        for (at, size) in grid.sizes.iter().enumerate() {
            let objects = self.to_find(size);
            if objects == 0 {
                sizes.push(None);
                continue;
            }
            let mut scores = SizeScores { precision: Vec::new(), recall: Vec::new() };
            for at in at * thresholds..(at + 1) * thresholds {
                scores.precision.push(judged.precision(&order, at, objects));
                scores.recall.push(judged.recall(at, objects, usize::MAX));
            }
            sizes.push(Some(scores));
        }
        let objects = grid.sizes.first().map_or(0, |size| self.to_find(size));
        let top_recalls = FEWER_DETECTIONS
            .map(|max| (0..thresholds).map(|at| judged.recall(at, objects, max)).collect());
        ClassScores {
            objects: self.objects.iter().filter(|(_, known)| !known.crowd).count(),
            detections: self.detections.len(),
            sizes,
            top_recalls: if objects > 0 { Some(top_recalls) } else { None },
        }
    }

    fn to_find(&self, size: &Size) -> usize {
        self.objects.iter().filter(|(_, known)| role(known, size) == ObjectRole::Counts).count()
    }

    /// Judges every detection that counts, whatever the objects' size.
    pub(super) fn judge_at(&self, ious: &[f64]) -> JudgedClass {
        self.judge(EvaluationGrid { ious, sizes: &SIZES[..1] })
    }

    /// Judges every detection that counts at every threshold and size.
    fn judge(&self, grid: EvaluationGrid<'_>) -> JudgedClass {
        let mut judged = JudgedClass::new(grid);
        let mut workspace = Workspace::default();
        let mut objects = &self.objects[..];
        for group in self.detections.chunk_by(|(a, _), (b, _)| a == b) {
            let scene = group[0].0;
            objects = &objects[objects.partition_point(|(at, _)| *at < scene)..];
            let here = &objects[..objects.partition_point(|(at, _)| *at == scene)];
            workspace.take(group, here, grid);
            workspace.judge(scene, here, grid, &mut judged);
        }
        judged
    }
}

fn role(known: &TruthBox, size: &Size) -> ObjectRole {
    if known.crowd {
        ObjectRole::Crowd
    } else if outside(known.area, size) {
        ObjectRole::Ignored
    } else {
        ObjectRole::Counts
    }
}

fn outside(area: f64, &(min, max): &Size) -> bool {
    area < min || area > max
}

/// The buffers for one image and class; they are reused for the next one.
#[derive(Default)]
struct Workspace {
    found: Vec<ScoredBox>,
    outlines: Vec<(Rect, bool)>,
    roles: Vec<ObjectRole>,
    overlaps: OverlapTable,
}

impl Workspace {
    fn take(
        &mut self,
        group: &[(usize, ScoredBox)],
        objects: &[(usize, TruthBox)],
        grid: EvaluationGrid<'_>,
    ) {
        self.found.clear();
        self.found.extend(group.iter().map(|&(_, found)| found));
        self.found.sort_by(ScoredBox::by_descending_score);
        self.found.truncate(MAX_DETECTIONS);
        self.outlines.clear();
        self.outlines.extend(objects.iter().map(|(_, known)| (known.rect, known.crowd)));
        let min_iou = grid.ious.iter().copied().fold(f64::INFINITY, f64::min);
        self.overlaps.fill(self.found.iter().map(|found| found.rect), &self.outlines, min_iou);
    }

    fn judge(
        &mut self,
        scene: usize,
        objects: &[(usize, TruthBox)],
        grid: EvaluationGrid<'_>,
        judged: &mut JudgedClass,
    ) {
        let Self { found, roles, overlaps, .. } = self;
        let counted = found.iter().enumerate();
        judged.found.extend(counted.map(|(rank, found)| CountedDetection {
            scene,
            rank,
            score: found.score,
        }));
        for (at, size) in grid.sizes.iter().enumerate() {
            roles.clear();
            roles.extend(objects.iter().map(|(_, known)| role(known, size)));
            for (to, &iou) in judged.verdicts(at).zip(grid.ious) {
                overlaps.assign(iou, roles, |detection, object| {
                    to.push(match object.map(|object| roles[object]) {
                        Some(ObjectRole::Counts) => Verdict::TruePositive,
                        Some(_) => Verdict::Ignored,
                        None if outside(found[detection].rect.area(), size) => Verdict::Ignored,
                        None => Verdict::FalsePositive,
                    });
                });
            }
        }
    }
}

/// What a detection is at one threshold and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    TruePositive,
    FalsePositive,
    /// Neither: it found something that does not count.
    Ignored,
}

/// A detection that counts.
pub(super) struct CountedDetection {
    pub(super) scene: usize,
    pub(super) score: f64,
    /// How many of the same image and class have a higher score.
    rank: usize,
}

/// Every detection of a class that counts, judged.
pub(super) struct JudgedClass {
    pub(super) found: Vec<CountedDetection>,
    /// For each size, then threshold, a verdict on each detection.
    pub(super) verdicts: Vec<Vec<Verdict>>,
    ious: usize,
}

impl JudgedClass {
    fn new(grid: EvaluationGrid<'_>) -> Self {
        let ious = grid.ious.len();
        let verdicts = vec![Vec::new(); grid.sizes.len() * ious];
        Self { found: Vec::new(), verdicts, ious }
    }

    fn verdicts(&mut self, size: usize) -> impl Iterator<Item = &mut Vec<Verdict>> {
        self.verdicts[size * self.ious..(size + 1) * self.ious].iter_mut()
    }

    /// Places of detections, by descending score.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.found.len()).collect();
        order
            .sort_by(|&a, &b| super::by_descending_score(self.found[a].score, self.found[b].score));
        order
    }

    fn precision(&self, order: &[usize], at: usize, objects: usize) -> f64 {
        let verdicts = order.iter().map(|&place| self.verdicts[at][place]);
        let counting = verdicts.filter(|&verdict| verdict != Verdict::Ignored);
        Curve::new(counting.map(|verdict| verdict == Verdict::TruePositive), objects)
            .at_101_recalls()
    }

    /// Recall of the `max` highest-scoring detections of each image.
    fn recall(&self, at: usize, objects: usize, max: usize) -> f64 {
        let mut hits = 0;
        for (&verdict, found) in self.verdicts[at].iter().zip(&self.found) {
            if verdict == Verdict::TruePositive && found.rank < max {
                hits += 1;
            }
        }
        f64::from(hits) / objects as f64
    }
}

/// The mean; `None` of no numbers.
pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut count = 0usize;
    let mut sum = 0.0;
    for number in numbers {
        count += 1;
        sum += number;
    }
    if count > 0 { Some(sum / count as f64) } else { None }
}
