//! Enlarging one channel by the Lanczos filter, as image editors do.

use super::round::byte;
use super::vectors::wide;
use std::f64::consts::PI;

/// How far the filter reaches to each side.
const REACH: f64 = 3.0;
/// Seven reach; an eighth of weight 0 makes a whole vector.
const TAPS: usize = 8;

/// What one new pixel takes of the old ones.
struct Window {
    first: usize,
    weights: [f32; TAPS],
}

/// The windows of `length` new pixels that lie in the middle when all are enlarged to `enlarged`.
fn windows(length: usize, enlarged: usize) -> Vec<Window> {
    let scale = length as f64 / enlarged as f64;
    let cut = (enlarged - length) / 2;
    let mut windows = Vec::with_capacity(length);
    for at in 0..length {
        let centre = ((at + cut) as f64 + 0.5) * scale;
        let first = (centre - REACH + 0.5).max(0.0) as usize;
        let last = ((centre + REACH + 0.5) as usize).min(length);
        let mut weights = [0.0; TAPS];
        for (weight, at) in weights.iter_mut().zip(first..last) {
            *weight = lanczos(at as f64 + 0.5 - centre);
        }
        let sum: f64 = weights.iter().sum();
        windows.push(Window { first, weights: weights.map(|weight| (weight / sum) as f32) });
    }
    windows
}

/// The Lanczos kernel: a sinc, windowed by the middle lobe of a wider one.
fn lanczos(x: f64) -> f64 {
    if x.abs() < REACH { sinc(x) * sinc(x / REACH) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { libm::sin(PI * x) / (PI * x) }
}

/// One channel enlarged around its middle, and cut back to its size.
pub(crate) fn enlarged(plane: &[u8], size: [usize; 2], enlarged: [usize; 2]) -> Vec<u8> {
    let [across, down] = [windows(size[0], enlarged[0]), windows(size[1], enlarged[1])];
    filter(plane, &across, &down)
}

wide!(
    fn filter<'a>(plane: &'a [u8], across: &'a [Window], down: &'a [Window]) -> Vec<u8> =
        filter_kernel
);

#[inline(always)]
fn filter_kernel(plane: &[u8], across: &[Window], down: &[Window]) -> Vec<u8> {
    let width = across.len();
    let mut wide = vec![0; plane.len()];
    let mut row = vec![0.0; width + TAPS];
    for (from, to) in plane.chunks_exact(width).zip(wide.chunks_exact_mut(width)) {
        row.iter_mut().zip(from).for_each(|(to, &value)| *to = f32::from(value));
        for (to, window) in to.iter_mut().zip(across) {
            if let Some(values) = row[window.first..].first_chunk() {
                *to = byte(dot(values, &window.weights));
            }
        }
    }
    let mut all = vec![0; plane.len()];
    let mut sums = vec![0.0; width];
    for (to, window) in all.chunks_exact_mut(width).zip(down) {
        sums.fill(0.0);
        let rows = wide[width * window.first..].chunks_exact(width);
        for (row, weight) in rows.zip(window.weights) {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += weight * f32::from(value));
        }
        to.iter_mut().zip(&sums).for_each(|(to, &sum)| *to = byte(sum));
    }
    all
}

/// A sum of products, halves added to halves: the same order whatever the vectors.
#[inline(always)]
fn dot(a: &[f32; TAPS], b: &[f32; TAPS]) -> f32 {
    let products: [f32; TAPS] = std::array::from_fn(|at| a[at] * b[at]);
    let fours: [f32; 4] = std::array::from_fn(|at| products[at] + products[at + 4]);
    (fours[0] + fours[2]) + (fours[1] + fours[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_size_is_the_same_image() {
        let plane: Vec<u8> = (0..60).map(|at| (at * 37 % 256) as u8).collect();
        assert_eq!(enlarged(&plane, [10, 6], [10, 6]), plane);
        assert_eq!(enlarged(&[9], [1, 1], [3, 2]), [9]);
    }

    #[test]
    fn even_light_stays_even() {
        assert_eq!(enlarged(&[200; 70], [10, 7], [15, 11]), [200; 70]);
    }
}
