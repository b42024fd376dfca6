//! What the embedded detector and segmentation answer on scenes.

use anyhow::Context;
use faultlens::engine::Model;
use faultlens::train::{detections, segments};
use faultlens::vision::InputDescription;
use faultlens::world::{Scene, sheet};
use faultlens::{Bounds, Image, Tensor};
use std::path::Path;

use faultlens::targets::load_model;
use faultlens::targets::onnx::INPUT_KEY;

/// Detections below this are not drawn.
const LEAST: f32 = 0.4;

/// Scenes with the models' boxes and tinted areas.
pub(super) fn sheet(scenes: &[Scene], columns: usize) -> anyhow::Result<Image> {
    let detector = load_model(Path::new("world:detector"))?;
    let segmenter = load_model(Path::new("world:segmenter"))?;
    let shown = scenes.iter().map(|scene| {
        let image = &scene.case.image;
        let found = ask(&detector, image)?;
        let [scores, boxes] = found.as_slice() else { anyhow::bail!("two outputs are expected") };
        let found = detections(scores, boxes, LEAST).and_then(|each| each.into_iter().next());
        let found = found.context("the detector's outputs are not scores and boxes")?;
        let boxes: Vec<(Bounds, usize)> = found.iter().map(|d| (d.bounds, d.class)).collect();
        let areas = ask(&segmenter, image)?;
        let areas = areas.first().and_then(|scores| segments(scores, 0));
        let areas = areas.context("the segmenter's output is not a score per class and pixel")?;
        Ok(sheet::overlay(image, &boxes, &areas))
    });
    let shown: Vec<Image> = shown.collect::<anyhow::Result<_>>()?;
    Ok(sheet::grid(&shown, columns))
}

fn ask(model: &Model, image: &Image) -> anyhow::Result<Vec<Tensor>> {
    let described = model.graph().metadata(INPUT_KEY).context("the model describes no input")?;
    let input: InputDescription = serde_json::from_str(described)?;
    let name = model.graph().inputs().first().context("the model has no input")?;
    let name = model.graph().value_name(*name);
    Ok(model.run(&[(name, input.tensor(std::slice::from_ref(image))?)])?)
}
