//! How much there is to see at each spatial frequency: a 9/7 wavelet transform, of which only the
//! variance of the bands is kept.

use super::plane::{MARGIN, Plane};
use super::strip::{Level, Ring};

/// Levels of the transform.
pub(super) const LEVELS: usize = 5;

/// The filters from their middle outwards.
const LOW: [f64; 5] =
    [0.85269867900889, 0.37740285561283, -0.11062440441844, -0.02384946501956, 0.03782845550726];
const HIGH: [f64; 4] = [-0.78848561640558, 0.41809227322162, 0.04068941760916, -0.06453888262870];

/// For each level, finest first, the variances of its three detail bands, summed up. Sides are
/// multiples of 32, and rows have their [`MARGIN`].
pub(super) fn variances(first: impl Level) -> [f64; LEVELS] {
    let mut first = Some(first);
    let mut low = Plane::new(0, 0, MARGIN);
    std::array::from_fn(|_| {
        let (next, variance) = match first.take() {
            Some(first) => level(first),
            None => level(&low),
        };
        low = next;
        variance
    })
}

/// The filtered halves of a level's rows, as far as they are needed.
struct Halves<L> {
    level: L,
    left: Ring,
    right: Ring,
    /// Even and odd places of a row.
    places: [Vec<f64>; 2],
    next: usize,
}

impl<L: Level> Halves<L> {
    fn new(level: L) -> Self {
        let [width, height] = level.size();
        let [left, right] = [(); 2].map(|()| Ring::new([width / 2, height], 0));
        let places = [(); 2].map(|()| vec![0.0; width / 2 + MARGIN]);
        Self { level, left, right, places, next: 0 }
    }

    /// Makes sure of the rows up to [`MARGIN`] around one.
    fn prepare(&mut self, y: usize) {
        let [_, height] = self.level.size();
        while self.next < height.min(y + MARGIN + 1) {
            let y = self.next;
            self.level.prepare(y);
            let [evens, odds] = &mut self.places;
            let pairs = self.level.near_row(y, 0).as_chunks::<2>().0;
            for (([even, odd], evens), odds) in pairs.iter().zip(evens).zip(odds) {
                [*evens, *odds] = [*even, *odd];
            }
            self.left.write(y, |out| low_across(&self.places, out));
            self.right.write(y, |out| high_across(&self.places, out));
            self.next += 1;
        }
    }
}

/// One level: what is left for the next one, and the variance of what is not.
fn level(level: impl Level) -> (Plane, f64) {
    let [width, height] = level.size().map(|side| side / 2);
    let mut halves = Halves::new(level);
    let mut low = Plane::new(width, height, MARGIN);
    let mut row = vec![0.0; width];
    let mut bands = [Spread::default(); 3];
    for y in 0..height {
        halves.prepare(2 * y + 1);
        let Halves { left, right, .. } = &halves;
        low.write(y, |out| down(left, &LOW, 2 * y, out));
        down(left, &HIGH, 2 * y + 1, &mut row);
        bands[0].add(&row);
        down(right, &LOW, 2 * y, &mut row);
        bands[1].add(&row);
        down(right, &HIGH, 2 * y + 1, &mut row);
        bands[2].add(&row);
    }
    (low, bands.iter().map(|band| band.variance(width * height)).sum())
}

/// The low-pass at every even place of a row, whose even and odd places stand apart.
fn low_across([evens, odds]: &[Vec<f64>; 2], out: &mut [f64]) {
    let n = out.len();
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|from: usize| &evens[from..][..n]);
    let [f, g, h, i] = [0, 1, 2, 3].map(|from: usize| &odds[from..][..n]);
    for x in 0..n {
        let near = LOW[0] * c[x] + LOW[1] * (g[x] + h[x]) + LOW[2] * (b[x] + d[x]);
        out[x] = near + LOW[3] * (f[x] + i[x]) + LOW[4] * (a[x] + e[x]);
    }
}

/// The high-pass at every odd place.
fn high_across([evens, odds]: &[Vec<f64>; 2], out: &mut [f64]) {
    let n = out.len();
    let [a, b, c, d] = [1, 2, 3, 4].map(|from: usize| &evens[from..][..n]);
    let [e, f, g] = [1, 2, 3].map(|from: usize| &odds[from..][..n]);
    for x in 0..n {
        let near = HIGH[0] * f[x] + HIGH[1] * (b[x] + c[x]);
        out[x] = near + HIGH[2] * (e[x] + g[x]) + HIGH[3] * (a[x] + d[x]);
    }
}

/// A filter over the rows around one.
fn down(plane: &Ring, filter: &[f64], y: usize, out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(plane.near_row(y, 0)) {
        *out = filter[0] * value;
    }
    for (away, weight) in filter.iter().enumerate().skip(1) {
        let [above, under] = [-1, 1].map(|sign| plane.near_row(y, sign * away as isize));
        for ((out, above), under) in out.iter_mut().zip(above).zip(under) {
            *out += weight * (above + under);
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, row: &[f64]) {
        self.sum += row.iter().sum::<f64>();
        self.squares += row.iter().map(|value| value * value).sum::<f64>();
    }

    fn variance(&self, n: usize) -> f64 {
        let n = n as f64;
        (self.squares / n - (self.sum / n).powi(2)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plane made by a formula.
    fn plane(side: usize, value: impl Fn(usize, usize) -> f64) -> Plane {
        let mut plane = Plane::new(side, side, MARGIN);
        for y in 0..side {
            plane.write(y, |row| row.iter_mut().enumerate().for_each(|(x, v)| *v = value(x, y)));
        }
        plane
    }

    #[test]
    fn details_stand_at_their_own_frequency() {
        assert!(variances(&plane(32, |_, _| 77.0)).iter().all(|&variance| variance < 1e-18));
        // Single columns are the finest detail, stripes of 32 rows the coarsest.
        let finest = variances(&plane(128, |x, _| if x % 2 == 0 { 10.0 } else { -10.0 }));
        assert!(finest[0] > 100.0 * finest[1..].iter().sum::<f64>(), "{finest:?}");
        let coarse = variances(&plane(128, |_, y| if y / 32 % 2 == 0 { 10.0 } else { -10.0 }));
        assert!(coarse[4] > coarse[..4].iter().sum::<f64>(), "{coarse:?}");
    }
}
