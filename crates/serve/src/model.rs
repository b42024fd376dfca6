//! The served model, and its answers in the terms of a service.

use faultlens_core::{
    Detection, Detections, Image, Names, Response, Scores, Target, TargetError, Tensor, TensorData,
    Text,
};
use faultlens_targets::{OnnxTarget, OpenError, PartialDescription};
use faultlens_vision::OutputKind;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Digits of a model's hash that make its version.
const VERSION_DIGITS: usize = 12;

/// The factor of a drifted model's scores; exact in binary.
const DRIFT: f32 = 0.875;

/// A model with its name and version.
pub struct ServedModel {
    target: OnnxTarget,
    name: String,
    /// Before and after a drift.
    versions: [String; 2],
}

impl ServedModel {
    /// Opens a model, a file or `world:NAME`. A softmax is added to logits, since no service
    /// answers with logits.
    pub fn open(path: &Path, given: PartialDescription) -> Result<Self, OpenError> {
        let mut target = OnnxTarget::open(path, given.clone())?;
        let output = &target.description().output;
        if output.kind == OutputKind::Logits && !output.softmax {
            let mut output = output.clone();
            output.softmax = true;
            target = OnnxTarget::open(path, PartialDescription { output: Some(output), ..given })?;
        }
        let text = path.to_string_lossy();
        let name = match (text.strip_prefix("world:"), path.file_stem()) {
            (Some(name), _) => name.to_owned(),
            (None, Some(stem)) => stem.to_string_lossy().into_owned(),
            (None, None) => "model".to_owned(),
        };
        let own = target.fingerprint().to_owned();
        let other: String =
            Sha256::digest(own.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let versions = [own, other].map(|hash| hash.chars().take(VERSION_DIGITS).collect());
        Ok(Self { target, name, versions })
    }

    /// The model as a target.
    pub fn target(&self) -> &OnnxTarget {
        &self.target
    }

    /// Its name: that of its file without the extension, or its name in the world.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version before anything drifts: the first digits of the file's hash.
    pub fn version(&self) -> &str {
        &self.versions[0]
    }

    /// The model as it answers one call.
    pub(crate) fn view(&self, drifted: bool) -> ModelView<'_> {
        ModelView { served: self, drifted }
    }
}

/// The model as it answers one call.
#[derive(Clone, Copy)]
pub(crate) struct ModelView<'a> {
    pub(crate) served: &'a ServedModel,
    pub(crate) drifted: bool,
}

/// The prediction for one image.
pub(crate) struct Prediction {
    response: Response,
    width: f64,
    height: f64,
}

/// A label with the objects that carry it, highest score first.
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) score: f64,
    pub(crate) instances: Vec<DetectedObject>,
}

/// An object; its sides are fractions of the image's width and height.
#[derive(Clone)]
pub(crate) struct DetectedObject {
    pub(crate) class: usize,
    pub(crate) name: String,
    pub(crate) score: f64,
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl ModelView<'_> {
    /// The version of the model that seems to answer.
    pub(crate) fn version(&self) -> &str {
        &self.served.versions[usize::from(self.drifted)]
    }

    /// Asks the model once; all features of a response are read from its prediction.
    pub(crate) fn ask(&self, image: &Image) -> Result<Prediction, TargetError> {
        let mut response = self.served.target.ask(image)?;
        if !response.is_finite() {
            let why = "the model's numbers are not all finite, and JSON holds no other";
            return Err(TargetError::Failed(why.to_owned()));
        }
        if self.drifted {
            drift(&mut response);
        }
        Ok(Prediction { response, width: image.width() as f64, height: image.height() as f64 })
    }

    /// Runs the model on raw tensors; all outputs, in the model's order.
    pub(crate) fn run(&self, feeds: &[(&str, Tensor)]) -> Result<Vec<Tensor>, String> {
        let mut outputs =
            self.served.target.model().run(feeds).map_err(|error| error.to_string())?;
        if self.drifted {
            outputs.iter_mut().for_each(rotate_rows);
        }
        Ok(outputs)
    }
}

impl Prediction {
    /// Labels, best first; of a detector, each once with its instances.
    pub(crate) fn labels(&self) -> Option<Vec<Label>> {
        match &self.response {
            Response::Scores(scores) => Some(ranked(scores)),
            Response::Detections(_) => Some(grouped(self.objects()?)),
            _ => None,
        }
    }

    /// Objects, highest score first.
    pub(crate) fn objects(&self) -> Option<Vec<DetectedObject>> {
        let Response::Detections(detections) = &self.response else { return None };
        Some(detections.found.iter().map(|found| self.found(detections, found)).collect())
    }

    /// Objects of the class `face`, or all objects of a detector that knows one class.
    pub(crate) fn faces(&self) -> Option<Vec<DetectedObject>> {
        let Response::Detections(Detections { names: Names::Listed(names), .. }) = &self.response
        else {
            return None;
        };
        let mut objects = self.objects()?;
        if names.len() > 1 {
            if !names.iter().any(|name| name.eq_ignore_ascii_case("face")) {
                return None;
            }
            objects.retain(|found| found.name.eq_ignore_ascii_case("face"));
        }
        Some(objects)
    }

    /// The recognised text, where the model reads text.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.response {
            Response::Text(text) => Some(text.text()),
            _ => None,
        }
    }

    /// The score of the label of this name, whatever its case.
    pub(crate) fn score_of(&self, name: &str) -> Option<f64> {
        let Response::Scores(scores) = &self.response else { return None };
        let class = (0..scores.scores.len())
            .find(|&class| scores.name(class).eq_ignore_ascii_case(name))?;
        scores.scores.get(class).map(|&score| f64::from(score))
    }

    /// The image's sides in pixels.
    pub(crate) fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    fn found(&self, detections: &Detections, found: &Detection) -> DetectedObject {
        let b = found.bounds;
        DetectedObject {
            class: found.class,
            name: detections.name(found.class),
            score: f64::from(found.score),
            left: f64::from(b.left) / self.width,
            top: f64::from(b.top) / self.height,
            right: f64::from(b.right) / self.width,
            bottom: f64::from(b.bottom) / self.height,
        }
    }
}

fn ranked(scores: &Scores) -> Vec<Label> {
    let mut labels = Vec::new();
    for place in scores.ranking().places() {
        labels.push(Label {
            name: place.label.clone(),
            score: f64::from(place.score),
            instances: Vec::new(),
        });
    }
    labels
}

/// Objects come sorted by score, so that the first of a class has its highest score.
fn grouped(objects: Vec<DetectedObject>) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for object in objects {
        match labels.iter_mut().find(|label| label.name == object.name) {
            Some(label) => label.instances.push(object),
            None => labels.push(Label {
                name: object.name.clone(),
                score: object.score,
                instances: vec![object],
            }),
        }
    }
    labels
}

/// Predicts as another model would: every class is taken for the next one, and objects get lower
/// scores.
fn drift(response: &mut Response) {
    match response {
        Response::Scores(scores) if !scores.scores.is_empty() => scores.scores.rotate_right(1),
        Response::Detections(Detections { found, names, .. }) => {
            for object in found {
                next_class(&mut object.class, names);
                object.score *= DRIFT;
            }
        }
        Response::Text(Text { classes, names, .. }) => {
            classes.iter_mut().for_each(|class| next_class(class, names));
        }
        _ => {}
    }
}

fn next_class(class: &mut usize, names: &Names) {
    if let Names::Listed(names) = names {
        *class = (*class + 1) % names.len().max(1);
    }
}

/// Rotates every row of a tensor by one element.
fn rotate_rows(tensor: &mut Tensor) {
    let row = tensor.shape().last().copied().unwrap_or(1).max(1);
    if let TensorData::F32(values) = tensor.data_mut() {
        values.chunks_mut(row).for_each(|row| row.rotate_right(1));
    }
}
