//! An ONNX model as a target.

use super::description::{Description, PartialDescription};
use super::error::OpenError;
use super::load::{fingerprint, load_model};
use faultlens_core::{Image, Response, Target, TargetError, Tensor};
use faultlens_engine::{EngineError, Golden, Model};
use faultlens_vision::{ImageInput, OutputReader, ShownImage, VisionError};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The largest fixed batch that is filled with copies of one image.
const MAX_BATCH: usize = 256;

/// An ONNX model that answers images.
pub struct OnnxTarget {
    model: Model,
    description: Description,
    input: ImageInput,
    reader: OutputReader,
    /// How many images the model takes at once; all of them are copies of the same one.
    batch: usize,
    /// The classes' names, as many as the first output had classes.
    names: OnceLock<Arc<[String]>>,
    fingerprint: String,
}

impl OnnxTarget {
    /// Opens a model, a file or `world:NAME`.
    pub fn open(path: &Path, given: PartialDescription) -> Result<Self, OpenError> {
        let model = load_model(path)?;
        Self::new(model, given, fingerprint(path)?)
    }

    /// A target from a loaded model; the fingerprint identifies it in records.
    pub fn new(
        model: Model,
        given: PartialDescription,
        fingerprint: String,
    ) -> Result<Self, OpenError> {
        let graph = model.graph();
        let description = Description::resolve(graph, given)?;
        let input = ImageInput::of(graph)?;
        let reader = OutputReader::new(&description.output, graph)?;
        let batch = input.batch(&description.input).unwrap_or(1);
        if batch > MAX_BATCH {
            return Err(OpenError::Batch(batch));
        }
        let names = OnceLock::new();
        Ok(Self { model, description, input, reader, batch, names, fingerprint })
    }

    /// Splits forward passes between threads; the answers stay the same.
    pub fn with_threads(mut self, threads: usize) -> Result<Self, OpenError> {
        self.model = self.model.with_threads(threads)?;
        Ok(self)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How the model is fed and what its output means.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// How many images the model takes at once; all of them are copies of the same one.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// The batch size, where the model takes no other.
    pub(super) fn fixed_batch(&self) -> Option<usize> {
        self.input.batch(&self.description.input)
    }

    pub(super) fn input_name(&self) -> &str {
        &self.input.name
    }

    /// The SHA-256 of the model's file.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The undisturbed run on an image, with every value kept.
    pub fn golden(&self, image: &Image) -> Result<Golden<'_>, TargetError> {
        self.model.golden(&self.feeds(image)?).map_err(failed)
    }

    /// The answer that outputs of the model mean about an image; boxes and areas are in its pixels.
    pub fn response(&self, outputs: &[Tensor], shown: &Image) -> Result<Response, TargetError> {
        self.response_at(outputs, 0, [shown.width(), shown.height()])
    }

    /// The same for one image of the batch, which has this width and height.
    pub(super) fn response_at(
        &self,
        outputs: &[Tensor],
        at: usize,
        [width, height]: [usize; 2],
    ) -> Result<Response, TargetError> {
        let shown = ShownImage { input: &self.description.input, width, height };
        let response = self.reader.read(outputs, at, shown, &|classes| {
            Arc::clone(self.names.get_or_init(|| self.class_names(classes)))
        });
        response.map_err(|error| TargetError::Failed(error.to_string()))
    }

    fn class_names(&self, classes: usize) -> Arc<[String]> {
        let labels = &self.description.labels;
        (0..classes.max(labels.len())).map(|class| labels.name(class)).collect()
    }

    fn feeds(&self, image: &Image) -> Result<[(&str, Tensor); 1], TargetError> {
        let images = vec![image.clone(); self.batch];
        let tensor = self.description.input.tensor(&images).map_err(rejected)?;
        Ok([(self.input.name.as_str(), tensor)])
    }
}

impl Target for OnnxTarget {
    fn ask(&self, image: &Image) -> Result<Response, TargetError> {
        let outputs = self.model.run(&self.feeds(image)?).map_err(failed)?;
        self.response(&outputs, image)
    }
}

/// The model could not compute an answer.
pub(super) fn failed(error: EngineError) -> TargetError {
    TargetError::Failed(error.to_string())
}

/// The model does not take such an image.
pub(super) fn rejected(error: VisionError) -> TargetError {
    TargetError::Rejected(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{DType, Seed};
    use faultlens_engine::onnx::ModelBuilder;

    #[test]
    fn a_kept_run_answers_as_a_plain_one() {
        let target =
            OnnxTarget::open(Path::new("world:signs-shallow"), PartialDescription::default())
                .unwrap();
        for number in 0..4 {
            let case = faultlens_world::sign(Seed::new(1).child(faultlens_world::TEST), number);
            let plain = target.ask(&case.image).unwrap();
            let golden = target.golden(&case.image).unwrap();
            assert_eq!(target.response(golden.outputs(), &case.image).unwrap(), plain);
            let Response::Scores(scores) = plain else { panic!("a classifier") };
            assert_eq!(scores.top(), case.label);
        }
        assert_eq!(target.fingerprint().len(), 64);
    }

    #[test]
    fn the_shipped_detector_finds_what_is_there() {
        let target =
            OnnxTarget::open(Path::new("world:detector"), PartialDescription::default()).unwrap();
        let reasons = &target.description().reasons;
        assert!(reasons.iter().any(|r| r.contains("are detections")), "{reasons:?}");
        let mut found = 0;
        let mut known = 0;
        for scene in faultlens_world::scenes(Seed::new(3).child(faultlens_world::TEST), 8) {
            let answer = target.ask(&scene.case.image).unwrap();
            let Response::Detections(answer) = answer else { panic!("a detector") };
            for object in &scene.case.objects {
                let mut same = answer.found.iter().filter(|d| d.class == object.class);
                known += 1;
                found += usize::from(same.any(|d| d.bounds.iou(&object.bounds) > 0.5));
            }
            assert_eq!((answer.names.known(2).is_some(), answer.names.known(3)), (true, None));
        }
        assert!(known >= 8 && found * 10 >= known * 6, "{found} of {known} objects are found");
    }

    #[test]
    fn the_shipped_segmenter_knows_most_pixels() {
        let target =
            OnnxTarget::open(Path::new("world:segmenter"), PartialDescription::default()).unwrap();
        for scene in faultlens_world::scenes(Seed::new(4).child(faultlens_world::TEST), 3) {
            let answer = target.ask(&scene.case.image).unwrap();
            let Response::Segments(areas) = answer else { panic!("a segmenter") };
            let known = &scene.case.segments;
            let pairs = areas.classes.iter().zip(known);
            let right = pairs.filter(|&(&a, &b)| a == u16::from(b)).count();
            assert_eq!(areas.classes.len(), known.len());
            assert!(right * 10 > known.len() * 9, "{right} of {}", known.len());
        }
    }

    #[test]
    fn a_generator_makes_a_picture_of_its_own_for_every_image() {
        let mut model = ModelBuilder::new("generator");
        model.input("z", DType::F32, &["N".into(), 12.into()]);
        let shape = model.initializer("shape", Tensor::vector(vec![-1i64, 3, 2, 2]));
        model.node("Reshape", &["z", &shape], &["plane"]);
        model.node("Tanh", &["plane"], &["image"]);
        model.output("image", DType::F32, &["N".into(), 3.into(), 2.into(), 2.into()]);
        let model = Model::from_proto(&model.build()).unwrap();
        let target =
            OnnxTarget::new(model, PartialDescription::default(), "generator".into()).unwrap();
        let [dark, light] = [1, 2].map(|grey| Image::from_rgb(1, 1, vec![grey; 3]).unwrap());
        let made = target.ask(&dark).unwrap();
        let Response::Picture(picture) = &made else { panic!("{made:?}") };
        assert_eq!((picture.width, picture.channels, picture.finite), (2, 3, true));
        assert!(picture.values.iter().all(|value| (0.0..=1.0).contains(value)));
        assert_eq!(made.drawn(&dark).unwrap().height(), 2);
        assert_eq!(target.ask(&dark).unwrap(), made);
        assert_ne!(target.ask(&light).unwrap(), made);
    }

    #[test]
    fn a_misspelt_model_name_gets_a_suggestion() {
        let error = OnnxTarget::open(Path::new("world:sign-deep"), PartialDescription::default())
            .err()
            .unwrap();
        assert!(error.to_string().contains("did you mean signs-deep?"), "{error}");
    }
}
