//! `QLinearAveragePool` and `QLinearGlobalAveragePool`.

use super::super::windows::windows;
use super::super::{Attributes, Op};
use super::{Answers, Bytes, QuantParams, answer, required};
use crate::error::OperandError;
use crate::kernels::quantised::narrow;
use crate::kernels::window::{AxisSpec, Window};
use crate::value::Value;

/// Where the elements of an image batch lie: how many, and how far apart, along each axis.
struct Layout {
    images: usize,
    channels: usize,
    /// Rows and columns, or however many axes there are between channels and elements.
    plane: Vec<usize>,
    channels_last: bool,
}

impl Layout {
    fn of(shape: &[usize], channels_last: bool) -> Result<Self, OperandError> {
        let (images, channels, plane) = match shape {
            [images, plane @ .., channels] if channels_last => (images, channels, plane),
            [images, channels, plane @ ..] if !channels_last => (images, channels, plane),
            _ => return Err(OperandError::new(format!("images are wanted, not {shape:?}"))),
        };
        Ok(Self { images: *images, channels: *channels, plane: plane.to_vec(), channels_last })
    }

    /// The same images over another plane.
    fn over(&self, plane: Vec<usize>) -> Self {
        Self { plane, ..*self }
    }

    fn pixels(&self) -> usize {
        self.plane.iter().product()
    }

    fn at(&self, image: usize, channel: usize, pixel: usize) -> usize {
        if self.channels_last {
            (image * self.pixels() + pixel) * self.channels + channel
        } else {
            (image * self.channels + channel) * self.pixels() + pixel
        }
    }

    fn shape(&self) -> Vec<usize> {
        let mut shape = vec![self.images];
        shape.extend_from_slice(&self.plane);
        shape.insert(if self.channels_last { shape.len() } else { 1 }, self.channels);
        shape
    }
}

struct Global {
    channels_last: bool,
}

pub(in crate::ops) fn parse_global(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Global { channels_last: attributes.int("channels_last", 0) != 0 })))
}

impl Op for Global {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let input = required(operands, 0)?;
        let from = QuantParams::of(operands, 1, input)?;
        let to = QuantParams::of(operands, 3, input)?;
        let layout = Layout::of(input.shape(), self.channels_last)?;
        let elements = Bytes::of(input)?.shifted(from.zero);
        let pixels = layout.pixels();
        let sums: Vec<i32> = (0..layout.images * layout.channels)
            .map(|i| {
                let image = i / layout.channels;
                let channel = i % layout.channels;
                (0..pixels).map(|p| i32::from(elements[layout.at(image, channel, p)])).sum()
            })
            .collect();
        let factor = from.scale / (to.scale * pixels as f32);
        let mut bits = vec![0; sums.len()];
        narrow(&sums, &vec![0; sums.len()], &vec![factor; sums.len()], to.range()?, &mut bits);
        answer(layout.over(vec![1; layout.plane.len()]).shape(), to.dtype, bits)
    }
}

struct Average {
    windows: [AxisSpec; 2],
    channels_last: bool,
    counts_padding: bool,
}

pub(in crate::ops) fn parse(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    if attributes.ints("kernel_shape").is_none_or(|axes| axes.len() != 2) {
        return Ok(None);
    }
    let channels_last = attributes.flag("channels_last");
    let counts_padding = attributes.flag("count_include_pad");
    let windows = windows(attributes)?;
    Ok(windows.map(|windows| Box::new(Average { windows, channels_last, counts_padding }) as _))
}

impl Op for Average {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let input = required(operands, 0)?;
        let from = QuantParams::of(operands, 1, input)?;
        let to = QuantParams::of(operands, 3, input)?;
        let layout = Layout::of(input.shape(), self.channels_last)?;
        let &[height, width] = layout.plane.as_slice() else { return Ok(None) };
        let [rows, columns] = self.windows;
        let window = Window { rows: rows.bind(height)?, columns: columns.bind(width)? };
        let pooled = layout.over(vec![window.rows.output, window.columns.output]);
        let elements = Bytes::of(input)?.shifted(from.zero);
        let range = to.range()?;
        let mut bits = vec![0; pooled.shape().iter().product()];
        for pixel in 0..pooled.pixels() {
            let at = [0, pixel / window.columns.output, pixel % window.columns.output];
            let under: Vec<usize> = window.under(at).map(|[_, h, w]| h * width + w).collect();
            let count = if self.counts_padding { window.taps() } else { under.len() };
            for i in 0..layout.images * layout.channels {
                let image = i / layout.channels;
                let channel = i % layout.channels;
                let sum: f32 = under
                    .iter()
                    .map(|&p| from.scale * f32::from(elements[layout.at(image, channel, p)]))
                    .sum();
                let steps = sum / count as f32 / to.scale;
                bits[pooled.at(image, channel, pixel)] =
                    range.converted(steps + to.zero as f32) as u8;
            }
        }
        answer(pooled.shape(), to.dtype, bits)
    }
}
