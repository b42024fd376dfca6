//! An image that the model makes.

use faultlens_core::Picture;

use super::super::{OutputDescription, VisionError};
use super::{Output, all_finite, place, sides};

const WANTED: &str = "one or three channels per image, row and column are needed";

pub(super) fn read(
    description: &OutputDescription,
    output: Output<'_>,
) -> Result<Picture, VisionError> {
    let refuse = || output.refuse(WANTED);
    let layout = description.layout;
    let (axes, range) = output.axes::<3>().ok_or_else(refuse)?;
    let [channels, height, width] = sides(layout, axes);
    if ![1, 3].contains(&channels) {
        return Err(refuse());
    }
    let numbers = output.numbers(range).ok_or_else(refuse)?;
    let [black, white] = description.range.unwrap_or([0.0, 1.0]);
    let at = place(layout, channels, height * width);
    let mut values = Vec::with_capacity(height * width * channels);
    for pixel in 0..height * width {
        for channel in 0..channels {
            let value = (numbers[at(channel, pixel)] - black) / (white - black);
            // NaN is shown black; that there was one is said by `finite`.
            values.push(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) });
        }
    }
    Ok(Picture { width, height, channels, values, finite: all_finite(&numbers) })
}
