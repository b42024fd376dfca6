//! Smearing along a line, to one side: the motion blur of ImageNet-C, a half Gaussian whose taps are
//! shifted copies of the image.

use super::edge::Edge;
use super::pixels::{in_65536ths, weighed};

/// Shifted copies of an image with their weights.
pub(crate) struct Streak(Vec<Tap>);

struct Tap {
    /// How far the copy is moved, to the right and down.
    by: [isize; 2],
    /// In 65536ths.
    weight: u16,
}

impl Streak {
    /// One half of a Gaussian, along an angle in degrees; `radius` is half its length.
    pub(crate) fn new(radius: f64, deviation: f64, angle: f64) -> Self {
        let length = 2 * radius as i32 + 1;
        let radians = angle.to_radians();
        let direction = [libm::cos(radians), libm::sin(radians)];
        let mut shifts: Vec<([isize; 2], f64)> = Vec::new();
        for step in 0..length {
            let step = f64::from(step);
            let weight = libm::exp(-step * step / (2.0 * deviation * deviation).max(1e-9));
            let by = direction.map(|part| -libm::ceil(step * part - 0.5) as isize);
            match shifts.last_mut() {
                Some((last, sum)) if *last == by => *sum += weight,
                _ => shifts.push((by, weight)),
            }
        }
        let weights: Vec<f64> = shifts.iter().map(|(_, weight)| *weight).collect();
        let weights = in_65536ths(&weights);
        let taps = shifts.into_iter().zip(weights).map(|((by, _), weight)| Tap { by, weight });
        Self(taps.filter(|tap| tap.weight > 0).collect())
    }

    /// Interleaved planes of values up to 65280, smeared.
    pub(crate) fn smear(&self, values: &[u16], width: usize, channels: usize) -> Vec<u16> {
        let border = self.0.iter().map(|tap| tap.by[0].unsigned_abs()).max().unwrap_or(0);
        let stride = width * channels;
        let padded_stride = stride + 2 * border * channels;
        let height = values.len() / stride;
        let mut padded = vec![0; padded_stride * height];
        let rows = padded.chunks_exact_mut(padded_stride).zip(values.chunks_exact(stride));
        for (padded, row) in rows {
            padded[border * channels..][..stride].copy_from_slice(row);
            Edge::Repeat.pad(padded, border, channels);
        }
        // What cutting off below the unit costs on average.
        let loss = (self.0.len() / 2) as u16;
        let mut out = vec![loss; values.len()];
        for (y, out) in out.chunks_exact_mut(stride).enumerate() {
            add_up(out, &self.0, |tap| {
                let [right, down] = tap.by;
                let y = Edge::Repeat.index(y as isize - down, height);
                let x = (border as isize - right) as usize;
                &padded[y * padded_stride + x * channels..][..stride]
            });
        }
        out
    }
}

/// Four copies at a time: the sums are read and written a quarter as often.
fn add_up<'a>(out: &mut [u16], taps: &[Tap], row: impl Fn(&Tap) -> &'a [u16]) {
    let n = out.len();
    let (fours, rest) = taps.as_chunks::<4>();
    for four in fours {
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| &row(&four[at])[..n]);
        let [e, f, g, h] = [0, 1, 2, 3].map(|at| four[at].weight);
        for ((((out, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let near = weighed(a, e) + weighed(b, f);
            *out += near + (weighed(c, g) + weighed(d, h));
        }
    }
    for tap in rest {
        for (out, &level) in out.iter_mut().zip(row(tap)) {
            *out += weighed(level, tap.weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_becomes_a_line_to_one_side() {
        let mut values = vec![0; 9 * 9];
        values[4 * 9 + 4] = 65280;
        for (angle, step) in [(0.0, [-1, 0]), (90.0, [0, -1]), (-45.0, [-1, 1]), (180.0, [1, 0])] {
            let smeared = Streak::new(2.0, 2.0, angle).smear(&values, 9, 1);
            let at = |steps: isize| {
                let [x, y] = step.map(|by: isize| (4 + steps * by) as usize);
                smeared[y * 9 + x]
            };
            assert!(at(0) > 1000 && at(1) > 1000 && at(2) > 1000, "{angle} {smeared:?}");
            assert!(at(-1) < 10, "{angle} {smeared:?}");
        }
    }

    #[test]
    fn flat_areas_and_tiny_images_keep_their_level() {
        for (width, height) in [(1, 1), (1, 5), (5, 1), (3, 4)] {
            let values = vec![200 << 8; width * height * 3];
            let smeared = Streak::new(20.0, 15.0, 33.0).smear(&values, width, 3);
            assert!(smeared.iter().all(|&level| level.abs_diff(200 << 8) < 24), "{smeared:?}");
        }
    }
}
