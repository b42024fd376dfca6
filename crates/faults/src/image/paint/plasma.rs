//! Clouds: the diamond-square fractal (Fournier, Fussell and Carpenter 1982), which repeats in both
//! directions.

use super::grain::bytes;
use faultlens_core::Stream;
use std::borrow::Cow;

/// Grids of fewer points a side draw fine random numbers; in larger ones, whose noise is faint, a
/// byte is fine enough.
const COARSE: usize = 16;

/// The largest square: a long, narrow image would else need memory for its length squared.
const LARGEST: usize = 8192;

/// A square of values from 0 to 1, a power of two a side.
pub(crate) struct Plasma {
    side: usize,
    pub(crate) values: Vec<f32>,
}

impl Plasma {
    /// A square that covers `size` pixels a side. The noise of a grid is `decay²` times that of
    /// the next finer one.
    pub(crate) fn new(size: usize, decay: f64, stream: &mut Stream) -> Self {
        let side = size.next_power_of_two().min(LARGEST);
        let mut values = vec![0.0f32];
        let mut grid = 1;
        let mut amplitude = 1.0;
        while grid < side {
            let noise = Noise::new(3 * grid * grid, grid, amplitude as f32, stream);
            values = refined(&values, grid, &noise);
            grid *= 2;
            amplitude /= decay * decay;
        }
        normalise(&mut values);
        Self { side, values }
    }

    /// The first so many values of a row; both go round where they are more than a side has.
    pub(crate) fn row(&self, y: usize, width: usize) -> Cow<'_, [f32]> {
        let start = y % self.side * self.side;
        let row = &self.values[start..start + self.side];
        match row.get(..width) {
            Some(row) => Cow::Borrowed(row),
            None => row.iter().cycle().take(width).copied().collect(),
        }
    }
}

fn normalise(values: &mut [f32]) {
    let mut low = [f32::INFINITY; 8];
    let mut high = [f32::NEG_INFINITY; 8];
    // Eight at a time; a grid of less than that is tiny.
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights.iter().copied().chain(rest.iter().map(|&value| [value; 8])) {
        for ((low, high), value) in low.iter_mut().zip(&mut high).zip(eight) {
            *low = if value < *low { value } else { *low };
            *high = if value > *high { value } else { *high };
        }
    }
    let low = low.into_iter().fold(f32::INFINITY, f32::min);
    let high = high.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let scale = if high > low { 1.0 / (high - low) } else { 0.0 };
    values.iter_mut().for_each(|value| *value = (*value - low) * scale);
}

/// Random numbers between plus and minus an amplitude.
struct Noise {
    bytes: Vec<u8>,
    fine: Vec<f32>,
    scale: f32,
}

impl Noise {
    fn new(n: usize, grid: usize, amplitude: f32, stream: &mut Stream) -> Self {
        if grid < COARSE {
            let fine = (0..n).map(|_| amplitude * stream.between(-1.0, 1.0) as f32).collect();
            return Self { bytes: vec![0; n], fine, scale: 0.0 };
        }
        Self { bytes: bytes(n, stream), fine: Vec::new(), scale: amplitude / 127.5 }
    }

    /// Adds the numbers from one place on to a row.
    fn add(&self, row: &mut [f32], from: usize) {
        match self.fine.get(from..from + row.len()) {
            Some(fine) => row.iter_mut().zip(fine).for_each(|(out, noise)| *out += noise),
            None => {
                let bytes = &self.bytes[from..from + row.len()];
                for (out, &byte) in row.iter_mut().zip(bytes) {
                    *out += (f32::from(byte) - 127.5) * self.scale;
                }
            }
        }
    }
}

/// The grid with a point between any two: first the middles of squares, from their corners, then
/// the middles of sides, from what lies around them.
fn refined(corners: &[f32], n: usize, noise: &Noise) -> Vec<f32> {
    let mut middles = vec![0.0; n * n];
    for (y, middles) in middles.chunks_exact_mut(n).enumerate() {
        let upper = &corners[y * n..][..n];
        let lower = &corners[(y + 1) % n * n..][..n];
        for (x, middle) in middles.iter_mut().enumerate().take(n - 1) {
            *middle = ((upper[x] + lower[x]) + (upper[x + 1] + lower[x + 1])) * 0.25;
        }
        middles[n - 1] = ((upper[n - 1] + lower[n - 1]) + (upper[0] + lower[0])) * 0.25;
        noise.add(middles, y * n);
    }
    let mut out = vec![0.0; 4 * n * n];
    let mut sides = vec![0.0; n];
    for (y, pair) in out.chunks_exact_mut(4 * n).enumerate() {
        let (even, odd) = pair.split_at_mut(2 * n);
        let here = &corners[y * n..][..n];
        let below = &corners[(y + 1) % n * n..][..n];
        let middle = &middles[y * n..][..n];
        let above = &middles[(y + n - 1) % n * n..][..n];
        for x in 0..n - 1 {
            sides[x] = (middle[x] + above[x] + here[x] + here[x + 1]) * 0.25;
        }
        sides[n - 1] = (middle[n - 1] + above[n - 1] + here[n - 1] + here[0]) * 0.25;
        noise.add(&mut sides, (n + y) * n);
        interleave(even, here, &sides);
        sides[0] = (middle[0] + middle[n - 1] + here[0] + below[0]) * 0.25;
        for x in 1..n {
            sides[x] = (middle[x] + middle[x - 1] + here[x] + below[x]) * 0.25;
        }
        noise.add(&mut sides, (2 * n + y) * n);
        interleave(odd, &sides, middle);
    }
    out
}

fn interleave(out: &mut [f32], first: &[f32], second: &[f32]) {
    let (pairs, _) = out.as_chunks_mut::<2>();
    for ((pair, &first), &second) in pairs.iter_mut().zip(first).zip(second) {
        *pair = [first, second];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn values_span_the_range_and_are_smooth_where_noise_decays() {
        let rough = |decay: f64| {
            let plasma = Plasma::new(100, decay, &mut Seed::new(3).stream());
            assert_eq!((plasma.side, plasma.values.len()), (128, 128 * 128));
            assert_eq!(plasma.values.iter().copied().fold(1.0, f32::min), 0.0);
            assert!((plasma.values.iter().copied().fold(0.0, f32::max) - 1.0).abs() < 1e-5);
            // It repeats: the last column stands beside the first.
            let steps = (0..128 * 128).map(|at| {
                let right = at / 128 * 128 + (at + 1) % 128;
                (plasma.values[at] - plasma.values[right]).abs()
            });
            steps.fold(0.0, f32::max)
        };
        assert!(rough(3.0) < 0.2 && rough(3.0) < rough(1.4), "{} {}", rough(3.0), rough(1.4));
    }

    #[test]
    fn tiny_squares_are_there_too() {
        for size in 1..5 {
            let plasma = Plasma::new(size, 2.0, &mut Seed::new(1).stream());
            assert!(plasma.values.iter().all(|value| (0.0..=1.0).contains(value)));
        }
    }
}
