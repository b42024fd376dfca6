//! Models that outline instances of objects (instance segmentation).

use super::description::{
    PartialDescription, default_input, default_instance_labels, from_metadata, read_labels,
};
use super::error::OpenError;
use super::load::load_model;
use super::target::{failed, rejected};
use faultlens_core::{Image, TargetError};
use faultlens_engine::Model;
use faultlens_vision::{
    ImageInput, InputDescription, Instance, InstanceReader, Labels, OUTPUT_KEY, OutputDescription,
    ShownImage,
};
use std::path::Path;

/// An ONNX model that says which pixels belong to which object.
pub struct OutlineModel {
    model: Model,
    input: InputDescription,
    image: ImageInput,
    reader: InstanceReader,
    labels: Labels,
    reasons: Vec<String>,
}

impl OutlineModel {
    /// Opens a model, a file or `world:NAME`; what is not given about it is read from it or guessed.
    pub fn open(path: &Path, given: PartialDescription) -> Result<Self, OpenError> {
        let model = load_model(path)?;
        let graph = model.graph();
        let mut reasons = Vec::new();
        let image = ImageInput::of(graph)?;
        let input = match given.input {
            Some(input) => input,
            None => default_input(graph, &mut reasons)?,
        };
        image.fits(&input)?;
        let own: Option<OutputDescription> = from_metadata(graph, OUTPUT_KEY)?;
        let reader = InstanceReader::new(graph, given.output.or(own).as_ref())?;
        reasons.push(format!("guessed output: the outlines of {}", reader.name()));
        let labels = match &given.labels {
            Some(path) => read_labels(path)?,
            None => default_instance_labels(graph, reader.classes(graph), &mut reasons)?,
        };
        Ok(Self { model, input, image, reader, labels, reasons })
    }

    /// Splits forward passes between threads; the answers stay the same.
    pub fn with_threads(mut self, threads: usize) -> Result<Self, OpenError> {
        self.model = self.model.with_threads(threads)?;
        Ok(self)
    }

    /// Where everything comes from that the user did not say.
    pub fn reasons(&self) -> &[String] {
        &self.reasons
    }

    /// The class's name.
    pub fn name(&self, class: usize) -> String {
        self.labels.name(class)
    }

    /// The objects in an image, with at least this score where the model scores them.
    pub fn find(&self, image: &Image, min_score: f32) -> Result<Vec<Instance>, TargetError> {
        let images = vec![image.clone(); self.image.batch(&self.input).unwrap_or(1)];
        let tensor = self.input.tensor(&images).map_err(rejected)?;
        let outputs = self.model.run(&[(self.image.name.as_str(), tensor)]).map_err(failed)?;
        let shown = ShownImage { input: &self.input, width: image.width(), height: image.height() };
        let found =
            self.reader.read(&outputs, shown, min_score, &|class: usize| self.labels.name(class));
        found.map_err(|error| TargetError::Failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Mask, Seed};

    fn iou(a: &Mask, b: &Mask) -> f64 {
        let pairs = a.bits().iter().zip(b.bits());
        let intersection = pairs.clone().filter(|&(&a, &b)| a && b).count();
        let union = pairs.filter(|&(&a, &b)| a || b).count();
        intersection as f64 / union as f64
    }

    #[test]
    fn the_shipped_segmenter_outlines_what_is_there() {
        let model = OutlineModel::open(Path::new("world:segmenter"), PartialDescription::default())
            .unwrap();
        let mut known = 0;
        let mut outlined = 0;
        for scene in faultlens_world::scenes(Seed::new(5).child(faultlens_world::TEST), 8) {
            let found = model.find(&scene.case.image, 0.3).unwrap();
            assert!(found.iter().all(|one| one.mask.width() == scene.case.image.width()));
            for object in &scene.case.objects {
                let mask = object.mask.as_ref().unwrap();
                // Vehicles of all kinds are one class of pixels, the road another.
                let mut objects = found.iter().filter(|one| model.name(one.class) != "road");
                known += 1;
                outlined += usize::from(objects.any(|one| iou(&one.mask, mask) > 0.5));
            }
        }
        // Objects that touch run together, so that not all can be told apart.
        assert!(known >= 8 && outlined * 2 > known, "{outlined} of {known}");
    }

    #[test]
    fn a_classifier_outlines_nothing() {
        let error =
            OutlineModel::open(Path::new("world:signs-shallow"), PartialDescription::default());
        let error = error.err().unwrap().to_string();
        assert!(error.contains("gives no outlines that are known"), "{error}");
    }
}
