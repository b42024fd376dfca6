//! Pixels as sixteen-bit planes, which filters work on: wide enough not to show a step, narrow
//! enough for eight of them to be worked on at once.

use faultlens_core::Image;

/// A grey level in planes that a filter adds pairs of: 255 twice still fits.
pub(super) const HALF_SCALE: u32 = 7;

/// A grey level in planes that a filter adds up with weights of one together.
pub(super) const FULL_SCALE: u32 = 8;

/// The image's bytes, each `scale` bits to the left.
pub(super) fn widened(image: &Image, scale: u32) -> Vec<u16> {
    image.rgb().iter().map(|&byte| u16::from(byte) << scale).collect()
}

/// Back to bytes: whatever is left below a grey level is cut off, as the reference does.
pub(super) fn narrowed(image: &Image, wide: &[u16], scale: u32) -> Image {
    // A flat area may have lost a hair's breadth to rounding: it keeps its level.
    let hair = 1 << (scale - 5);
    let byte = |&level: &u16| (level.saturating_add(hair) >> scale).min(255) as u8;
    with_rgb(image, wide.iter().map(byte).collect())
}

/// An image of the same size with other bytes.
pub(super) fn with_rgb(image: &Image, rgb: Vec<u8>) -> Image {
    match Image::from_rgb(image.width(), image.height(), rgb) {
        Ok(image) => image,
        Err(wrong) => unreachable!("the bytes were counted: {wrong}"),
    }
}

/// Added to a number from 0 up to a few million, it moves the whole part into the lowest bits.
const WHOLE: f32 = 12_582_912.0;

/// The whole part of a level from 0 up to but without 256. A plain cast looks for numbers out of
/// range first, and so takes one level at a time. Just below a whole number counts as that number,
/// so that flat areas keep their level.
#[inline(always)]
pub(super) fn byte(level: f32) -> u8 {
    (level - 0.498 + WHOLE).to_bits() as u8
}

/// The whole part of a number from 0 to 65535, likewise.
#[inline(always)]
pub(super) fn word(number: f32) -> u16 {
    (number - 0.498 + WHOLE).to_bits() as u16
}

/// The larger of two numbers that are numbers.
#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The smaller of two numbers that are numbers.
#[inline(always)]
pub(super) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The high half of a product: a level times a weight in 65536ths.
#[inline(always)]
pub(super) fn weighed(level: u16, weight: u16) -> u16 {
    ((u32::from(level) * u32::from(weight)) >> 16) as u16
}

/// Weights in 65536ths that add up to exactly one, whatever each is rounded to.
pub(super) fn in_65536ths(weights: &[f64]) -> Vec<u16> {
    let total: f64 = weights.iter().sum();
    let (mut sum, mut given) = (0.0, 0.0);
    let rounded = weights.iter().map(|weight| {
        sum += 65536.0 * weight / total;
        // What one weight lost by rounding goes to the next.
        let now = (sum - given).round();
        given += now;
        now as u16
    });
    rounded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_to_one() {
        for count in [2, 3, 7, 100] {
            let weights: Vec<f64> = (0..count).map(|i| 1.0 / f64::from(i + 3)).collect();
            let whole: u32 = in_65536ths(&weights).into_iter().map(u32::from).sum();
            assert_eq!(whole, 65536);
        }
        assert_eq!(in_65536ths(&[1.0]), [65535]);
    }

    #[test]
    fn whole_parts_are_those_of_a_cast() {
        for at in 0..25_590 {
            let level = at as f32 / 100.0 + 0.003;
            assert_eq!(byte(level), level as u8, "{level}");
            assert_eq!(word(level * 250.0), (level * 250.0 + 0.002) as u16, "{level}");
        }
        assert_eq!((byte(0.0), byte(255.0), byte(254.999), byte(0.99)), (0, 255, 255, 0));
    }

    #[test]
    fn bytes_come_back_as_they_were() {
        let image = Image::from_rgb(2, 2, (0..12).map(|i| i * 23).collect()).unwrap();
        for scale in [HALF_SCALE, FULL_SCALE] {
            assert_eq!(narrowed(&image, &widened(&image, scale), scale), image);
        }
    }
}
