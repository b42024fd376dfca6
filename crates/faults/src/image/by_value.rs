//! Changes that look at one value at a time.

use super::vectors::wide;
use faultlens_core::Image;

/// A number as a byte, rounded (halves to even) and cut off at black and white. The plain cast
/// takes numbers one by one; this compiles to vectors on every CPU.
#[inline(always)]
pub(super) fn byte(x: f32) -> u8 {
    byte_in_range(smaller(larger(x, 0.0), 255.0))
}

/// [`byte`] for numbers that round to one anyway.
#[inline(always)]
pub(super) fn byte_in_range(x: f32) -> u8 {
    // So large that a fraction does not fit: the whole number is in the lowest bits.
    const SO_MUCH: f32 = 12_582_912.0;
    (x + SO_MUCH).to_bits() as u8
}

/// A number from 0 to 255 as a byte, without its fraction. What is short of a whole number by no
/// more than floating point errs counts as that number.
#[inline(always)]
pub(super) fn floor_byte(x: f32) -> u8 {
    byte_in_range(x - 0.4995)
}

/// The larger of two numbers that both are some; `f32::max` would look for ones that are not.
#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The smaller one, as [`larger`].
#[inline(always)]
pub(super) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The image with every value looked up in a table.
pub(super) fn map_values(image: &Image, table: &[u8; 256]) -> Image {
    let mut changed = image.clone();
    for value in changed.rgb_mut() {
        *value = table[usize::from(*value)];
    }
    changed
}

/// Changes every value by its channel: 16 pixels at a time, so that the compiler makes vectors.
#[inline(always)]
pub(super) fn change_by_channel<T: Copy>(
    rgb: &mut [u8],
    channels: [T; 3],
    change: impl Fn(u8, T) -> u8,
) {
    let channels: [T; 48] = std::array::from_fn(|at| channels[at % 3]);
    let (groups, rest) = rgb.as_chunks_mut::<48>();
    for group in groups {
        for (value, &channel) in group.iter_mut().zip(&channels) {
            *value = change(*value, channel);
        }
    }
    for (value, &channel) in rest.iter_mut().zip(&channels) {
        *value = change(*value, channel);
    }
}

/// The mean of every channel.
pub(super) fn channel_means(image: &Image) -> [f64; 3] {
    let pixels = (image.rgb().len() / 3) as f64;
    channel_sums(image.rgb()).map(|sum| sum as f64 / pixels)
}

wide!(fn channel_sums<'a>(rgb: &'a [u8]) -> [u64; 3] = sums_kernel);

#[inline(always)]
fn sums_kernel(rgb: &[u8]) -> [u64; 3] {
    let mut sums = [0u64; 3];
    // 256 values of a byte fit into 16 bits.
    for part in rgb.chunks(48 * 256) {
        let mut lanes = [0u16; 48];
        let (groups, rest) = part.as_chunks::<48>();
        for group in groups {
            for (lane, &value) in lanes.iter_mut().zip(group) {
                *lane += u16::from(value);
            }
        }
        for (at, &lane) in lanes.iter().enumerate() {
            sums[at % 3] += u64::from(lane);
        }
        for (at, &value) in rest.iter().enumerate() {
            sums[at % 3] += u64::from(value);
        }
    }
    sums
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
    fn means_are_those_of_plain_sums() {
        for pixels in [1, 15, 16, 17, 4096, 5000] {
            let rgb: Vec<u8> = (0..3 * pixels).map(|at| (at * 31 % 256) as u8).collect();
            let image = Image::from_rgb(pixels, 1, rgb).unwrap();
            for (channel, mean) in channel_means(&image).into_iter().enumerate() {
                let plain = image.rgb().iter().skip(channel).step_by(3).map(|&v| f64::from(v));
                assert_eq!(mean, plain.sum::<f64>() / pixels as f64, "{pixels}");
            }
        }
        let white = Image::from_rgb(70, 70, vec![255; 3 * 4900]).unwrap();
        assert_eq!(channel_means(&white), [255.0; 3]);
    }
}
