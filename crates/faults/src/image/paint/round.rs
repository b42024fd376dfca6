//! Numbers to whole ones, and the larger of two, in ways that compile to vectors on every CPU.

/// Added to a number from 0 up to a few million, it leaves no bits for a fraction: the whole number
/// is in the lowest ones.
pub(crate) const WHOLE: f32 = 12_582_912.0;

/// A number as a byte, rounded (halves to even) and cut off at black and white. The plain cast
/// takes numbers one by one.
#[inline(always)]
pub(crate) fn byte(x: f32) -> u8 {
    byte_in_range(smaller(larger(x, 0.0), 255.0))
}

/// [`byte`] for numbers that round to one anyway.
#[inline(always)]
pub(crate) fn byte_in_range(x: f32) -> u8 {
    (x + WHOLE).to_bits() as u8
}

/// A number from 0 to 255 as a byte, without its fraction. What is short of a whole number by no
/// more than floating point errs counts as that number.
#[inline(always)]
pub(crate) fn floor_byte(x: f32) -> u8 {
    byte_in_range(x - 0.4995)
}

/// The whole part of a level from 0 up to but without 256. Just below a whole number counts as that
/// number, so that flat areas keep their level after many sums.
#[inline(always)]
pub(crate) fn level_byte(level: f32) -> u8 {
    (level - 0.498 + WHOLE).to_bits() as u8
}

/// The whole part of a number from 0 to 65535, as [`level_byte`].
#[inline(always)]
pub(crate) fn level_word(number: f32) -> u16 {
    (number - 0.498 + WHOLE).to_bits() as u16
}

/// The larger of two numbers that both are some; `f32::max` would look for ones that are not.
#[inline(always)]
pub(crate) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The smaller one, as [`larger`].
#[inline(always)]
pub(crate) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_rounded_and_cut_off() {
        let cases = [(-1e9, 0), (-0.6, 0), (0.4, 0), (0.6, 1), (1.5, 2), (2.5, 2), (127.49, 127)];
        for (x, wanted) in cases.into_iter().chain([(254.6, 255), (255.4, 255), (f32::MAX, 255)]) {
            assert_eq!(byte(x), wanted, "{x}");
        }
        assert!((0..=255).all(|value| byte(f32::from(value)) == value));
        for (x, wanted) in
            [(-1e-4, 0), (0.0, 0), (0.99, 0), (0.9999, 1), (254.9, 254), (255.0, 255)]
        {
            assert_eq!(floor_byte(x), wanted, "{x}");
        }
    }

    #[test]
    fn whole_parts_are_those_of_a_cast() {
        for at in 0..25_590 {
            let level = at as f32 / 100.0 + 0.003;
            assert_eq!(level_byte(level), level as u8, "{level}");
            assert_eq!(level_word(level * 250.0), (level * 250.0 + 0.002) as u16, "{level}");
        }
        assert_eq!(
            (level_byte(0.0), level_byte(255.0), level_byte(254.999), level_byte(0.99)),
            (0, 255, 255, 0)
        );
    }
}
