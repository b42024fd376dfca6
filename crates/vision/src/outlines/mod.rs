//! The layouts in which models give boxes with outlines. One file per layout.

mod prototypes;
mod yolact;
mod yolov8_seg;

use crate::preprocessing::Preprocessing;
use crate::tensors::numbers;
use faultlens_core::{Detection, Tensor};
use faultlens_engine::Graph;
use prototypes::Prototypes;
use std::borrow::Cow;

/// A way in which models give outlines.
pub struct InstanceLayout {
    /// What it is called.
    pub name: &'static str,
    /// What it reads, in a sentence without a full stop.
    pub about: &'static str,
    /// How many classes a model with such outputs knows; `None` where its outputs are others.
    pub(crate) classes: fn(&Graph) -> Option<usize>,
    pub(crate) read: fn(&[Tensor]) -> Result<Outlines<'_>, String>,
    /// Boxes of one class that overlap by more are one thing.
    pub(crate) overlap: f32,
    /// How images go into such models.
    pub(crate) preprocessing: &'static Preprocessing,
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
pub(crate) struct Outlines<'a> {
    /// How many boxes there are.
    pub(crate) count: usize,
    pub(crate) prototypes: Prototypes<'a>,
    /// Class, score and box of one of them; the box in parts of the input or in its pixels.
    pub(crate) object: Box<dyn Fn(usize) -> Option<Detection> + 'a>,
    /// How the masks are mixed for it.
    pub(crate) weights: Box<dyn Fn(usize) -> Vec<f32> + 'a>,
    /// Whether boxes are parts of the input.
    pub(crate) relative: bool,
}

/// The layout that a model's outputs have.
pub(crate) fn layout(graph: &Graph) -> Option<&'static InstanceLayout> {
    // Layouts exclude each other by their outputs' shapes.
    INSTANCE_LAYOUTS.iter().find(|layout| (layout.classes)(graph).is_some())
}

/// How images go into models with such outputs.
pub(crate) fn preprocessing(graph: &Graph) -> Option<&'static Preprocessing> {
    layout(graph).map(|layout| layout.preprocessing)
}

/// The first numbers of an output; `None` where it has fewer, or none at all.
fn first(tensor: &Tensor, count: usize) -> Option<Cow<'_, [f32]>> {
    let there = count > 0 && tensor.len() >= count;
    there.then(|| numbers(tensor.data(), 0..count)).flatten()
}
