//! A fingerprint of an image: which parts are lighter than the whole, as ImageHash computes it.

use faultlens_core::Image;
use std::f64::consts::PI;

/// Rows and columns that are left of an image.
const SIDE: usize = 8;

/// How far Lanczos' filter reaches, in pixels of the smaller image.
const REACH: f64 = 3.0;

/// Weights are whole multiples of 2⁻²², as in Pillow.
const PRECISION: u32 = 22;

/// One bit for each pixel of the image at 8×8, rows from the top, the first in the highest place:
/// whether it is lighter than the mean. `{:016x}` writes it as ImageHash does.
///
/// Images that look alike have hashes with few different bits ([`hamming`]), whatever their size.
/// Greys and sizes are made in whole numbers as Pillow makes them, so that no bit can differ.
pub fn average_hash(image: &Image) -> u64 {
    let width = image.width();
    let height = image.height();
    let grey: Vec<i16> = image.rgb().as_chunks::<3>().0.iter().map(luma).collect();
    let across = Weights::new(width);
    let narrow: Vec<i16> = grey.chunks_exact(width).flat_map(|row| across.apply(row)).collect();
    let down = Weights::new(height);
    let column = |x: usize| -> Vec<i16> { narrow.iter().skip(x).step_by(SIDE).copied().collect() };
    let columns: [[i16; SIDE]; SIDE] = std::array::from_fn(|x| down.apply(&column(x)));
    let sum: i32 = columns.iter().flatten().map(|&pixel| i32::from(pixel)).sum();
    let pixels = (0..SIDE).flat_map(|y| columns.iter().map(move |column| column[y]));
    pixels
        .fold(0, |hash, pixel| hash << 1 | u64::from(i32::from(pixel) * (SIDE * SIDE) as i32 > sum))
}

/// In how many bits two hashes differ: 0 for images that look the same, about 32 of two that have
/// nothing in common.
pub fn hamming(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// Grey as Pillow's mode `L` has it.
fn luma(&[red, green, blue]: &[u8; 3]) -> i16 {
    let [red, green, blue] = [red, green, blue].map(u32::from);
    ((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16) as i16
}

/// What each of the few pixels takes from a line of many.
struct Weights {
    parts: [FilterWindow; SIDE],
}

/// The part of a line that one pixel takes. Weights are cut in two, so that each half has 16 bits,
/// of which processors multiply many at once; their sums together are exact.
struct FilterWindow {
    start: usize,
    high: Vec<i16>,
    low: Vec<i16>,
}

/// Where weights are cut: 2¹¹.
const CUT: i32 = 1 << (PRECISION / 2);

impl Weights {
    fn new(length: usize) -> Self {
        let scale = length as f64 / SIDE as f64;
        Self { parts: std::array::from_fn(|at| part(at, scale, length)) }
    }

    fn apply(&self, line: &[i16]) -> [i16; SIDE] {
        std::array::from_fn(|at| {
            let FilterWindow { start, high, low } = &self.parts[at];
            let line = &line[*start..];
            let sum = CUT * dot(line, high) + dot(line, low);
            // The filter overshoots at edges.
            ((sum + (1 << (PRECISION - 1))) >> PRECISION).clamp(0, 255) as i16
        })
    }
}

fn dot(pixels: &[i16], weights: &[i16]) -> i32 {
    pixels.iter().zip(weights).map(|(&pixel, &weight)| i32::from(pixel) * i32::from(weight)).sum()
}

fn part(at: usize, scale: f64, length: usize) -> FilterWindow {
    let stretch = scale.max(1.0);
    let centre = (at as f64 + 0.5) * scale;
    let start = (centre - REACH * stretch + 0.5).max(0.0) as usize;
    let end = ((centre + REACH * stretch + 0.5) as usize).min(length);
    let weights: Vec<f64> =
        (start..end).map(|x| lanczos((x as f64 - centre + 0.5) / stretch)).collect();
    let sum: f64 = weights.iter().sum();
    let one = f64::from(1 << PRECISION);
    let mut part = FilterWindow { start, high: Vec::new(), low: Vec::new() };
    for weight in weights {
        let fixed = (weight / sum * one).round() as i32;
        // Halves have the sign of their weight, so that no sum of them outgrows that of the weights.
        part.high.push((fixed / CUT) as i16);
        part.low.push((fixed % CUT) as i16);
    }
    part
}

fn lanczos(x: f64) -> f64 {
    if (-REACH..REACH).contains(&x) { sinc(x) * sinc(x / REACH) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { libm::sin(x * PI) / (x * PI) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, height: usize, at: impl Fn(usize, usize) -> u8) -> Image {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Image::from_rgb(width, height, pixels.flat_map(|(x, y)| [at(x, y); 3]).collect()).unwrap()
    }

    #[test]
    fn bits_are_pixels_lighter_than_the_mean() {
        let cases = [
            ("one level", grey(9, 5, |_, _| 77), 0),
            (
                "the right half",
                grey(8, 8, |x, _| if x < 4 { 10 } else { 20 }),
                0x0f0f_0f0f_0f0f_0f0f,
            ),
            (
                "the upper half",
                grey(80, 40, |_, y| if y < 20 { 200 } else { 20 }),
                0xffff_ffff << 32,
            ),
            ("the first pixel", grey(8, 8, |x, y| u8::from(x + y == 0) * 255), 1 << 63),
            ("a single pixel", grey(1, 1, |_, _| 255), 0),
        ];
        for (what, image, wanted) in cases {
            let got = average_hash(&image);
            assert_eq!(got, wanted, "{what}: {got:016x}");
        }
        assert_eq!((hamming(0, u64::MAX), hamming(5, 4)), (64, 1));
    }
}
