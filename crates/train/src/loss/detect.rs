//! One-stage detection without anchors: every cell of a grid answers which class has its centre
//! there, and how far the box reaches from the cell's centre.
//!
//! Classes follow the focal loss (Lin et al., ICCV'17), boxes the logarithm of their overlap
//! (Yu et al., MM'16).

use super::{BOXES, CELLS, Wanted};
use crate::architecture::CELL;
use crate::error::TrainError;
use crate::task::Task;
use crate::truth::{self, resized};
use faultlens_core::{Bounds, Case, Detection, Tensor};
use faultlens_engine::{Answers, Loss};
use faultlens_vision::find_peaks;

/// Pixels of the model's input along a cell, as a factor.
const STRIDE: f32 = CELL as f32;
/// Focal loss: weight of right cells, and how fast easy cells lose theirs.
const ALPHA: f32 = 0.25;
/// As above.
const GAMMA: f32 = 2.0;
/// How far from an object's centre cells are right, in cells.
const RADIUS: f32 = 0.75;

/// For each cell, the box that it should find, in pixels of the model's input, and its class.
fn assigned(
    case: &Case,
    size: [usize; 2],
    classes: usize,
) -> Result<Vec<Option<(Bounds, usize)>>, TrainError> {
    let (rows, columns) = cells(size);
    let objects = truth::objects(case, classes)?.iter().filter(|object| !object.crowd);
    let objects: Vec<_> =
        objects.map(|o| (resized(o.bounds, truth::size(case), size), o.class)).collect();
    let mut assigned = Vec::with_capacity(rows * columns);
    for at in 0..rows * columns {
        let centre = centre(at, columns);
        let near = objects.iter().filter(|(bounds, _)| reaches(bounds, centre));
        // FCOS takes the smallest of several objects: the large ones have other cells.
        assigned.push(near.min_by(|(a, _), (b, _)| a.area().total_cmp(&b.area())).copied());
    }
    Ok(assigned)
}

fn cells([height, width]: [usize; 2]) -> (usize, usize) {
    (height / CELL, width / CELL)
}

fn centre(at: usize, columns: usize) -> [f32; 2] {
    [at % columns, at / columns].map(|place| (place as f32 + 0.5) * STRIDE)
}

/// Whether a cell lies near the box's centre: in it, or among those close by that the box covers.
fn reaches(bounds: &Bounds, [x, y]: [f32; 2]) -> bool {
    let middle = [(bounds.left + bounds.right) / 2.0, (bounds.top + bounds.bottom) / 2.0];
    let away = [(x - middle[0]).abs(), (y - middle[1]).abs()];
    let covered = bounds.left < x && x < bounds.right && bounds.top < y && y < bounds.bottom;
    let within = |distance: f32| away.iter().all(|&a| a <= distance);
    within(STRIDE / 2.0) || covered && within(RADIUS * STRIDE)
}

/// The values before the last activations of scores and boxes, and their gradient.
struct Grid {
    logits: Vec<f32>,
    distances: Vec<f32>,
    /// Images, cells and classes.
    shape: [usize; 3],
    columns: usize,
}

impl Grid {
    fn of(answers: &Answers<'_>, images: usize, size: [usize; 2]) -> Result<Self, TrainError> {
        let task = Task::Detect;
        let (rows, columns) = cells(size);
        let wanted = Wanted { task, images, why: CELLS };
        let (logits, shape) = wanted.copied::<3>(answers, "logits")?;
        let wanted = Wanted { task, images, why: BOXES };
        let (distances, boxes) = wanted.copied::<3>(answers, "distances")?;
        if shape[1] != rows * columns || boxes != [shape[0], shape[1], 4] {
            return Err(TrainError::Answer {
                task: task.name(),
                value: "logits".to_owned(),
                shape: shape.to_vec(),
                why: format!("{} cells of {CELL} pixels are needed", rows * columns),
            });
        }
        Ok(Self { logits, distances, shape, columns })
    }

    /// Turns a cell's answers into their gradients; gives the loss.
    fn turn(&mut self, at: usize, wanted: Option<&(Bounds, usize)>, count: f32) -> f64 {
        let [_, cells, classes] = self.shape;
        let logits = &mut self.logits[at * classes..][..classes];
        let class = wanted.map(|&(_, class)| class);
        let value: f64 = logits
            .iter_mut()
            .enumerate()
            .map(|(c, logit)| focal(logit, class == Some(c), count))
            .sum();
        let four = &mut self.distances[at * 4..][..4];
        match wanted {
            Some((bounds, _)) => {
                value + overlap(four, bounds, centre(at % cells, self.columns), count)
            }
            None => {
                four.fill(0.0);
                value
            }
        }
    }

    fn gradients(self) -> Vec<(String, Tensor)> {
        let [images, cells, classes] = self.shape;
        let logits = Tensor::new(vec![images, cells, classes], self.logits);
        let distances = Tensor::new(vec![images, cells, 4], self.distances);
        let named = [("logits", logits), ("distances", distances)].into_iter();
        named.flat_map(|(name, g)| g.map(|g| (name.to_owned(), g))).collect()
    }
}

pub(super) fn loss(
    answers: &Answers<'_>,
    cases: &[Case],
    size: [usize; 2],
) -> Result<Loss, TrainError> {
    let mut grid = Grid::of(answers, cases.len(), size)?;
    let classes = grid.shape[2];
    let wanted = cases.iter().map(|case| assigned(case, size, classes));
    let wanted = wanted.collect::<Result<Vec<_>, _>>()?.concat();
    let count = wanted.iter().flatten().count().max(1) as f32;
    let cells = wanted.iter().enumerate();
    let value = cells.map(|(at, wanted)| grid.turn(at, wanted.as_ref(), count)).sum();
    Ok(Loss { value, gradients: grid.gradients() })
}

/// Replaces a logit by the gradient of its focal loss (Lin et al., 2017) and returns the loss.
fn focal(logit: &mut f32, right: bool, count: f32) -> f64 {
    let x = *logit;
    // A wrong cell is a right one of the opposite logit.
    let (x, weight, sign) = if right { (x, ALPHA, 1.0) } else { (-x, 1.0 - ALPHA, -1.0) };
    let p = 1.0 / (1.0 + libm::expf(-x));
    let log_p = -libm::log1pf(libm::expf(-x.abs())) - (-x).max(0.0);
    let missed = 1.0 - p;
    let easy = libm::powf(missed, GAMMA);
    // d/dx of -(1-p)^g log p, with dp/dx = p (1-p).
    let slope = easy * (GAMMA * p * log_p - missed);
    *logit = sign * weight * slope / count;
    f64::from(-weight * easy * log_p / count)
}

/// Turns a cell's raw distances into the gradient of minus the logarithm of the overlap; gives
/// the loss.
fn overlap(raw: &mut [f32], bounds: &Bounds, [x, y]: [f32; 2], count: f32) -> f64 {
    let wanted = [x - bounds.left, y - bounds.top, bounds.right - x, bounds.bottom - y];
    // A cell outside of a tiny box still points at it.
    let wanted = wanted.map(|d| d.max(0.5));
    let found: [f32; 4] = std::array::from_fn(|i| libm::expf(raw[i].min(8.0)) * STRIDE);
    let shared: [f32; 4] = std::array::from_fn(|i| found[i].min(wanted[i]));
    let sides = |d: &[f32; 4]| [d[0] + d[2], d[1] + d[3]];
    let [w, h] = sides(&shared);
    let [found_w, found_h] = sides(&found);
    let [wanted_w, wanted_h] = sides(&wanted);
    let inner = w * h;
    let either = found_w * found_h + wanted_w * wanted_h - inner;
    for (i, slot) in raw.iter_mut().enumerate() {
        // The other side of the box: its height for left and right, its width for top and bottom.
        let (across_shared, across_found) = if i % 2 == 0 { (h, found_h) } else { (w, found_w) };
        let inner_slope = if found[i] < wanted[i] { across_shared } else { 0.0 };
        let slope = (across_found - inner_slope) / either - inner_slope / inner;
        *slot = slope * found[i] / count;
    }
    f64::from((libm::logf(either) - libm::logf(inner)) / count)
}

/// The detections of every image of a batch, each object once; `None` where scores are not by
/// image, cell and class, or boxes do not fit to them.
pub fn detections(scores: &Tensor, boxes: &Tensor, min_score: f32) -> Option<Vec<Vec<Detection>>> {
    let &[images, cells, classes] = scores.shape() else { return None };
    if boxes.shape() != [images, cells, 4] {
        return None;
    }
    let scores = scores.as_f32()?;
    let boxes = boxes.as_f32()?;
    let found = (0..images).map(|image| {
        let scores = scores.get(image * cells * classes..)?.get(..cells * classes)?;
        let boxes = boxes.get(image * cells * 4..)?.get(..cells * 4)?;
        let mut found = find_peaks(scores, boxes, classes, min_score);
        faultlens_judge::non_maximum_suppression(&mut found, 0.5);
        Some(found)
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Image, Object};

    #[test]
    fn focal_loss_has_the_gradient_of_its_value() {
        for logit in [-4.0f32, -0.5, 0.0, 1.5, 6.0] {
            for right in [true, false] {
                let at = |x: f32| focal(&mut { x }, right, 2.0);
                let mut gradient = logit;
                focal(&mut gradient, right, 2.0);
                let slope = (at(logit + 1e-2) - at(logit - 1e-2)) / 2e-2;
                assert!((slope - f64::from(gradient)).abs() < 1e-3, "{logit} {right}");
            }
        }
    }

    #[test]
    fn overlap_has_the_gradient_of_its_value() {
        let bounds = Bounds { left: 10.0, top: 5.0, right: 40.0, bottom: 30.0 };
        let raw = [0.3f32, 0.9, -0.2, 1.4];
        let mut gradient = raw;
        overlap(&mut gradient, &bounds, [20.0, 12.0], 2.0);
        for at in 0..4 {
            let moved = |by: f32| {
                let mut raw = raw;
                raw[at] += by;
                overlap(&mut raw, &bounds, [20.0, 12.0], 2.0)
            };
            let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            assert!((slope - f64::from(gradient[at])).abs() < 2e-3, "{at}");
        }
    }

    #[test]
    fn a_perfect_box_has_no_loss() {
        let bounds = Bounds { left: 12.0, top: 4.0, right: 28.0, bottom: 20.0 };
        let mut raw = [0.0f32; 4];
        assert!(overlap(&mut raw, &bounds, [20.0, 12.0], 1.0).abs() < 1e-6);
    }

    #[test]
    fn cells_near_an_objects_centre_should_find_it() {
        let image = Image::from_rgb(32, 16, vec![0; 32 * 16 * 3]).unwrap();
        let object = |left, top, side, class, crowd| {
            let bounds = Bounds { left, top, right: left + side, bottom: top + side };
            Object { class, bounds, mask: None, crowd }
        };
        // One in the first cell, a crowd that is left out, one in the last cell of the first row.
        let objects =
            [(1.0, 2.0, 5.0, 1, false), (8.0, 8.0, 8.0, 0, true), (25.0, 1.0, 6.0, 0, false)];
        let objects = objects.map(|(x, y, side, class, crowd)| object(x, y, side, class, crowd));
        let case = Case { objects: objects.to_vec(), ..Case::new("a", image) };
        let found = assigned(&case, [16, 32], 2).unwrap();
        let classes: Vec<Option<usize>> = found.iter().map(|c| c.map(|(_, class)| class)).collect();
        assert_eq!(classes, [Some(1), None, None, Some(0), None, None, None, None]);
        // At half the size the places halve too.
        let halved = assigned(&case, [8, 16], 2).unwrap();
        assert_eq!(halved[0].unwrap().0.right, 3.0);
        assert!(matches!(assigned(&case, [16, 32], 1), Err(TrainError::Unlabelled { .. })));
    }

    #[test]
    fn every_image_has_its_list_of_detections() {
        let tensor =
            |shape: &[usize], data: &[f32]| Tensor::new(shape.to_vec(), data.to_vec()).unwrap();
        for shape in [[2, 0, 3], [2, 0, 0], [2, 1, 0]] {
            let boxes = tensor(&[2, shape[1], 4], &vec![0.0; 8 * shape[1]]);
            let found = detections(&tensor(&shape, &[]), &boxes, 0.1);
            assert_eq!(found, Some(vec![vec![], vec![]]), "{shape:?}");
        }
        // NaN is never the best, and the first of equal classes is taken.
        let scores = tensor(&[2, 1, 3], &[f32::NAN, 0.6, 0.6, 0.01, 0.02, f32::NAN]);
        let boxes = tensor(&[2, 1, 4], &[0.0, 0.0, 4.0, 4.0, 0.0, 0.0, 4.0, 4.0]);
        let found = detections(&scores, &boxes, 0.1).unwrap();
        assert_eq!((found[0].len(), found[0][0].class, found[1].len()), (1, 1, 0));
        assert_eq!(detections(&scores, &tensor(&[2, 2, 2], &[0.0; 8]), 0.1), None);
    }
}
