//! `NonMaxSuppression`: the best boxes of each class that do not overlap a better one.

use super::operands::{Answers, floats, one, operand, whole_value};
use super::{Attributes, Op};
use crate::error::OperandError;
use crate::value::Value;

struct Suppression {
    /// Whether boxes are centre and size, else two opposite corners.
    centres: bool,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Suppression { centres: attributes.int("center_point_box", 0) != 0 })))
}

/// The operands beside boxes and scores.
struct Limits {
    /// Boxes per class and image; none at all unless the model says so.
    boxes: usize,
    overlap: f32,
    /// Scores up to this are left out.
    score: Option<f32>,
}

/// The number that an operand is, unless it is left out.
fn first_float(operands: &[Option<&Value>], at: usize) -> Result<Option<f32>, OperandError> {
    Ok(floats(operands, at)?.and_then(|floats| floats.data.first().copied()))
}

impl Limits {
    fn of(operands: &[Option<&Value>]) -> Result<Self, OperandError> {
        let boxes = operand(operands, 2).and_then(Value::integers).and_then(|v| v.first().copied());
        let overlap = first_float(operands, 3)?.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&overlap) {
            return Err(OperandError::new(format!(
                "iou_threshold {overlap} is not between 0 and 1"
            )));
        }
        let boxes = usize::try_from(boxes.unwrap_or(0)).unwrap_or(0);
        Ok(Self { boxes, overlap, score: first_float(operands, 4)? })
    }
}

impl Op for Suppression {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let (Some(boxes), Some(scores)) = (floats(operands, 0)?, floats(operands, 1)?) else {
            return Err(OperandError::new("it needs boxes and scores"));
        };
        let (&[images, count, 4], &[same_images, classes, same_count]) =
            (boxes.shape.as_slice(), scores.shape.as_slice())
        else {
            let why = format!("boxes {:?} and scores {:?} do not fit", boxes.shape, scores.shape);
            return Err(OperandError::new(why));
        };
        if (images, count) != (same_images, same_count) {
            return Err(OperandError::new(format!(
                "{count} boxes do not fit scores {:?}",
                scores.shape
            )));
        }
        let limits = Limits::of(operands)?;
        let mut chosen = Vec::new();
        for image in 0..images {
            let (rows, _) = boxes.data[image * count * 4..][..count * 4].as_chunks::<4>();
            let rects: Vec<Rect> = rows.iter().map(|row| Rect::of(row, self.centres)).collect();
            for class in 0..classes {
                let scores = &scores.data[(image * classes + class) * count..][..count];
                let best = best(&rects, scores, &limits);
                chosen.extend(best.iter().flat_map(|&b| [image as i64, class as i64, b as i64]));
            }
        }
        one(whole_value(vec![chosen.len() / 3, 3], chosen)?)
    }
}

/// The boxes of one class that stay, best first; the first of equals wins. A score that is not a
/// number comes after all others.
fn best(rects: &[Rect], scores: &[f32], limits: &Limits) -> Vec<usize> {
    let mut candidates: Vec<usize> = (0..scores.len())
        .filter(|&at| limits.score.is_none_or(|limit| scores[at] > limit))
        .collect();
    candidates.sort_by(|&a, &b| {
        let by_score = scores[b].partial_cmp(&scores[a]);
        by_score.unwrap_or_else(|| scores[a].is_nan().cmp(&scores[b].is_nan()))
    });
    let mut kept: Vec<usize> = Vec::new();
    for at in candidates {
        if kept.len() >= limits.boxes {
            break;
        }
        if !kept.iter().any(|&better| rects[at].overlaps(&rects[better], limits.overlap)) {
            kept.push(at);
        }
    }
    kept
}

/// A box by its ends along two axes.
#[derive(Debug, Clone, Copy)]
struct Rect {
    low: [f32; 2],
    high: [f32; 2],
}

impl Rect {
    fn of(row: &[f32; 4], centres: bool) -> Self {
        let &[a, b, c, d] = row;
        if centres {
            let half_width = c / 2.0;
            let half_height = d / 2.0;
            return Self {
                low: [a - half_width, b - half_height],
                high: [a + half_width, b + half_height],
            };
        }
        // Two corners in any order.
        let (top, bottom) = if a >= c { (c, a) } else { (a, c) };
        let (left, right) = if b >= d { (d, b) } else { (b, d) };
        Self { low: [left, top], high: [right, bottom] }
    }

    fn area(&self) -> f32 {
        (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])
    }

    /// Whether the intersection is more than `limit` of the union. Comparisons are written as ONNX
    /// Runtime writes them, so that a box that is not a number never overlaps.
    fn overlaps(&self, other: &Self, limit: f32) -> bool {
        let mut shared = Self { low: self.low, high: self.high };
        for i in 0..2 {
            // Not `max` and `min`, which prefer a number to NaN.
            if shared.low[i] < other.low[i] {
                shared.low[i] = other.low[i];
            }
            if other.high[i] < shared.high[i] {
                shared.high[i] = other.high[i];
            }
        }
        if (0..2).any(|i| shared.high[i] <= shared.low[i]) {
            return false;
        }
        let intersection = shared.area();
        let areas = [self.area(), other.area()];
        let union = areas[0] + areas[1] - intersection;
        if [intersection, areas[0], areas[1], union].iter().any(|&area| area <= 0.0) {
            return false;
        }
        intersection / union > limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_keep_their_order_and_nan_comes_last() {
        let rects: Vec<Rect> = (0..4)
            .map(|i| Rect::of(&[i as f32 * 10.0, 0.0, i as f32 * 10.0 + 1.0, 1.0], false))
            .collect();
        let limits = Limits { boxes: 4, overlap: 0.5, score: None };
        assert_eq!(best(&rects, &[0.5, f32::NAN, 0.5, f32::NEG_INFINITY], &limits), [0, 2, 3, 1]);
        let limits = Limits { score: Some(0.0), ..limits };
        assert_eq!(best(&rects, &[0.5, f32::NAN, 0.7, -1.0], &limits), [2, 0]);
    }

    #[test]
    fn corners_in_any_order_and_centres_are_the_same_box() {
        let rect = Rect::of(&[0.0, 1.0, 2.0, 5.0], false);
        let flipped = Rect::of(&[2.0, 5.0, 0.0, 1.0], false);
        let centre = Rect::of(&[3.0, 1.0, 4.0, 2.0], true);
        assert!(rect.overlaps(&flipped, 0.99) && rect.overlaps(&centre, 0.99));
    }
}
