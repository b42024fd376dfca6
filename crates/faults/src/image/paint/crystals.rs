//! Plates of frost: feathers of ice crystals that branch at sixty degrees.
//!
//! A plate is grown once and repeats in both directions, so that any part of it can be shown, at
//! any size.

use super::plasma::Plasma;
use faultlens_core::{Seed, Stream};
use std::sync::OnceLock;

/// Pixels a side; smaller images see a smaller copy.
const SIDE: usize = 1024;

/// How many feathers grow on a plate.
const FEATHERS: usize = 64;

/// How far apart the barbs of a feather stand, in pixels.
const GAP: f64 = 8.0;

/// How bright plates are where nothing grows, so that their means are as bright, and as unlike each
/// other, as the photographs of the reference.
const GROUNDS: [f32; 3] = [85.0, 120.0, 155.0];

static PLATES: [OnceLock<Plate>; 3] = [const { OnceLock::new() }; 3];

/// Brightness of frost, at sizes that halve.
struct Plate(Vec<Vec<u8>>);

/// A part of a plate, as large as an image.
pub(crate) struct Crystals {
    plate: &'static Plate,
    /// How often the plate is halved.
    halved: usize,
    /// How often it is doubled, for images larger than the plate.
    doubled: usize,
    start: [usize; 2],
    flipped: [bool; 2],
}

impl Crystals {
    /// A random part of a random plate, such that the longer side of an image shows most of it.
    pub(crate) fn new(width: usize, height: usize, stream: &mut Stream) -> Self {
        let which = stream.below(PLATES.len());
        let plate = PLATES[which].get_or_init(|| Plate::grown(which));
        let wanted = width.max(height).next_power_of_two().max(16);
        let start = [stream.below(wanted), stream.below(wanted)];
        let flipped = [stream.chance(0.5), stream.chance(0.5)];
        let halved = (SIDE / wanted).max(1).ilog2() as usize;
        let doubled = (wanted / SIDE).max(1).ilog2() as usize;
        Self { plate, halved, doubled, start, flipped }
    }

    /// The brightness of one row, from the left.
    pub(crate) fn row(&self, y: usize, out: &mut [u8]) {
        let level = &self.plate.0[self.halved];
        let side = SIDE >> self.halved;
        let shown = side << self.doubled;
        let y = if self.flipped[1] { shown - 1 - y % shown } else { y % shown };
        let y = (y + self.start[1]) % shown;
        if self.doubled > 0 {
            self.magnified(level, y, out);
        } else {
            let row = &level[y * side..][..side];
            let (before, after) = row.split_at(self.start[0]);
            let (first, second) = out.split_at_mut(after.len().min(out.len()));
            first.copy_from_slice(&after[..first.len()]);
            second.copy_from_slice(&before[..second.len()]);
        }
        if self.flipped[0] {
            out.reverse();
        }
    }

    fn magnified(&self, level: &[u8], y: usize, out: &mut [u8]) {
        let scale = 1usize << self.doubled;
        let rows = [0, 1].map(|by| &level[(y / scale + by) % SIDE * SIDE..][..SIDE]);
        let down = (y % scale * 256 / scale) as u32;
        let mixed = |x: usize| {
            let [upper, lower] = rows.map(|row| u32::from(row[x % SIDE]));
            upper * (256 - down) + lower * down
        };
        for (x, out) in out.iter_mut().enumerate() {
            let x = x + self.start[0];
            let across = (x % scale * 256 / scale) as u32;
            let sum = mixed(x / scale) * (256 - across) + mixed(x / scale + 1) * across;
            *out = (sum >> 16) as u8;
        }
    }
}

impl Plate {
    fn grown(which: usize) -> Self {
        let mut stream = Seed::new(which as u64).child("frost").stream();
        let clouds = Plasma::new(SIDE, 1.7, &mut stream);
        let mut ice = Ice(vec![0.0; SIDE * SIDE]);
        for _ in 0..FEATHERS {
            ice.feather(&mut stream);
        }
        let ground = GROUNDS[which];
        let mut finest = Vec::with_capacity(SIDE * SIDE);
        for (ice, cloud) in ice.0.iter().zip(&clouds.values) {
            finest.push((ground + 60.0 * cloud + 135.0 * ice) as u8);
        }
        let mut levels: Vec<Vec<u8>> = vec![finest];
        for halved in 1..=SIDE.ilog2() - 4 {
            let finer = &levels[halved as usize - 1];
            levels.push(half(finer, SIDE >> (halved - 1)));
        }
        Self(levels)
    }
}

/// The mean of every four pixels.
fn half(fine: &[u8], side: usize) -> Vec<u8> {
    let mut coarse = Vec::with_capacity(side / 2 * (side / 2));
    for rows in fine.chunks_exact(2 * side) {
        let (upper, lower) = rows.split_at(side);
        for (above, below) in upper.as_chunks::<2>().0.iter().zip(lower.as_chunks::<2>().0) {
            let sum: u16 = above.iter().chain(below).map(|&level| u16::from(level)).sum();
            coarse.push((sum / 4) as u8);
        }
    }
    coarse
}

/// How much ice has grown, from 0 to 1, on a square that repeats.
struct Ice(Vec<f32>);

/// Something that grows in a direction.
struct Shoot {
    at: [f64; 2],
    angle: f64,
    length: f64,
    opacity: f64,
}

impl Ice {
    /// A bent stem with barbs at sixty degrees, which have barbs of their own.
    fn feather(&mut self, stream: &mut Stream) {
        let side = SIDE as f64;
        let at = [stream.uniform() * side, stream.uniform() * side];
        let stem = Shoot {
            at,
            angle: stream.between(0.0, 360.0),
            length: stream.between(150.0, 650.0),
            opacity: stream.between(0.5, 1.0),
        };
        let bend = stream.between(-0.09, 0.09);
        self.grow(&stem, bend, 2, stream);
    }

    fn grow(&mut self, shoot: &Shoot, bend: f64, barbs: u32, stream: &mut Stream) {
        let Shoot { mut at, mut angle, length, opacity } = *shoot;
        let mut next = GAP;
        let mut grown = 0.0;
        while grown < length {
            let radians = angle.to_radians();
            let [across, down] = [libm::cos(radians), libm::sin(radians)];
            at = [at[0] + across, at[1] + down];
            angle += bend;
            grown += 1.0;
            let left = 1.0 - grown / length;
            let now = (opacity * (0.35 + 0.65 * left)) as f32;
            // Stems are three pixels thick, barbs two, the barbs of barbs one.
            for aside in 0..=barbs {
                let aside = f64::from(aside) - 0.5 * f64::from(barbs);
                self.freeze([at[0] - aside * down, at[1] + aside * across], now);
            }
            if barbs == 0 || grown < next {
                continue;
            }
            next = grown + GAP * stream.between(0.7, 1.6);
            // Barbs are short where the stem starts and where it ends.
            let swell = libm::sqrt((grown / length).min(0.35) / 0.35) * left;
            for turn in [-60.0, 60.0] {
                let barb = Shoot {
                    at,
                    angle: angle + turn + stream.between(-5.0, 5.0),
                    length: 0.38 * length * swell * stream.between(0.4, 1.0),
                    opacity: 0.75 * opacity,
                };
                if barb.length >= 2.0 {
                    self.grow(&barb, 0.3 * bend, barbs - 1, stream);
                }
            }
        }
    }

    /// Ice at a point between four pixels; it grows less where some is already.
    fn freeze(&mut self, [x, y]: [f64; 2], opacity: f32) {
        let left = libm::floor(x);
        let top = libm::floor(y);
        let across = (x - left) as f32;
        let down = (y - top) as f32;
        for (by_y, part_y) in [(0, 1.0 - down), (1, down)] {
            for (by_x, part_x) in [(0, 1.0 - across), (1, across)] {
                // The plate repeats in both directions.
                let row = (top as i64 + by_y).rem_euclid(SIDE as i64) as usize;
                let column = (left as i64 + by_x).rem_euclid(SIDE as i64) as usize;
                let value = &mut self.0[row * SIDE + column];
                *value += 0.6 * opacity * part_x * part_y * (1.0 - *value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_covered_and_the_same_each_time() {
        for (width, height) in [(1, 1), (5, 70), (64, 64), (500, 375), (2100, 3)] {
            let rows = |seed: u64| {
                let crystals = Crystals::new(width, height, &mut Seed::new(seed).stream());
                let mut row = vec![0; width];
                let rows = (0..height).map(|y| {
                    crystals.row(y, &mut row);
                    row.iter().map(|&level| f64::from(level)).sum::<f64>() / width as f64
                });
                rows.collect::<Vec<f64>>()
            };
            assert_eq!(rows(1), rows(1));
            let mean = rows(1).iter().sum::<f64>() / height as f64;
            assert!((70.0..250.0).contains(&mean), "{mean}");
        }
    }
}
