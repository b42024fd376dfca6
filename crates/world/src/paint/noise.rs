//! Irregularity: smooth noise for leaves, clouds and asphalt, and the grain of a sensor.

use super::{Canvas, Rgb};
use faultlens_core::{Seed, Stream};

/// Smooth noise over the plane, from 0 to 1, about one bump per unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueNoise(u32);

impl ValueNoise {
    pub(crate) fn new(stream: &mut Stream) -> Self {
        Self(stream.next_u32())
    }

    pub(crate) fn at(&self, x: f32, y: f32) -> f32 {
        let ix = floor(x);
        let iy = floor(y);
        let tx = smooth(x - ix as f32);
        let ty = smooth(y - iy as f32);
        let row = |iy| lerp(self.corner(ix, iy), self.corner(ix.wrapping_add(1), iy), tx);
        lerp(row(iy), row(iy.wrapping_add(1)), ty)
    }

    /// Bumps of several sizes, each half as high and wide as the one before.
    pub(crate) fn rough(&self, x: f32, y: f32, octaves: usize) -> f32 {
        let mut sum = 0.0;
        let mut weight = 0.0;
        let mut scale = 1.0;
        for _ in 0..octaves {
            sum += self.at(x * scale, y * scale) / scale;
            weight += 1.0 / scale;
            scale *= 2.0;
        }
        sum / weight
    }

    fn corner(&self, x: i32, y: i32) -> f32 {
        let mut h =
            self.0 ^ (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca77);
        h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
        h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
        ((h ^ (h >> 15)) >> 8) as f32 / (1 << 24) as f32
    }
}

/// The whole number at or below, without a call into the system's library.
fn floor(x: f32) -> i32 {
    let whole = x as i32;
    whole - i32::from(x < whole as f32)
}

fn smooth(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// The noise of a sensor: alike in every pixel, a little more in bright ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grain {
    pub(crate) amount: f32,
    pub(crate) seed: Seed,
}

impl Grain {
    pub(crate) fn add(&self, canvas: &mut Canvas) {
        let mut stream = self.seed.stream();
        canvas.each(|_, _, colour: Rgb| {
            colour.map(|c| {
                c + self.amount * (0.6 + 0.4 * c.clamp(0.0, 1.0)) * bell(stream.next_u32())
            })
        });
    }
}

/// Nearly normal, deviation 1, at most 3.5: the sum of four random bytes.
fn bell(bits: u32) -> f32 {
    let sum: u32 = bits.to_le_bytes().iter().map(|&b| u32::from(b)).sum();
    (sum as f32 - 510.0) / 147.8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_smooth_and_fills_its_range() {
        let noise = ValueNoise::new(&mut Seed::new(1).stream());
        let mut lowest = 1.0f32;
        let mut highest = 0.0f32;
        for i in 0..2000 {
            let x = i as f32 * 0.05 - 50.0;
            let here = noise.rough(x, x * 0.3, 3);
            lowest = lowest.min(here);
            highest = highest.max(here);
            assert!((noise.at(x, 0.5) - noise.at(x + 0.01, 0.5)).abs() < 0.03);
        }
        assert!(lowest > 0.0 && lowest < 0.3 && highest < 1.0 && highest > 0.7);
    }

    #[test]
    fn grain_has_the_deviation_asked_for() {
        let mut canvas = Canvas::new(100, 100);
        canvas.each(|_, _, _| [0.5; 3]);
        Grain { amount: 0.1, seed: Seed::new(3) }.add(&mut canvas);
        let mut squares = 0.0;
        canvas.each(|_, _, c| {
            squares += c.iter().map(|v| (v - 0.5) * (v - 0.5)).sum::<f32>();
            c
        });
        let deviation = (squares / 30_000.0).sqrt();
        assert!((deviation - 0.08).abs() < 0.003, "{deviation}");
    }
}
