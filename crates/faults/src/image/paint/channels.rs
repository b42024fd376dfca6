//! Pixels in groups with their channels apart, which is how vector units want them.

use super::round::byte_in_range;
use faultlens_core::Image;

/// Pixels of a group; with fewer the compiler writes them out one by one.
pub(crate) const GROUP: usize = 256;

/// The reds, the greens and the blues of a group.
pub(crate) type Channels = [[u8; GROUP]; 3];

/// The luma of a colour (0.299 red, 0.587 green, 0.114 blue), as Pillow and libjpeg round it: the
/// weights are whole parts of 65,536, so that no sum is rounded and white stays white.
#[inline(always)]
pub(crate) fn luma([red, green, blue]: [f32; 3]) -> u8 {
    const WEIGHTS: [f32; 3] = [19_595.0 / 65_536.0, 38_470.0 / 65_536.0, 7_471.0 / 65_536.0];
    byte_in_range(WEIGHTS[0] * red + WEIGHTS[1] * green + WEIGHTS[2] * blue)
}

/// Takes the channels of a group apart.
#[inline(always)]
pub(crate) fn apart(pixels: &[[u8; 3]; GROUP]) -> Channels {
    let mut channels = [[0; GROUP]; 3];
    for (at, pixel) in pixels.iter().enumerate() {
        channels[0][at] = pixel[0];
        channels[1][at] = pixel[1];
        channels[2][at] = pixel[2];
    }
    channels
}

/// Undoes [`apart`].
#[inline(always)]
pub(crate) fn together(channels: &Channels) -> [[u8; 3]; GROUP] {
    let mut pixels = [[0; 3]; GROUP];
    for (at, pixel) in pixels.iter_mut().enumerate() {
        *pixel = [channels[0][at], channels[1][at], channels[2][at]];
    }
    pixels
}

/// At most a group of pixels as a whole one; the last pixel fills it up.
#[inline(always)]
pub(crate) fn whole_group(pixels: &[[u8; 3]]) -> [[u8; 3]; GROUP] {
    if let Some(group) = pixels.first_chunk() {
        return *group;
    }
    let mut group = [[0; 3]; GROUP];
    let (shown, beyond) = group.split_at_mut(pixels.len());
    shown.copy_from_slice(pixels);
    beyond.fill(*pixels.last().unwrap_or(&[0; 3]));
    group
}

/// The image with every pixel changed on its own, by arithmetic that can work on many at once.
#[inline(always)]
pub(crate) fn map_colours(image: &Image, change: impl Fn([f32; 3]) -> [u8; 3]) -> Image {
    let mut changed = image.clone();
    for part in changed.rgb_mut().as_chunks_mut::<3>().0.chunks_mut(GROUP) {
        let mut channels = apart(&whole_group(part));
        let [reds, greens, blues] = &mut channels;
        for ((red, green), blue) in reds.iter_mut().zip(greens).zip(blues) {
            [*red, *green, *blue] = change([*red, *green, *blue].map(f32::from));
        }
        part.copy_from_slice(&together(&channels)[..part.len()]);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Pillow's conversion to grey makes of some colours.
    #[test]
    fn colours_weigh_what_they_should() {
        let cases =
            [([255u8, 0, 0], 76), ([0, 255, 0], 150), ([0, 0, 255], 29), ([226, 133, 49], 151)];
        for (colour, wanted) in cases {
            assert_eq!(luma(colour.map(f32::from)), wanted);
        }
        assert!((0..=255).all(|value| luma([f32::from(value); 3]) == value));
    }

    #[test]
    fn every_pixel_is_changed_once_and_stays_where_it_is() {
        for width in [1, 63, 64, 65, 200] {
            let rgb = (0..3 * width).map(|at| (at % 251) as u8).collect();
            let image = Image::from_rgb(width, 1, rgb).unwrap();
            let changed = map_colours(&image, |[r, g, b]| [b as u8, r as u8 + 1, g as u8 + 2]);
            let plain = image.map_pixels(|[r, g, b]| [b, r + 1, g + 2]);
            assert_eq!(changed, plain, "{width}");
        }
    }
}
