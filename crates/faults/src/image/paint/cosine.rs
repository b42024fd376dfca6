//! Blocks of 8×8 pixels as cosine waves, with their strengths rounded to steps.

use super::round::{WHOLE, byte};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Eight blocks side by side, rows from the top.
pub(crate) type Tile = [u8; 512];

/// Columns of a tile.
pub(crate) const WIDTH: usize = 64;

/// Quantises blocks by one table of steps.
pub(crate) struct Quantiser {
    /// For every wave across and down: what its strength is multiplied by to count steps.
    to_steps: [[f32; 8]; 8],
    /// What a number of steps is multiplied by to be a wave again.
    from_steps: [[f32; 8]; 8],
}

impl Quantiser {
    /// From the steps of 8×8 waves, rows from the slowest vertical wave on.
    pub(crate) fn new(steps: &[f32; 64]) -> Self {
        // A little more than the inverse, so that halves round away from zero.
        let more = 1.0 + 1.0 / f64::from(1 << 18);
        let table = |entry: &dyn Fn(f64, f64) -> f64| {
            std::array::from_fn(|across| {
                std::array::from_fn(|down| {
                    let step = f64::from(steps[8 * down + across]);
                    entry(step, SCALES[across] * SCALES[down]) as f32
                })
            })
        };
        Self {
            to_steps: table(&|step, _| more / (8.0 * step)),
            from_steps: table(&|step, scale| step * scale / 8.0),
        }
    }

    /// Leaves of the blocks what their steps can say. Rounds on the way where libjpeg does: rows
    /// come first, rounded to quarters, then columns, rounded to whole numbers.
    #[inline(always)]
    pub(crate) fn quantise(&self, tile: &mut Tile) {
        let mut values = [[0.0; 64]; 8];
        for (row, bytes) in values.iter_mut().zip(unzip(unzip(unzip(*tile))).as_chunks::<64>().0) {
            for (value, &byte) in row.iter_mut().zip(bytes) {
                *value = f32::from(byte) - 128.0;
            }
        }
        for_lanes(&mut values, |pixels| rounded_waves(forward(pixels), &TO_QUARTERS));
        for ((row, to), from) in values.iter_mut().zip(&self.to_steps).zip(&self.from_steps) {
            for block in 0..8 {
                let waves = forward(std::array::from_fn(|at| row[8 * at + block]));
                let waves = rounded_waves(waves, &TO_WHOLE);
                let left = std::array::from_fn(|at| rounded(waves[at] * to[at]) * from[at]);
                for (at, value) in inverse(left).into_iter().enumerate() {
                    row[8 * at + block] = value;
                }
            }
        }
        for_lanes(&mut values, inverse);
        let mut bytes = [0; 512];
        for (to, value) in bytes.iter_mut().zip(values.as_flattened()) {
            // Half of the range, and a little more: halves round up.
            *to = byte(value + 128.001);
        }
        *tile = zip(zip(zip(bytes)));
    }
}

/// Changes the eight values that stand above each other, at every place.
#[inline(always)]
fn for_lanes(values: &mut [[f32; 64]; 8], change: impl Fn([f32; 8]) -> [f32; 8]) {
    for lane in 0..64 {
        let changed = change(std::array::from_fn(|at| values[at][lane]));
        for (row, value) in values.iter_mut().zip(changed) {
            row[lane] = value;
        }
    }
}

/// Even places first, then odd ones. Three times this takes rows of blocks of columns to columns of
/// rows of blocks: waves across lie in rows then, and eight blocks next to each other.
#[inline(always)]
fn unzip(tile: Tile) -> Tile {
    let mut unzipped = [0; 512];
    for at in 0..256 {
        unzipped[at] = tile[2 * at];
        unzipped[256 + at] = tile[2 * at + 1];
    }
    unzipped
}

/// Undoes [`unzip`].
#[inline(always)]
fn zip(tile: Tile) -> Tile {
    let mut zipped = [0; 512];
    for at in 0..256 {
        zipped[2 * at] = tile[at];
        zipped[2 * at + 1] = tile[256 + at];
    }
    zipped
}

/// Rounds, halves to even: adding so much leaves no bits for a fraction.
#[inline(always)]
fn rounded(x: f32) -> f32 {
    (x + WHOLE) - WHOLE
}

/// Multiplies waves and rounds them, halves up.
#[inline(always)]
fn rounded_waves(waves: [f32; 8], factors: &[f32; 8]) -> [f32; 8] {
    std::array::from_fn(|at| rounded(waves[at] * factors[at] + 1.0 / 1024.0))
}

/// What [`forward`] multiplies each wave by: √2·cos(kπ/16) from the second on.
const SCALES: [f64; 8] = [
    1.0,
    1.387_039_845_322_147_5,
    1.306_562_964_876_376_4,
    1.175_875_602_419_358_8,
    1.0,
    0.785_694_958_387_102_3,
    0.541_196_100_146_197,
    0.275_899_379_282_943_1,
];

const TO_QUARTERS: [f32; 8] = without_scales(4.0);
const TO_WHOLE: [f32; 8] = without_scales(0.25);

const fn without_scales(factor: f64) -> [f32; 8] {
    let mut factors = [0.0; 8];
    let mut at = 0;
    while at < 8 {
        factors[at] = (factor / SCALES[at]) as f32;
        at += 1;
    }
    factors
}

/// Pixels to waves, by the fast transform of Arai, Agui and Nakajima (1988), which leaves each wave
/// with a scale of its own.
#[inline(always)]
fn forward(x: [f32; 8]) -> [f32; 8] {
    const HALF: f32 = FRAC_1_SQRT_2 as f32;
    let [s0, s1, s2, s3] = [x[0] + x[7], x[1] + x[6], x[2] + x[5], x[3] + x[4]];
    let [d0, d1, d2, d3] = [x[0] - x[7], x[1] - x[6], x[2] - x[5], x[3] - x[4]];
    let [outer, inner, tilt] = [s0 + s3, s1 + s2, s0 - s3];
    let bend = (tilt + (s1 - s2)) * HALF;
    let [a, b, c] = [d3 + d2, d2 + d1, d1 + d0];
    let turn = (a - c) * 0.382_683_43;
    let [low, high] = [a * 0.541_196_1 + turn, c * 1.306_563 + turn];
    let [plus, minus] = [d0 + b * HALF, d0 - b * HALF];
    [
        outer + inner,
        plus + high,
        tilt + bend,
        minus - low,
        outer - inner,
        minus + low,
        tilt - bend,
        plus - high,
    ]
}

/// Waves to pixels.
#[inline(always)]
fn inverse(x: [f32; 8]) -> [f32; 8] {
    const TWICE: f32 = SQRT_2 as f32;
    let [outer, inner, both] = [x[0] + x[4], x[0] - x[4], x[2] + x[6]];
    let bend = (x[2] - x[6]) * TWICE - both;
    let [e0, e1, e2, e3] = [outer + both, inner + bend, inner - bend, outer - both];
    let [sum53, low] = [x[5] + x[3], x[5] - x[3]];
    let [sum17, high] = [x[1] + x[7], x[1] - x[7]];
    let turn = (low + high) * 1.847_759_1;
    let o0 = sum17 + sum53;
    let o1 = turn - low * 2.613_126 - o0;
    let o2 = (sum17 - sum53) * TWICE - o1;
    let o3 = turn - high * 1.082_392_2 - o2;
    [e0 + o0, e1 + o1, e2 + o2, e3 + o3, e3 - o3, e2 - o2, e1 - o1, e0 - o0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: a sum over cosines.
    fn plain(x: [f32; 8], wave: usize) -> f64 {
        let angle = |at: usize| (2 * at + 1) as f64 * wave as f64 * std::f64::consts::PI / 16.0;
        let sum: f64 = (0..8).map(|at| f64::from(x[at]) * libm::cos(angle(at))).sum();
        if wave == 0 { sum } else { sum * SQRT_2 }
    }

    #[test]
    fn waves_are_those_of_the_definition_and_lead_back() {
        let x = [12.0, -100.0, 127.0, 3.0, -128.0, 55.0, 0.0, 91.0];
        let waves = forward(x);
        for wave in 0..8 {
            let got = f64::from(waves[wave]) / SCALES[wave];
            assert!((got - plain(x, wave)).abs() < 1e-3, "{wave}: {got}");
        }
        let back = inverse(waves.map(|wave| wave / 8.0));
        assert!(back.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-3), "{back:?}");
    }

    #[test]
    fn steps_of_one_lose_next_to_nothing() {
        let tile: Tile = std::array::from_fn(|at| (at * at * 31 % 256) as u8);
        let mut same = tile;
        Quantiser::new(&[1.0; 64]).quantise(&mut same);
        assert!(tile.iter().zip(same).all(|(a, b)| a.abs_diff(b) <= 2));
        let even = [77; 512];
        let mut same = even;
        Quantiser::new(&[255.0; 64]).quantise(&mut same);
        // A step of 255 is 32 levels of even light; 51 below the middle are nearest to two of them.
        assert!(same.iter().all(|&value| value == 64));
        assert_eq!(zip(unzip(tile)), tile);
    }
}
