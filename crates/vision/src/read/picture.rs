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
    let value = |number: f32| {
        let value = (number - black) / (white - black);
        if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
    };
    let at = place(layout, channels, height * width);
    let pixels = (0..height * width).flat_map(|pixel| (0..channels).map(move |c| (c, pixel)));
    let values = pixels.map(|(channel, pixel)| value(numbers[at(channel, pixel)])).collect();
    Ok(Picture { width, height, channels, values, finite: all_finite(&numbers) })
}
