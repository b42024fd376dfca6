//! Histograms of oriented gradients.

use faultlens_core::Image;

/// Nine directions in cells of 8×8 pixels, in blocks of 2×2 cells.
pub fn hog(image: &Image) -> Option<Vec<f32>> {
    let (width, height) = (image.width(), image.height());
    let (columns, rows) = (width / 8, height / 8);
    if columns < 2 || rows < 2 {
        return None;
    }
    let luma = |[r, g, b]: &[u8; 3]| {
        0.2125 * f32::from(*r) + 0.7154 * f32::from(*g) + 0.0721 * f32::from(*b)
    };
    let grey: Vec<f32> = image.rgb().as_chunks::<3>().0.iter().map(luma).collect();
    let mut cells = vec![[0.0f32; 9]; columns * rows];
    for y in 1..(rows * 8).min(height - 1) {
        for x in 1..(columns * 8).min(width - 1) {
            let at = y * width + x;
            let (dx, dy) = (grey[at + 1] - grey[at - 1], grey[at + width] - grey[at - width]);
            let angle = dy.atan2(dx).to_degrees().rem_euclid(180.0);
            let bin = ((angle / 20.0) as usize).min(8);
            cells[y / 8 * columns + x / 8][bin] += dx.hypot(dy) / 64.0;
        }
    }
    let mut all = Vec::new();
    for y in 0..rows - 1 {
        for x in 0..columns - 1 {
            let four = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
            let mut block: Vec<f32> =
                four.iter().flat_map(|(x, y)| cells[y * columns + x]).collect();
            for _ in 0..2 {
                let norm = (block.iter().map(|v| v * v).sum::<f32>() + 1e-10).sqrt();
                block.iter_mut().for_each(|v| *v = (*v / norm).min(0.2));
            }
            all.extend(block);
        }
    }
    Some(all)
}

/// How much of the background's gradients an image has.
pub fn hog_intersection(image: &[f32], background: &[f32]) -> f64 {
    let shared: f64 = image.iter().zip(background).map(|(a, b)| f64::from(a.min(*b))).sum();
    let all: f64 = background.iter().map(|b| f64::from(*b)).sum();
    if all > 0.0 { shared / all } else { 1.0 }
}
