//! Reads a model's outputs as an answer.

mod detections;
mod picture;
mod segments;
mod text;

use detections::DetectionReader;
pub(super) use detections::in_image;
use faultlens_core::{Response, Scores, Tensor, TensorData};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::output::output_names;
use super::tensors::{numbers, tensor_text};
use super::{InputDescription, Layout, OutputDescription, OutputKind, VisionError};
use faultlens_engine::Graph;

/// Reads a model's outputs as an answer; made once for a model, so that what is wrong with the
/// description is said before the first question.
#[derive(Debug, Clone)]
pub struct OutputReader {
    description: OutputDescription,
    /// The output that is read, by its position and name.
    output: (usize, String),
    detections: Option<DetectionReader>,
}

/// What was shown, and how: boxes and areas are given back in its pixels.
#[derive(Debug, Clone, Copy)]
pub struct ShownImage<'a> {
    /// How it became the model's input.
    pub input: &'a InputDescription,
    /// Columns of the image.
    pub width: usize,
    /// Rows of the image.
    pub height: usize,
}

/// Names for so many classes; asked for with every answer, so they are worth keeping.
pub type Names<'a> = &'a dyn Fn(usize) -> Arc<[String]>;

impl OutputReader {
    /// A reader of this model's outputs.
    pub fn new(description: &OutputDescription, graph: &Graph) -> Result<Self, VisionError> {
        Self::of_outputs(description, &output_names(graph))
    }

    /// A reader of outputs that are called so, in this order, where the model itself is elsewhere.
    pub fn of_outputs(
        description: &OutputDescription,
        names: &[&str],
    ) -> Result<Self, VisionError> {
        description.check()?;
        let at = description.position_among(names)?;
        let name = names.get(at).copied().unwrap_or("(none)");
        let detections = match description.kind {
            OutputKind::Detections => Some(DetectionReader::new(description, names)?),
            _ => None,
        };
        let output = (at, name.to_owned());
        Ok(Self { description: description.clone(), output, detections })
    }

    /// The answer for the image at `index` of the batch, from all outputs of the model.
    pub fn read(
        &self,
        outputs: &[Tensor],
        index: usize,
        shown: ShownImage<'_>,
        names: Names<'_>,
    ) -> Result<Response, VisionError> {
        if let Some(detections) = &self.detections {
            return Ok(Response::Detections(detections.read(outputs, index, shown, names)?));
        }
        let (at, name) = &self.output;
        let tensor = outputs.get(*at).ok_or_else(|| missing(name))?;
        let output = Output { tensor, name, index };
        let description = &self.description;
        Ok(match description.kind {
            OutputKind::Values => Response::Values(description.scores(tensor, index)?),
            // Detections were read above.
            OutputKind::Logits | OutputKind::Probabilities | OutputKind::Detections => {
                let scores = description.scores(tensor, index)?;
                let names = names(scores.len()).into();
                Response::Scores(Scores { scores, names })
            }
            OutputKind::Segments => {
                Response::Segments(segments::read(description, output, shown, names)?)
            }
            OutputKind::Picture => Response::Picture(picture::read(description, output)?),
            OutputKind::Text => Response::Text(text::read(description, output, names)?),
        })
    }
}

fn missing(name: &str) -> VisionError {
    VisionError::NotRead {
        name: name.to_owned(),
        shape: "missing".to_owned(),
        wanted: "the model declares it".to_owned(),
    }
}

/// One image's part of an output.
#[derive(Clone, Copy)]
struct Output<'a> {
    tensor: &'a Tensor,
    name: &'a str,
    index: usize,
}

impl<'a> Output<'a> {
    fn refuse(&self, wanted: impl Into<String>) -> VisionError {
        let name = self.name.to_owned();
        let shape = tensor_text(self.tensor);
        VisionError::NotRead { name, shape, wanted: wanted.into() }
    }

    /// The image's numbers and its own axes, of which there are `N`; the images' axis is the first.
    fn axes<const N: usize>(&self) -> Option<([usize; N], Range<usize>)> {
        let (&images, axes) = self.tensor.shape().split_first()?;
        let axes: [usize; N] = axes.try_into().ok()?;
        let each: usize = axes.iter().product();
        // An empty output has no part for any image.
        let fits = self.index < images && each > 0;
        fits.then(|| (axes, self.index * each..(self.index + 1) * each))
    }

    fn numbers(&self, range: Range<usize>) -> Option<Cow<'a, [f32]>> {
        numbers(self.tensor.data(), range)
    }

    /// Classes that the model has chosen itself.
    fn classes(&self, range: Range<usize>) -> Option<Vec<i64>> {
        match self.tensor.data() {
            TensorData::I64(v) => Some(v[range].to_vec()),
            TensorData::I32(v) => Some(v[range].iter().map(|&x| x.into()).collect()),
            TensorData::U8(v) => Some(v[range].iter().map(|&x| x.into()).collect()),
            _ => None,
        }
    }
}

/// Channels, rows and columns of the axes behind the images.
fn sides(layout: Option<Layout>, axes: [usize; 3]) -> [usize; 3] {
    match layout.unwrap_or_default() {
        Layout::Nchw => axes,
        Layout::Nhwc => [axes[2], axes[0], axes[1]],
    }
}

/// Where a channel of a pixel stands, given channels and pixels.
fn place(layout: Option<Layout>, channels: usize, pixels: usize) -> impl Fn(usize, usize) -> usize {
    let steps = match layout.unwrap_or_default() {
        Layout::Nchw => [pixels, 1],
        Layout::Nhwc => [1, channels],
    };
    move |channel, pixel| channel * steps[0] + pixel * steps[1]
}

fn all_finite(numbers: &[f32]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}

#[cfg(test)]
mod tests;
