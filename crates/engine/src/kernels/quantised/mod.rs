//! Whole numbers of eight bits: rows times packed weights, one filter per channel, and the way
//! back to eight bits.
//!
//! Elements come as 16-bit differences from their zero points, so that padding is zero and no term
//! for zero points is left over. Sums are exact in 32 bits; so no tile, vector width or order of
//! summation changes a bit.

mod product;

use super::simd::per_isa;
pub(crate) use product::{Packed, Rows, Sums, multiply, padded};

/// Added to a float below 2²², this rounds it to a whole number in the lowest bits, half to even.
const ROUND: f32 = 12_582_912.0;
/// From here on a float has no place in 32 bits.
const BEYOND: f32 = 2_147_483_648.0;

/// The whole numbers that an element may be, and the one of them that means zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IntegerRange {
    pub(crate) low: i32,
    pub(crate) high: i32,
    pub(crate) zero: i32,
}

impl IntegerRange {
    /// The nearest whole number to `x` steps from zero, half to even; the lowest one for NaN.
    #[inline(always)]
    pub(crate) fn nearest(self, x: f32) -> i32 {
        let low = (self.low - self.zero) as f32;
        let high = (self.high - self.zero) as f32;
        let x = if x > low { x } else { low };
        let x = if x < high { x } else { high };
        // The sum has no room for fractions, so that the addition rounds; the whole number stands
        // in its lowest bits.
        ((x + ROUND).to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32) + self.zero
    }

    /// The nearest whole number to `x`, which counts from nothing. What has no place in 32 bits
    /// becomes the lowest one, as the instructions that ONNX Runtime uses have it.
    #[inline(always)]
    pub(crate) fn converted(self, x: f32) -> i32 {
        let x = if x < BEYOND { x } else { f32::MIN };
        Self { zero: 0, ..self }.nearest(x)
    }
}

per_isa! {
    /// One filter per channel: rows are taps of whole pixels, weights lie tap by tap.
    fn depthwise[](rows: Rows<'_>, weights: &[i16], channels: usize, sums: &mut [i32]) =
        depthwise_body(rows, weights, channels, sums);
}

#[inline(always)]
fn depthwise_body(rows: Rows<'_>, weights: &[i16], channels: usize, sums: &mut [i32]) {
    let taps = weights.len() / channels;
    for (starts, sums) in rows.starts.chunks_exact(taps).zip(sums.chunks_exact_mut(channels)) {
        sums.fill(0);
        for (&start, weights) in starts.iter().zip(weights.chunks_exact(channels)) {
            let inputs = &rows.data[start..][..channels];
            for ((sum, &x), &w) in sums.iter_mut().zip(inputs).zip(weights) {
                *sum = sum.wrapping_add(i32::from(x) * i32::from(w));
            }
        }
    }
}

per_isa! {
    /// Brings rows of sums back to eight bits: a bias and a factor per column, then the nearest
    /// whole number, whose lowest eight bits are written.
    fn narrow[](sums: &[i32], bias: &[i32], factors: &[f32], range: IntegerRange, out: &mut [u8]) = {
        let columns = bias.len().max(1);
        for (sums, out) in sums.chunks_exact(columns).zip(out.chunks_exact_mut(columns)) {
            for (((out, &sum), &bias), &factor) in out.iter_mut().zip(sums).zip(bias).zip(factors) {
                *out = range.nearest(sum.wrapping_add(bias) as f32 * factor) as u8;
            }
        }
    };
}

per_isa! {
    /// Combines two rows; the lowest eight bits are written.
    fn pairs[F: Fn(i32, i32) -> i32](a: &[i16], b: &[i16], out: &mut [u8], f: F) = {
        for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *out = f(i32::from(a), i32::from(b)) as u8;
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSIGNED: IntegerRange = IntegerRange { low: 0, high: 255, zero: 100 };

    #[test]
    fn halves_go_to_the_even_neighbour_and_ends_hold() {
        let cases = [
            (0.5, 100),
            (1.5, 102),
            (-0.5, 100),
            (-1.5, 98),
            (154.6, 255),
            (1e30, 255),
            (f32::INFINITY, 255),
            (-100.4, 0),
            (f32::NEG_INFINITY, 0),
            (f32::NAN, 0),
        ];
        for (x, whole) in cases {
            assert_eq!(UNSIGNED.nearest(x), whole, "{x}");
        }
    }

    #[test]
    fn what_has_no_place_in_32_bits_becomes_the_lowest() {
        let cases = [(254.5, 254), (300.0, 255), (-3.0, 0), (3e9, 0), (f32::NAN, 0)];
        for (x, whole) in cases {
            assert_eq!(UNSIGNED.converted(x), whole, "{x}");
        }
    }
}
