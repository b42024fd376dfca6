//! Vectors for generators, drawn from what they are shown.

use faultlens_core::{Image, Seed};

/// So many numbers from a standard normal distribution, drawn from the image's pixels: the same
/// image gives the same vector on any machine, another image another one.
pub(super) fn vector(image: &Image, length: usize) -> impl Iterator<Item = f32> {
    let size = [image.width() as u64, image.height() as u64];
    let bytes = image.rgb().iter().map(|&byte| u64::from(byte));
    // FNV-1a.
    let hash = size
        .into_iter()
        .chain(bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3));
    // The image is only the seed: generators have no input that shows anything.
    let mut stream = Seed::new(hash).child("latent").stream();
    (0..length).map(move |_| stream.gaussian() as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(width: usize, rgb: &[u8], length: usize) -> Vec<f32> {
        let height = rgb.len() / 3 / width;
        vector(&Image::from_rgb(width, height, rgb.to_vec()).unwrap(), length).collect()
    }

    #[test]
    fn pixels_decide_the_vector() {
        let first = drawn(1, &[1, 2, 3, 4, 5, 6], 100);
        assert_eq!(first, drawn(1, &[1, 2, 3, 4, 5, 6], 100));
        assert_ne!(first, drawn(2, &[1, 2, 3, 4, 5, 6], 100));
        assert_ne!(first, drawn(1, &[1, 2, 3, 4, 5, 7], 100));
    }

    #[test]
    fn numbers_are_standard_normal() {
        let numbers = drawn(1, &[7, 7, 7], 10_000);
        let mean = numbers.iter().sum::<f32>() / 1e4;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 1e4;
        // Four standard errors: 0.04 and 0.057.
        assert!(mean.abs() < 0.04 && (variance - 1.0).abs() < 0.057, "{mean} {variance}");
    }
}
