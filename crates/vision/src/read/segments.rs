//! A class for every pixel.

use faultlens_core::{Bounds, Segments, argmax};

use super::super::{OutputDescription, VisionError};
use super::{Names, Output, ShownImage, all_finite, place, sides};

/// What belongs to class 1, where there is one channel.
const THRESHOLD: f32 = 0.5;

/// A class that there is not, as a broken model may answer.
const NO_CLASS: u16 = u16::MAX;

const WANTED: &str = "a score per image, class, row and column is needed, or the class itself per \
                      image, row and column";

pub(super) fn read(
    description: &OutputDescription,
    output: Output<'_>,
    shown: ShownImage<'_>,
    names: Names<'_>,
) -> Result<Segments, VisionError> {
    let layout = description.layout;
    // Without an axis of channels, the model gives the class itself.
    let plain = output.axes::<2>().map(|([height, width], range)| ([1, height, width], range));
    let found = output.axes::<3>().map(|(axes, range)| (sides(layout, axes), range)).or(plain);
    let ([channels, height, width], range) = found.ok_or_else(|| output.refuse(WANTED))?;
    let pixels = height * width;
    let chosen = if channels == 1 { output.classes(range.clone()) } else { None };
    let (classes, known, finite) = if let Some(chosen) = chosen {
        let known = 1 + chosen.iter().copied().max().unwrap_or(0).clamp(0, NO_CLASS.into());
        (
            chosen.iter().map(|&class| u16::try_from(class).unwrap_or(NO_CLASS)).collect(),
            known as usize,
            true,
        )
    } else {
        let scores = output.numbers(range).ok_or_else(|| output.refuse(WANTED))?;
        let at = place(layout, channels, pixels);
        let min_score = description.threshold.unwrap_or(THRESHOLD);
        (
            (0..pixels)
                .map(|pixel| match channels {
                    // One channel is a mask: foreground is class 1.
                    1 => u16::from(scores[pixel] >= min_score),
                    _ => argmax((0..channels).map(|channel| scores[at(channel, pixel)]))
                        .and_then(|class| u16::try_from(class).ok())
                        .unwrap_or(NO_CLASS),
                })
                .collect(),
            // A mask has two classes, with background.
            channels.max(2),
            all_finite(&scores),
        )
    };
    let covers = covers(shown)?;
    Ok(Segments { width, height, classes, covers, names: names(known).into(), finite })
}

/// Where the model's input lies in the image.
fn covers(shown: ShownImage<'_>) -> Result<Bounds, VisionError> {
    let placement = shown.input.placement(shown.width, shown.height)?;
    let [height, width] = shown.input.size;
    let [left, top] = placement.to_image([0.0, 0.0]).map(|at| at as f32);
    let [right, bottom] = placement.to_image([width as f64, height as f64]).map(|at| at as f32);
    Ok(Bounds { left, top, right, bottom })
}
