//! Average hashes: 64 bits by which images that look alike are found.

use faultlens_core::Image;

/// One bit for each of 8×8 parts of an image, set where it is brighter than the mean.
pub fn average_hash(image: &Image) -> u64 {
    let (width, height) = (image.width(), image.height());
    let mut sums = [(0.0f64, 0.0f64); 64];
    for (at, [r, g, b]) in image.rgb().as_chunks::<3>().0.iter().enumerate() {
        let luma = 0.299 * f64::from(*r) + 0.587 * f64::from(*g) + 0.114 * f64::from(*b);
        let part = (at / width * 8 / height) * 8 + at % width * 8 / width;
        sums[part].0 += luma;
        sums[part].1 += 1.0;
    }
    let means = sums.map(|(sum, n)| if n > 0.0 { sum / n } else { 0.0 });
    let mean = means.iter().sum::<f64>() / 64.0;
    means.iter().fold(0, |hash, own| hash << 1 | u64::from(*own > mean))
}

/// In how many bits two hashes differ.
pub fn hamming(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}
