//! How much two boxes or two masks share.

use faultlens_core::{Bounds, Mask};

/// The part of two boxes that both share over the part that either covers, in 64 bits as
/// pycocotools computes it, so that a pair at the very threshold falls on the same side.
pub(super) fn box_iou(a: &Bounds, b: &Bounds) -> f64 {
    let shared = shared(a, b);
    part(shared, area(a) + area(b) - shared)
}

/// The part of a detection that lies on a crowd: the crowd may be far larger.
pub(super) fn crowd_overlap(detection: &Bounds, crowd: &Bounds) -> f64 {
    part(shared(detection, crowd), area(detection))
}

/// The pixels that two masks share over those that either has; 0 where both are empty, `None`
/// for masks of different sizes.
pub fn mask_iou(a: &Mask, b: &Mask) -> Option<f64> {
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return None;
    }
    let pairs = || a.bits().iter().zip(b.bits());
    let shared = pairs().filter(|&(&a, &b)| a && b).count();
    let either = pairs().filter(|&(&a, &b)| a || b).count();
    Some(part(shared as f64, either as f64))
}

/// NaN and infinite boxes share nothing with any other.
fn part(shared: f64, whole: f64) -> f64 {
    let part = shared / whole;
    if part.is_finite() { part } else { 0.0 }
}

fn area(b: &Bounds) -> f64 {
    extent(b.left.into(), b.right.into()) * extent(b.top.into(), b.bottom.into())
}

fn shared(a: &Bounds, b: &Bounds) -> f64 {
    let sides = [a.left, a.top, a.right, a.bottom, b.left, b.top, b.right, b.bottom];
    if sides.iter().any(|side| side.is_nan()) {
        return 0.0;
    }
    extent(a.left.max(b.left).into(), a.right.min(b.right).into())
        * extent(a.top.max(b.top).into(), a.bottom.min(b.bottom).into())
}

fn extent(from: f64, to: f64) -> f64 {
    (to - from).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(left: f32, top: f32, right: f32, bottom: f32) -> Bounds {
        Bounds { left, top, right, bottom }
    }

    #[test]
    fn boxes_and_crowds() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let square = bounds(0.0, 0.0, 4.0, 4.0);
        let cases = [
            (square, square, 1.0, 1.0),
            (square, bounds(2.0, 0.0, 6.0, 4.0), 1.0 / 3.0, 0.5),
            (square, bounds(0.0, 0.0, 40.0, 40.0), 0.01, 1.0),
            (square, bounds(4.0, 0.0, 8.0, 4.0), 0.0, 0.0),
            (square, bounds(4.0, 4.0, 0.0, 0.0), 0.0, 0.0),
            (bounds(nan, 0.0, 4.0, 4.0), square, 0.0, 0.0),
            (bounds(-inf, -inf, inf, inf), square, 0.0, 0.0),
            (bounds(1.0, 1.0, 1.0, 1.0), bounds(1.0, 1.0, 1.0, 1.0), 0.0, 0.0),
        ];
        for (a, b, iou, crowd) in cases {
            assert_eq!((box_iou(&a, &b), crowd_overlap(&a, &b)), (iou, crowd), "{a:?} {b:?}");
        }
    }

    #[test]
    fn masks_share_pixels() {
        let mask = |bits: [u8; 4]| Mask::new(2, bits.map(|b| b == 1).to_vec()).unwrap();
        assert_eq!(mask_iou(&mask([1, 1, 0, 0]), &mask([0, 1, 1, 0])), Some(1.0 / 3.0));
        assert_eq!(mask_iou(&mask([0; 4]), &mask([0; 4])), Some(0.0));
        assert_eq!(mask_iou(&mask([1; 4]), &Mask::new(1, vec![true; 4]).unwrap()), None);
    }
}
