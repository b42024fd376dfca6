//! Things with their outlines, from the outputs of models that segment. Their layouts are those of
//! [`INSTANCE_LAYOUTS`](crate::INSTANCE_LAYOUTS).
//!
//! [`InstanceReader::new`] recognises the layout by the model's outputs; [`InstanceReader::read`]
//! gives each thing once, with a mask over the whole image.

mod areas;

use faultlens_core::{Bounds, Detection, Mask, Tensor, non_maximum_suppression};

use super::outlines::{InstanceLayout, layout};
use super::read::in_image;
use super::{OutputDescription, ShownImage, VisionError};
use faultlens_engine::Graph;

/// Only so many of the surest are looked at.
const MAX_CANDIDATES: usize = 1000;
/// No image has more objects that are worth an outline.
const MAX_INSTANCES: usize = 100;
/// Pixels of all masks of one image together.
const MAX_PIXELS: usize = 1 << 30;

/// One thing that a model found, with its outline.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Its class.
    pub class: usize,
    /// How sure the model is, where it says so.
    pub score: Option<f32>,
    /// The box around it, in pixels of the image.
    pub bounds: Bounds,
    /// Its pixels, over the whole image; at least one.
    pub mask: Mask,
}

/// Reads the things in an image from a model's outputs.
#[derive(Debug)]
pub struct InstanceReader(Source);

#[derive(Debug)]
enum Source {
    Mixed(&'static InstanceLayout),
    Areas(Box<areas::AreaReader>),
}

impl InstanceReader {
    /// A reader of this model's outputs, by their shapes; or by a description of segments, whose
    /// connected areas are taken for things.
    pub fn new(graph: &Graph, described: Option<&OutputDescription>) -> Result<Self, VisionError> {
        if let Some(layout) = layout(graph).filter(|_| described.is_none()) {
            return Ok(Self(Source::Mixed(layout)));
        }
        let areas = areas::AreaReader::new(graph, described)?;
        Ok(Self(Source::Areas(Box::new(areas))))
    }

    /// What the layout is called.
    pub fn name(&self) -> &'static str {
        match &self.0 {
            Source::Mixed(layout) => layout.name,
            Source::Areas(_) => "segments",
        }
    }

    /// How many classes the model knows, where its outputs say so.
    pub fn classes(&self, graph: &Graph) -> Option<usize> {
        match &self.0 {
            Source::Mixed(layout) => (layout.classes)(graph),
            Source::Areas(_) => None,
        }
    }

    /// The things in the image that was shown, surest first, with at least this score where the
    /// model scores them. `names` are the classes': an area called background is none.
    pub fn read(
        &self,
        outputs: &[Tensor],
        shown: ShownImage<'_>,
        min_score: f32,
        names: &dyn Fn(usize) -> String,
    ) -> Result<Vec<Instance>, VisionError> {
        match &self.0 {
            Source::Mixed(layout) => mixed(layout, outputs, shown, min_score),
            Source::Areas(areas) => areas.read(outputs, shown, names),
        }
    }
}

fn mixed(
    layout: &InstanceLayout,
    outputs: &[Tensor],
    shown: ShownImage<'_>,
    min_score: f32,
) -> Result<Vec<Instance>, VisionError> {
    let outlines = (layout.read)(outputs)
        .map_err(|why| VisionError::Instances { layout: layout.name, why })?;
    let placement = shown.input.placement(shown.width, shown.height)?;
    let [height, width] = shown.input.size.map(|side| side as f32);
    // Boxes as parts of the input become pixels of it first.
    let [x, y] = if outlines.relative { [width, height] } else { [1.0, 1.0] };
    let mut found: Vec<(usize, Detection)> = Vec::new();
    for at in 0..outlines.count {
        let Some(object) = (outlines.object)(at).filter(|object| object.score >= min_score) else {
            continue;
        };
        let b = object.bounds;
        let own =
            Bounds { left: b.left * x, top: b.top * y, right: b.right * x, bottom: b.bottom * y };
        let object = Detection { bounds: in_image(own, placement), ..object };
        if object.bounds.area().is_finite() {
            found.push((at, object));
        }
    }
    found.sort_by(|(_, a), (_, b)| Detection::by_descending_score(a, b));
    found.truncate(MAX_CANDIDATES);
    let kept = suppress_overlaps(&found, layout.overlap);
    // A mask has a bit per pixel of the image; many of them on a large image would fill the
    // memory.
    let max = MAX_INSTANCES.min(MAX_PIXELS / (shown.width * shown.height).max(1));
    Ok(kept
        .into_iter()
        .take(max)
        .filter_map(|(at, object)| {
            let weights = (outlines.weights)(at);
            let mask = outlines.prototypes.mask(&weights, object.bounds, shown, placement)?;
            let Detection { class, score, bounds } = object;
            Some(Instance { class, score: Some(score), bounds, mask })
        })
        .collect())
}

/// The surest of those that overlap, with where each was found; the surest come first.
fn suppress_overlaps(found: &[(usize, Detection)], overlap: f32) -> Vec<(usize, Detection)> {
    let mut kept: Vec<Detection> = found.iter().map(|(_, object)| *object).collect();
    non_maximum_suppression(&mut kept, overlap);
    let mut rest = found.iter();
    // Both are in the same order, so each is found behind the one before.
    kept.iter().filter_map(|object| rest.find(|(_, other)| other == object).copied()).collect()
}

#[cfg(test)]
mod tests;
