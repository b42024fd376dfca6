//! Models that give the outlines of things.

use super::description::{unwritten_input, unwritten_instance_labels};
use super::target::failed;
use super::{OUTPUT_KEY, OpenError, Written, load_model, read_labels};
use faultlens_core::{Image, TargetError};
use faultlens_engine::Model;
use faultlens_vision::{
    ImageInput, InputDescription, Instance, InstanceReader, Labels, OutputDescription, ShownImage,
};
use std::path::Path;

/// An ONNX model that says which pixels are which thing.
pub struct OutlineModel {
    model: Model,
    input: InputDescription,
    image: ImageInput,
    reader: InstanceReader,
    labels: Labels,
    reasons: Vec<String>,
}

impl OutlineModel {
    /// Opens a model, a file or `world:NAME`; what is not written about it is found out.
    pub fn open(path: &Path, written: Written) -> Result<Self, OpenError> {
        let model = load_model(path)?;
        let graph = model.graph();
        let mut reasons = Vec::new();
        let image = ImageInput::of(graph)?;
        let input = match written.input {
            Some(input) => input,
            None => unwritten_input(graph, &mut reasons)?,
        };
        image.fits(&input)?;
        let own: Option<OutputDescription> = super::description::own(graph, OUTPUT_KEY)?;
        let reader = InstanceReader::new(graph, written.output.or(own).as_ref())?;
        reasons.push(format!("guessed output: the outlines of {}", reader.name()));
        let labels = match &written.labels {
            Some(path) => read_labels(path)?,
            None => unwritten_instance_labels(graph, reader.classes(graph), &mut reasons)?,
        };
        Ok(Self { model, input, image, reader, labels, reasons })
    }

    /// Shares plain forward passes out between threads; answers stay the same.
    pub fn with_threads(mut self, threads: usize) -> Result<Self, OpenError> {
        self.model = self.model.with_threads(threads)?;
        Ok(self)
    }

    /// Where all that comes from that the user did not write.
    pub fn reasons(&self) -> &[String] {
        &self.reasons
    }

    /// The class's name.
    pub fn name(&self, class: usize) -> String {
        self.labels.name(class)
    }

    /// The things in an image, with at least this score where the model scores them.
    pub fn find(&self, image: &Image, least: f32) -> Result<Vec<Instance>, TargetError> {
        let images = vec![image.clone(); self.image.batch(&self.input).unwrap_or(1)];
        let refused =
            |error: faultlens_vision::VisionError| TargetError::Rejected(error.to_string());
        let tensor = self.input.tensor(&images).map_err(refused)?;
        let outputs = self.model.run(&[(self.image.name.as_str(), tensor)]).map_err(failed)?;
        let shown = ShownImage { input: &self.input, width: image.width(), height: image.height() };
        let names = |class: usize| self.labels.name(class);
        let found = self.reader.read(&outputs, shown, least, &names);
        found.map_err(|error| TargetError::Failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Mask, Seed};

    fn iou(a: &Mask, b: &Mask) -> f64 {
        let both = |take: fn(bool, bool) -> bool| {
            a.bits().iter().zip(b.bits()).filter(|&(&a, &b)| take(a, b)).count() as f64
        };
        both(|a, b| a && b) / both(|a, b| a || b)
    }

    #[test]
    fn the_shipped_segmenter_outlines_what_is_there() {
        let model = OutlineModel::open(Path::new("world:segmenter"), Written::default()).unwrap();
        let (mut known, mut outlined) = (0, 0);
        for scene in faultlens_world::scenes(Seed::new(5).child(faultlens_world::TEST), 8) {
            let found = model.find(&scene.case.image, 0.3).unwrap();
            assert!(found.iter().all(|one| one.mask.width() == scene.case.image.width()));
            for object in &scene.case.objects {
                let mask = object.mask.as_ref().unwrap();
                // Vehicles of all kinds are one class of pixels, the road another.
                let alike =
                    |one: &Instance| model.name(one.class) != "road" && iou(&one.mask, mask) > 0.5;
                known += 1;
                outlined += usize::from(found.iter().any(alike));
            }
        }
        // Things that touch run together, so that not all can be told apart.
        assert!(known >= 8 && outlined * 2 > known, "{outlined} of {known}");
    }

    #[test]
    fn a_classifier_outlines_nothing() {
        let error = OutlineModel::open(Path::new("world:signs-shallow"), Written::default());
        let error = error.err().unwrap().to_string();
        assert!(error.contains("gives no outlines that are known"), "{error}");
    }
}
