//! The model that is served, and what its answers are to a service.

use faultlens_core::{
    Detection, Detections, Image, Names, Response, Scores, Target, TargetError, Tensor, TensorData,
    Text,
};
use faultlens_targets::{OnnxTarget, OpenError, Written};
use faultlens_vision::OutputKind;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Digits of a model's hash that make its version.
const VERSION_DIGITS: usize = 12;

/// What a drifted model's sureness is multiplied with; exact in binary.
const DRIFT: f32 = 0.875;

/// A model with its name and version.
pub struct Served {
    target: OnnxTarget,
    name: String,
    /// Before and after a drift.
    versions: [String; 2],
}

impl Served {
    /// Opens a model, a file or `world:NAME`. Logits become probabilities, for no service answers
    /// with logits.
    pub fn open(path: &Path, written: Written) -> Result<Self, OpenError> {
        let mut target = OnnxTarget::open(path, written.clone())?;
        let output = &target.description().output;
        if output.kind == OutputKind::Logits && !output.softmax {
            let mut output = output.clone();
            output.softmax = true;
            target = OnnxTarget::open(path, Written { output: Some(output), ..written })?;
        }
        let text = path.to_string_lossy();
        let shipped = text.strip_prefix("world:").map(str::to_owned);
        let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = shipped.or_else(stem).unwrap_or_else(|| "model".to_owned());
        let own = target.fingerprint().to_owned();
        let other: String =
            Sha256::digest(own.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let versions = [own, other].map(|hash| hash.chars().take(VERSION_DIGITS).collect());
        Ok(Self { target, name, versions })
    }

    /// The model with all that is known about it.
    pub fn target(&self) -> &OnnxTarget {
        &self.target
    }

    /// What it is called: its file's name without the ending, or its name in the world.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version before anything drifts: the first digits of the file's hash.
    pub fn version(&self) -> &str {
        &self.versions[0]
    }

    /// The model as a call meets it.
    pub(crate) fn view(&self, drifted: bool) -> View<'_> {
        View { served: self, drifted }
    }
}

/// The model as one call meets it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) served: &'a Served,
    pub(crate) drifted: bool,
}

/// What a model saw in an image.
pub(crate) struct Seen {
    response: Response,
    width: f64,
    height: f64,
}

/// A label with the objects that carry it, surest first.
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) score: f64,
    pub(crate) instances: Vec<Found>,
}

/// An object; its sides are shares of the image's width and height.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) class: usize,
    pub(crate) name: String,
    pub(crate) score: f64,
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl View<'_> {
    /// The version of the model that seems to answer.
    pub(crate) fn version(&self) -> &str {
        &self.served.versions[usize::from(self.drifted)]
    }

    /// Asks the model once; all features of an answer are read from it.
    pub(crate) fn ask(&self, image: &Image) -> Result<Seen, TargetError> {
        let mut response = self.served.target.ask(image)?;
        if !response.is_finite() {
            let why = "the model's numbers are not all finite, and JSON holds no other";
            return Err(TargetError::Failed(why.to_owned()));
        }
        if self.drifted {
            drift(&mut response);
        }
        Ok(Seen { response, width: image.width() as f64, height: image.height() as f64 })
    }

    /// Runs the model on raw tensors; all outputs, in the model's order.
    pub(crate) fn run(&self, feeds: &[(&str, Tensor)]) -> Result<Vec<Tensor>, String> {
        let mut outputs =
            self.served.target.model().run(feeds).map_err(|error| error.to_string())?;
        if self.drifted {
            outputs.iter_mut().for_each(turn);
        }
        Ok(outputs)
    }
}

impl Seen {
    /// Labels, best first; of a detector, each once with its instances.
    pub(crate) fn labels(&self) -> Option<Vec<Label>> {
        match &self.response {
            Response::Scores(scores) => Some(ranked(scores)),
            Response::Detections(_) => Some(grouped(self.objects()?)),
            _ => None,
        }
    }

    /// Objects, surest first.
    pub(crate) fn objects(&self) -> Option<Vec<Found>> {
        let Response::Detections(detections) = &self.response else { return None };
        Some(detections.found.iter().map(|found| self.found(detections, found)).collect())
    }

    /// Objects of the class `face`, or all objects of a detector that knows one class.
    pub(crate) fn faces(&self) -> Option<Vec<Found>> {
        let Response::Detections(Detections { names: Names::Listed(names), .. }) = &self.response
        else {
            return None;
        };
        let face = |name: &String| name.eq_ignore_ascii_case("face");
        let alone = names.len() == 1;
        if !alone && !names.iter().any(face) {
            return None;
        }
        let objects = self.objects()?.into_iter();
        Some(objects.filter(|found| alone || face(&found.name)).collect())
    }

    /// The text that was read, where the model reads.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.response {
            Response::Text(text) => Some(text.text()),
            _ => None,
        }
    }

    /// The score of the label of this name, in any case.
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

    fn found(&self, detections: &Detections, found: &Detection) -> Found {
        let b = found.bounds;
        Found {
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
    let ranking = scores.ranking();
    let label = |place: &faultlens_core::Ranked| Label {
        name: place.label.clone(),
        score: f64::from(place.score),
        instances: Vec::new(),
    };
    ranking.places().iter().map(label).collect()
}

/// Objects come surest first, so the first of a class has its best score.
fn grouped(objects: Vec<Found>) -> Vec<Label> {
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

/// Answers as another model would: every class is taken for the next one, objects are found less
/// surely.
fn drift(response: &mut Response) {
    let next = |class: &mut usize, names: &Names| {
        if let Names::Listed(names) = names {
            *class = (*class + 1) % names.len().max(1);
        }
    };
    match response {
        Response::Scores(scores) if !scores.scores.is_empty() => scores.scores.rotate_right(1),
        Response::Detections(Detections { found, names, .. }) => {
            for object in found {
                next(&mut object.class, names);
                object.score *= DRIFT;
            }
        }
        Response::Text(Text { classes, names, .. }) => {
            classes.iter_mut().for_each(|class| next(class, names));
        }
        _ => {}
    }
}

/// Turns every row of a tensor by one place.
fn turn(tensor: &mut Tensor) {
    let row = tensor.shape().last().copied().unwrap_or(1).max(1);
    if let TensorData::F32(values) = tensor.data_mut() {
        values.chunks_mut(row).for_each(|row| row.rotate_right(1));
    }
}
