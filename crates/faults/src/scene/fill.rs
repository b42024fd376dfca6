//! Holes in an image, filled from around them.

use faultlens_core::Image;

/// A level of the pyramid: what is known of every pixel, and how much of it is.
struct Level {
    width: usize,
    height: usize,
    values: Vec<[f32; 3]>,
    weights: Vec<f32>,
}

/// The image with a hole filled from around it: pixels are averaged to coarser and coarser levels
/// until every one is known, and holes take what the next coarser level says (pull and push;
/// Gortler et al. 1996).
pub(super) fn filled(image: &Image, hole: &[bool]) -> Image {
    let pixels = image.rgb().as_chunks::<3>().0;
    let mut values = Vec::with_capacity(hole.len());
    let mut weights = Vec::with_capacity(hole.len());
    for (pixel, &gone) in pixels.iter().zip(hole) {
        values.push(if gone { [0.0; 3] } else { pixel.map(f32::from) });
        weights.push(if gone { 0.0 } else { 1.0 });
    }
    let mut levels = vec![Level { width: image.width(), height: image.height(), values, weights }];
    while let Some(last) = levels.last()
        && last.weights.contains(&0.0)
        && last.width.max(last.height) > 1
    {
        let next = last.coarser();
        levels.push(next);
    }
    while levels.len() > 1 {
        let Some(coarse) = levels.pop() else { break };
        if let Some(fine) = levels.last_mut() {
            fine.take(&coarse);
        }
    }
    let mut filled = image.clone();
    let out = filled.rgb_mut().as_chunks_mut::<3>().0;
    for (at, pixel) in out.iter_mut().enumerate().filter(|(at, _)| hole[*at]) {
        *pixel = levels[0].values[at].map(|level| level.round().clamp(0.0, 255.0) as u8);
    }
    filled
}

impl Level {
    /// Half as wide and high: the mean of what is known of four pixels.
    fn coarser(&self) -> Self {
        let width = self.width.div_ceil(2);
        let height = self.height.div_ceil(2);
        let mut values = vec![[0.0f32; 3]; width * height];
        let mut weights = vec![0.0f32; width * height];
        for (at, (value, weight)) in self.values.iter().zip(&self.weights).enumerate() {
            let to = (at / self.width / 2) * width + at % self.width / 2;
            for i in 0..3 {
                values[to][i] += weight * value[i];
            }
            weights[to] += weight;
        }
        for (value, weight) in values.iter_mut().zip(&mut weights) {
            if *weight > 0.0 {
                *value = value.map(|sum| sum / *weight);
                *weight = 1.0;
            }
        }
        Self { width, height, values, weights }
    }

    /// Takes what is not known from a coarser level, between its four nearest pixels.
    fn take(&mut self, coarse: &Self) {
        for at in 0..self.weights.len() {
            if self.weights[at] > 0.0 {
                continue;
            }
            let (x0, x1, dx) = nearest(at % self.width, coarse.width);
            let (y0, y1, dy) = nearest(at / self.width, coarse.height);
            let a = coarse.values[y0 * coarse.width + x0];
            let b = coarse.values[y0 * coarse.width + x1];
            let c = coarse.values[y1 * coarse.width + x0];
            let d = coarse.values[y1 * coarse.width + x1];
            self.values[at] = [0, 1, 2].map(|i| {
                let top = a[i] + dx * (b[i] - a[i]);
                let bottom = c[i] + dx * (d[i] - c[i]);
                top + dy * (bottom - top)
            });
            self.weights[at] = 1.0;
        }
    }
}

/// The two pixels of a level of half the size that a pixel lies between, and how far it is from the
/// first to the second.
fn nearest(at: usize, length: usize) -> (usize, usize, f32) {
    let place = (at as f32 + 0.5) / 2.0 - 0.5;
    let low = place.floor();
    let first = (low.max(0.0) as usize).min(length - 1);
    let second = ((low + 1.0).max(0.0) as usize).min(length - 1);
    (first, second, place - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_takes_what_stands_around_it() {
        // A ramp from left to right: what is missing lies between its neighbours.
        let width = 32usize;
        let height = 24usize;
        let level = |x: usize| (x * 8) as u8;
        let rgb = (0..width * height).flat_map(|at| [level(at % width); 3]).collect();
        let image = Image::from_rgb(width, height, rgb).unwrap();
        let gone = |at: usize| (10..18).contains(&(at % width)) && (8..16).contains(&(at / width));
        let hole: Vec<bool> = (0..width * height).map(gone).collect();
        let mut broken = image.clone();
        let pixels = broken.rgb_mut().as_chunks_mut::<3>().0;
        (0..hole.len()).filter(|&at| hole[at]).for_each(|at| pixels[at] = [255, 0, 255]);
        let filled = filled(&broken, &hole);
        for (at, pixel) in filled.rgb().as_chunks::<3>().0.iter().enumerate() {
            let away = pixel.map(|own| own.abs_diff(level(at % width)));
            let max = if hole[at] { 40 } else { 0 };
            assert!(away.iter().all(|own| *own <= max), "{at}: {pixel:?}");
        }
    }

    #[test]
    fn nothing_but_a_hole_stays_as_it_comes() {
        let image = Image::from_rgb(3, 2, vec![9; 18]).unwrap();
        assert_eq!(filled(&image, &[true; 6]).rgb(), [0; 18]);
        assert_eq!(filled(&image, &[false; 6]), image);
    }
}
