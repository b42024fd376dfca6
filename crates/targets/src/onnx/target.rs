//! A model with all that is needed to ask it.

use super::load::{fingerprint, load_model};
use super::{Description, OpenError, Written};
use faultlens_core::{Image, Response, Scores, Target, TargetError, Tensor};
use faultlens_engine::vision::{ImageInput, OutputKind};
use faultlens_engine::{EngineError, Golden, Model};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The largest fixed batch that is filled up with one image.
const MAX_BATCH: usize = 256;

/// An ONNX model that answers images.
pub struct OnnxTarget {
    model: Model,
    description: Description,
    input: ImageInput,
    output: usize,
    /// How many images the model takes at once; all places hold the same one.
    batch: usize,
    /// The classes' names, as many as the first answer has scores.
    names: OnceLock<Arc<[String]>>,
    fingerprint: String,
}

impl OnnxTarget {
    /// Opens a model, a file or `world:NAME`.
    pub fn open(path: &Path, written: Written) -> Result<Self, OpenError> {
        let model = load_model(path)?;
        Self::new(model, written, fingerprint(path)?)
    }

    /// A target from a model at hand; the fingerprint tells it from others.
    pub fn new(model: Model, written: Written, fingerprint: String) -> Result<Self, OpenError> {
        let graph = model.graph();
        let description = Description::resolve(graph, written)?;
        let (input, output) = (ImageInput::of(graph)?, description.output.position(graph)?);
        let batch = input.batch().unwrap_or(1);
        if batch > MAX_BATCH {
            return Err(OpenError::Batch(batch));
        }
        let names = OnceLock::new();
        Ok(Self { model, description, input, output, batch, names, fingerprint })
    }

    /// Shares plain forward passes out between threads; answers stay the same.
    pub fn with_threads(mut self, threads: usize) -> Result<Self, OpenError> {
        self.model = self.model.with_threads(threads)?;
        Ok(self)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What the model sees and answers.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// How many images the model takes at once; all places hold the same one.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// The SHA-256 of the model's file.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The undisturbed run on an image, with every value kept.
    pub fn golden(&self, image: &Image) -> Result<Golden<'_>, TargetError> {
        self.model.golden(&self.feeds(image)?).map_err(failed)
    }

    /// What outputs of the model mean as an answer.
    pub fn response(&self, outputs: &[Tensor]) -> Result<Response, TargetError> {
        let output = outputs.get(self.output).ok_or_else(|| {
            TargetError::Failed("the model gave fewer outputs than it declares".to_owned())
        })?;
        let described = &self.description.output;
        let numbers =
            described.scores(output, 0).map_err(|e| TargetError::Failed(e.to_string()))?;
        Ok(match described.kind {
            OutputKind::Values => Response::Values(numbers),
            OutputKind::Logits | OutputKind::Probabilities => {
                let labels = &self.description.labels;
                let named = || (0..numbers.len()).map(|class| labels.name(class)).collect();
                let names = Arc::clone(self.names.get_or_init(named));
                Response::Scores(Scores { scores: numbers, names })
            }
        })
    }

    fn feeds(&self, image: &Image) -> Result<[(&str, Tensor); 1], TargetError> {
        let images = vec![image.clone(); self.batch];
        let tensor = self.description.input.tensor(&images);
        let tensor = tensor.map_err(|error| TargetError::Rejected(error.to_string()))?;
        Ok([(self.input.name.as_str(), tensor)])
    }
}

impl Target for OnnxTarget {
    fn ask(&self, image: &Image) -> Result<Response, TargetError> {
        let outputs = self.model.run(&self.feeds(image)?).map_err(failed)?;
        self.response(&outputs)
    }
}

fn failed(error: EngineError) -> TargetError {
    TargetError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn a_kept_run_answers_as_a_plain_one() {
        let target =
            OnnxTarget::open(Path::new("world:signs-shallow"), Written::default()).unwrap();
        for number in 0..4 {
            let case = faultlens_world::sign(Seed::new(1).child(faultlens_world::TEST), number);
            let plain = target.ask(&case.image).unwrap();
            let golden = target.golden(&case.image).unwrap();
            assert_eq!(target.response(golden.outputs()).unwrap(), plain);
            let Response::Scores(scores) = plain else { panic!("a classifier") };
            assert_eq!(scores.top(), case.label);
        }
        assert_eq!(target.fingerprint().len(), 64);
    }

    #[test]
    fn a_misspelt_model_is_answered_with_the_likely_one() {
        let error =
            OnnxTarget::open(Path::new("world:sign-deep"), Written::default()).err().unwrap();
        assert!(error.to_string().contains("did you mean signs-deep?"), "{error}");
    }
}
