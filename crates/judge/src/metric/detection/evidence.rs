//! Average precision of the same scenes under many weights, for bootstrap intervals.

use super::Scene;
use super::coco::{ClassBoxes, Verdict, by_class, mean};
use super::curve::Curve;

/// The detections of many scenes, judged once.
///
/// Intervals of average precision come from the bootstrap: scenes drawn again with replacement. A
/// scene that is drawn twice counts twice; the matching within a scene stays the same, so only the
/// counting is repeated.
#[derive(Debug)]
pub struct CocoEvidence {
    classes: Vec<Class>,
    scenes: usize,
}

#[derive(Debug)]
struct Class {
    /// The scenes of its objects.
    objects: Vec<usize>,
    /// The scenes of its detections, by descending score.
    detections: Vec<usize>,
    /// For each threshold, a verdict on each detection.
    verdicts: Vec<Vec<Verdict>>,
}

impl CocoEvidence {
    /// Judges all detections at these thresholds, whatever the objects' size.
    pub fn new(scenes: &[Scene], classes: usize, ious: &[f64]) -> Self {
        let classes = by_class(scenes, classes).iter().map(|mine| Class::new(mine, ious)).collect();
        Self { classes, scenes: scenes.len() }
    }

    /// The mean of average precision over classes and thresholds, each scene as often as `drawn`
    /// says; `None` where no object is left.
    pub fn average_precision(&self, drawn: impl IntoIterator<Item = usize>) -> Option<f64> {
        let mut times = vec![0; self.scenes];
        for scene in drawn {
            times[scene] += 1;
        }
        mean(self.classes.iter().filter_map(|class| class.average_precision(&times)))
    }
}

impl Class {
    fn new(mine: &ClassBoxes, ious: &[f64]) -> Self {
        let judged = mine.judge_at(ious);
        let order = judged.order();
        let mut verdicts = Vec::with_capacity(judged.verdicts.len());
        for unsorted in &judged.verdicts {
            verdicts.push(order.iter().map(|&at| unsorted[at]).collect());
        }
        Self {
            objects: mine.objects.iter().filter(|(_, known)| !known.crowd).map(|o| o.0).collect(),
            detections: order.iter().map(|&at| judged.found[at].scene).collect(),
            verdicts,
        }
    }

    fn average_precision(&self, times: &[usize]) -> Option<f64> {
        let objects: usize = self.objects.iter().map(|&scene| times[scene]).sum();
        if objects == 0 {
            return None;
        }
        mean(self.verdicts.iter().map(|verdicts| {
            let each = verdicts.iter().zip(&self.detections);
            let counting = each.filter(|&(&verdict, _)| verdict != Verdict::Ignored);
            let judged = counting.map(|(&v, &scene)| (v == Verdict::TruePositive, times[scene]));
            Curve::weighted(judged, objects).at_101_recalls()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::coco::{coco_ious, coco_scores};
    use super::super::{CocoSummary, Rect, ScoredBox, TruthBox};
    use super::*;

    fn rect(at: usize, moved: usize) -> Rect {
        Rect { left: (at * 40 + moved) as f64, top: 3.0, width: 30.0, height: 20.0 }
    }

    /// Scenes with three classes, objects that are found well, badly and not at all, and a crowd.
    fn scenes() -> Vec<Scene> {
        (0..12)
            .map(|number| Scene {
                objects: (0..number % 4)
                    .map(|at| TruthBox {
                        class: (number + at) % 3,
                        rect: rect(at, 0),
                        area: 600.0,
                        crowd: number == 7 && at == 1,
                        difficult: false,
                    })
                    .collect(),
                detections: (0..5)
                    .map(|at| ScoredBox {
                        class: (number + at) % 3,
                        rect: rect(at, (number * 7 + at * 5) % 11),
                        score: ((number * 31 + at * 17) % 97) as f64 / 97.0,
                    })
                    .collect(),
            })
            .collect()
    }

    #[test]
    fn a_scene_that_is_drawn_twice_counts_twice() {
        let all = scenes();
        let evidence = CocoEvidence::new(&all, 3, &coco_ious());
        for drawn in [
            (0..12).collect::<Vec<usize>>(),
            vec![3, 3, 3, 5, 7, 7, 9, 11, 11, 1, 1, 2],
            vec![10, 10],
            vec![0, 4, 8],
        ] {
            let copies: Vec<Scene> = drawn.iter().map(|&at| all[at].clone()).collect();
            let wanted = CocoSummary::of(&coco_scores(&copies, 3, 1)).ap;
            let got = evidence.average_precision(drawn.iter().copied());
            assert!(
                got.zip(wanted).map_or(got == wanted, |(a, b): (f64, f64)| (a - b).abs() < 1e-9),
                "{drawn:?}: {got:?}, {wanted:?}"
            );
        }
    }
}
