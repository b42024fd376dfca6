//! Functions that the kernels need in vectors and that must round alike on every machine.

/// Adding and taking away this number rounds a small `f32` to a whole number.
const ROUND: f32 = 12_582_912.0;

/// eˣ within 2 units in the last place; branch-free, so that loops over it vectorise.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Comparisons are false for NaN, which therefore passes through.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    // Cephes' expf: x = n · ln 2 + r with |r| <= ln 2 / 2, a polynomial in r, then 2^n. Adding
    // ROUND leaves n, rounded, in the lowest bits.
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let whole = shifted - ROUND;
    // ln 2 in two parts (Cody and Waite), so that the difference loses no bits.
    let rest = whole.mul_add(-0.693_359_4, x);
    let rest = whole.mul_add(2.121_944_4e-4, rest);
    let p = 1.987_569_1e-4f32;
    let p = p.mul_add(rest, 1.398_2e-3);
    let p = p.mul_add(rest, 8.333_452e-3);
    let p = p.mul_add(rest, 4.166_579_6e-2);
    let p = p.mul_add(rest, 1.666_666_6e-1);
    let p = p.mul_add(rest, 0.5);
    let p = p.mul_add(rest * rest, rest) + 1.0;
    // 2^n in two steps, so that results near the ends of the range keep their value.
    let n = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let half = n >> 1;
    p * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// 1 / (1 + e⁻ˣ).
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Hyperbolic tangent: a series near zero, where the quotient would lose digits.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    // tanh x = 1 - 2 / (e^2x + 1) loses digits near zero, where the odd polynomial of Cephes
    // stands in.
    let far = 1.0 - 2.0 / (exp(2.0 * x.abs()) + 1.0);
    let s = x * x;
    let p = -5.704_988_6e-3f32;
    let p = p.mul_add(s, 2.063_908_8e-2);
    let p = p.mul_add(s, -5.373_971_6e-2);
    let p = p.mul_add(s, 1.333_144_2e-1);
    let p = p.mul_add(s, -3.333_328e-1);
    let near = (p * s).mul_add(x, x);
    if x.abs() < 0.625 { near } else { far.copysign(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats across the whole range, against double precision.
    #[test]
    fn near_double_precision_everywhere() {
        let mut worst = [0.0f64; 3];
        for bits in (0..u32::MAX).step_by(99_991) {
            let x = f32::from_bits(bits);
            if !x.is_finite() {
                continue;
            }
            let d = f64::from(x);
            let pairs =
                [(exp(x), d.exp()), (sigmoid(x), 1.0 / (1.0 + (-d).exp())), (tanh(x), d.tanh())];
            for (worst, (got, want)) in worst.iter_mut().zip(pairs) {
                // Results too small for a normal float may be cut to zero.
                let tiny = |x: f64| x.abs() < f64::from(f32::MIN_POSITIVE);
                if want as f32 != got && !(tiny(want) && tiny(got.into())) {
                    *worst = worst.max((f64::from(got) - want).abs() / want.abs());
                }
            }
        }
        assert!(worst.iter().all(|&w| w < 4e-7), "{worst:?}");
    }

    #[test]
    fn non_finite_inputs() {
        assert!(exp(f32::NAN).is_nan() && sigmoid(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(sigmoid(f32::INFINITY), 1.0);
        assert_eq!(sigmoid(f32::NEG_INFINITY), 0.0);
        assert_eq!(tanh(f32::INFINITY), 1.0);
        assert_eq!(tanh(f32::NEG_INFINITY), -1.0);
    }
}
