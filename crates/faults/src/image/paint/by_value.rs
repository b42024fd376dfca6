//! Changes that look at one value at a time.

use super::vectors::wide;
use faultlens_core::Image;

/// The image with every value looked up in a table.
pub(crate) fn map_values(image: &Image, table: &[u8; 256]) -> Image {
    let mut changed = image.clone();
    for value in changed.rgb_mut() {
        *value = table[usize::from(*value)];
    }
    changed
}

/// Changes every value by its channel: 16 pixels at a time, so that the compiler makes vectors.
#[inline(always)]
pub(crate) fn change_by_channel<T: Copy>(
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
pub(crate) fn channel_means(image: &Image) -> [f64; 3] {
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
