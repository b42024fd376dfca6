//! Intersection over union of masks.

use faultlens_core::Mask;

/// The pixels that two masks share over those that either has; 0 where both are empty, `None`
/// for masks of different sizes.
pub fn mask_iou(a: &Mask, b: &Mask) -> Option<f64> {
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return None;
    }
    let mut shared = 0usize;
    let mut either = 0usize;
    for (&a, &b) in a.bits().iter().zip(b.bits()) {
        shared += usize::from(a && b);
        either += usize::from(a || b);
    }
    Some(if either > 0 { shared as f64 / either as f64 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(bits: [u8; 4]) -> Mask {
        Mask::new(2, bits.map(|b| b == 1).to_vec()).unwrap()
    }

    #[test]
    fn masks_share_pixels() {
        assert_eq!(mask_iou(&mask([1, 1, 0, 0]), &mask([0, 1, 1, 0])), Some(1.0 / 3.0));
        assert_eq!(mask_iou(&mask([0; 4]), &mask([0; 4])), Some(0.0));
        assert_eq!(mask_iou(&mask([1; 4]), &Mask::new(1, vec![true; 4]).unwrap()), None);
    }
}
