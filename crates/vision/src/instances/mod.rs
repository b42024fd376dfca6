//! Things with their outlines, from the outputs of models that segment. One file per layout.
//!
//! [`InstanceReader::new`] recognises the layout by the model's outputs; [`InstanceReader::read`]
//! gives each thing once, with a mask over the whole image.

mod areas;
mod prototypes;
mod yolact;
mod yolov8_seg;

use faultlens_core::{Bounds, Detection, Mask, Tensor, non_maximum_suppression};
use std::borrow::Cow;

use super::preprocessing::Preprocessing;
use super::read::{in_image, numbers};
use super::{OutputDescription, ShownImage, VisionError};
use faultlens_engine::Graph;
use prototypes::Prototypes;

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

/// A way in which models give outlines.
pub struct InstanceLayout {
    /// What it is called.
    pub name: &'static str,
    /// What it reads, in a sentence without a full stop.
    pub about: &'static str,
    /// How many classes a model with such outputs knows; `None` where its outputs are others.
    classes: fn(&Graph) -> Option<usize>,
    read: fn(&[Tensor]) -> Result<Outlines<'_>, String>,
    /// Boxes of one class that overlap by more are one thing.
    overlap: f32,
    /// How images go into such models.
    preprocessing: &'static Preprocessing,
}

/// Every layout of boxes with mixed masks, in alphabetical order. Add yours here. Maps of classes
/// are read too; they have no boxes.
pub const INSTANCE_LAYOUTS: &[InstanceLayout] = &[yolact::YOLACT, yolov8_seg::YOLOV8_SEG];

impl std::fmt::Debug for InstanceLayout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstanceLayout").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a layout reads: boxes, and masks to mix.
struct Outlines<'a> {
    /// How many boxes there are.
    count: usize,
    prototypes: Prototypes<'a>,
    /// Class, score and box of one of them; the box in parts of the input or in its pixels.
    object: Box<dyn Fn(usize) -> Option<Detection> + 'a>,
    /// How the masks are mixed for it.
    weights: Box<dyn Fn(usize) -> Vec<f32> + 'a>,
    /// Whether boxes are parts of the input.
    relative: bool,
}

/// Reads the things in an image from a model's outputs.
#[derive(Debug)]
pub struct InstanceReader(Source);

#[derive(Debug)]
enum Source {
    Mixed(&'static InstanceLayout),
    Areas(Box<areas::AreaReader>),
}

/// The layout that a model's outputs have.
fn layout(graph: &Graph) -> Option<&'static InstanceLayout> {
    INSTANCE_LAYOUTS.iter().find(|layout| (layout.classes)(graph).is_some())
}

/// How images go into models with such outputs.
pub(super) fn preprocessing(graph: &Graph) -> Option<&'static Preprocessing> {
    layout(graph).map(|layout| layout.preprocessing)
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

/// The first numbers of an output; `None` where it has fewer, or none at all.
fn first(tensor: &Tensor, count: usize) -> Option<Cow<'_, [f32]>> {
    let there = count > 0 && tensor.len() >= count;
    there.then(|| numbers(tensor.data(), 0..count)).flatten()
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
    let [x, y] = if outlines.relative { [width, height] } else { [1.0, 1.0] };
    let found = |at: usize| {
        let found = (outlines.object)(at).filter(|object| object.score >= min_score)?;
        let b = found.bounds;
        let own =
            Bounds { left: b.left * x, top: b.top * y, right: b.right * x, bottom: b.bottom * y };
        let object = Detection { bounds: in_image(own, placement), ..found };
        object.bounds.area().is_finite().then_some((at, object))
    };
    let mut found: Vec<(usize, Detection)> = (0..outlines.count).filter_map(found).collect();
    found.sort_by(|(_, a), (_, b)| Detection::surest_first(a, b));
    found.truncate(MAX_CANDIDATES);
    let kept = thinned_out(&found, layout.overlap);
    let max = MAX_INSTANCES.min(MAX_PIXELS / (shown.width * shown.height).max(1));
    let instance = |(at, object): (usize, Detection)| {
        let weights = (outlines.weights)(at);
        let mask = outlines.prototypes.mask(&weights, object.bounds, shown, placement)?;
        let Detection { class, score, bounds } = object;
        Some(Instance { class, score: Some(score), bounds, mask })
    };
    Ok(kept.into_iter().take(max).filter_map(instance).collect())
}

/// The surest of those that overlap, with where each was found; the surest come first.
fn thinned_out(found: &[(usize, Detection)], overlap: f32) -> Vec<(usize, Detection)> {
    let mut kept: Vec<Detection> = found.iter().map(|(_, object)| *object).collect();
    non_maximum_suppression(&mut kept, overlap);
    let mut rest = found.iter();
    // Both are in the same order, so each is found behind the one before.
    kept.iter().filter_map(|object| rest.find(|(_, other)| other == object).copied()).collect()
}

#[cfg(test)]
mod tests;
