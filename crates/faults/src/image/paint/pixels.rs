//! Pixels as sixteen-bit planes, which filters work on: wide enough not to show a step, narrow
//! enough for eight of them to be worked on at once.

use faultlens_core::Image;

/// A grey level in planes that a filter adds pairs of: 255 twice still fits.
pub(crate) const HALF_SCALE: u32 = 7;

/// A grey level in planes that a filter adds up with weights of one together.
pub(crate) const FULL_SCALE: u32 = 8;

/// The image's bytes, each `scale` bits to the left.
pub(crate) fn widened(image: &Image, scale: u32) -> Vec<u16> {
    image.rgb().iter().map(|&byte| u16::from(byte) << scale).collect()
}

/// Back to bytes: whatever is left below a grey level is cut off, as the reference does.
pub(crate) fn narrowed(image: &Image, wide: &[u16], scale: u32) -> Image {
    // A flat area may have lost a hair's breadth to rounding: it keeps its level.
    let hair = 1 << (scale - 5);
    let rgb = wide.iter().map(|level| (level.saturating_add(hair) >> scale).min(255) as u8);
    with_rgb(image, rgb.collect())
}

/// An image of the same size with other bytes.
pub(crate) fn with_rgb(image: &Image, rgb: Vec<u8>) -> Image {
    match Image::from_rgb(image.width(), image.height(), rgb) {
        Ok(image) => image,
        Err(wrong) => unreachable!("the bytes were counted: {wrong}"),
    }
}

/// The high half of a product: a level times a weight in 65536ths.
#[inline(always)]
pub(crate) fn weighed(level: u16, weight: u16) -> u16 {
    ((u32::from(level) * u32::from(weight)) >> 16) as u16
}

/// Weights in 65536ths that add up to exactly one, whatever each is rounded to.
pub(crate) fn in_65536ths(weights: &[f64]) -> Vec<u16> {
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let mut given = 0.0;
    let mut rounded = Vec::with_capacity(weights.len());
    for weight in weights {
        sum += 65536.0 * weight / total;
        // Error diffusion: what one weight lost by rounding goes to the next.
        let now: f64 = (sum - given).round();
        given += now;
        rounded.push(now as u16);
    }
    rounded
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
    fn bytes_come_back_as_they_were() {
        let image = Image::from_rgb(2, 2, (0..12).map(|i| i * 23).collect()).unwrap();
        for scale in [HALF_SCALE, FULL_SCALE] {
            assert_eq!(narrowed(&image, &widened(&image, scale), scale), image);
        }
    }
}
