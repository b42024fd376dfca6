//! Asking a model about images with float pixels, and the gradients of its scores.
//!
//! A point is an image at the model's size in floats from 0 to 1, channel after channel: what
//! white-box attacks move.

use super::target::{OnnxTarget, failed, rejected};
use faultlens_core::{Image, Response, TargetError, Tensor};
use faultlens_engine::{Golden, Graph, ValueId};
use faultlens_vision::{ElementType, OutputKind};

/// The most values in a batch: a larger one is not faster and takes memory.
const MAX_VALUES: usize = 1 << 20;

/// The answer to a point, and the gradient of its scores there.
#[derive(Debug, Clone)]
pub struct PointGradient {
    /// The answer.
    pub answer: Response,
    /// The scores before the softmax.
    pub logits: Vec<f32>,
    /// The gradient of a weighted sum of the logits with respect to the point.
    pub gradient: Vec<f32>,
}

impl OnnxTarget {
    /// Channels, height and width of the model's points.
    pub fn point_shape(&self) -> [usize; 3] {
        self.description().input.point_shape()
    }

    /// The point of an image.
    pub fn point(&self, image: &Image) -> Result<Vec<f32>, TargetError> {
        self.description().input.point(image).map_err(rejected)
    }

    /// The image of a point, rounded to bytes.
    pub fn picture(&self, point: &[f32]) -> Result<Image, TargetError> {
        self.description().input.picture(point).map_err(|e| TargetError::Failed(e.to_string()))
    }

    /// Why the model takes no points; `None` where it does.
    pub fn no_points_because(&self) -> Option<&'static str> {
        let input = &self.description().input;
        if input.latent.is_some() {
            return Some("it takes no images");
        }
        if input.dtype != ElementType::F32 {
            return Some("its input is not of 32-bit floats");
        }
        None
    }

    /// Why the model's scores have no gradients, as far as its description tells; `None` where they
    /// may have.
    pub fn no_gradients_because(&self) -> Option<&'static str> {
        if let Some(why) = self.no_points_because() {
            return Some(why);
        }
        if !self.description().output.kind.is_scores() {
            return Some("it answers with no scores of classes");
        }
        None
    }

    /// The answer to each point.
    pub fn ask_points(&self, points: &[&[f32]]) -> Result<Vec<Response>, TargetError> {
        let mut answers = Vec::with_capacity(points.len());
        for part in points.chunks(self.batch_of_points()) {
            let outputs = self.model().run(&self.fed(part)?).map_err(failed)?;
            for at in 0..part.len() {
                answers.push(self.response_at(&outputs, at, self.own_size())?);
            }
        }
        Ok(answers)
    }

    /// The answer to each point, and the gradient of a weighted sum of its logits;
    /// `weights(at, logits)` are those for point `at`.
    pub fn gradients(
        &self,
        points: &[&[f32]],
        weights: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<PointGradient>, TargetError> {
        let mut gradients = Vec::with_capacity(points.len());
        for part in points.chunks(self.batch_of_points()) {
            let first = gradients.len();
            let golden = self.model().golden(&self.fed(part)?).map_err(failed)?;
            let scores = Scores::of(self, &golden)?;
            let rows = scores.rows(part.len());
            let mut seeds = Vec::new();
            for (at, row) in rows.iter().enumerate() {
                seeds.extend(scores.seed(row, weights(first + at, row)));
            }
            let input_gradient = scores.gradient(&golden, self.input_name(), seeds)?;
            let input_gradient = input_gradient.as_f32().unwrap_or_default();
            let batch = self.fixed_batch().unwrap_or(part.len());
            // From the model's input back through normalisation and channel order to the points.
            let own = self.description().input.point_slopes(input_gradient, batch);
            for (at, (logits, gradient)) in rows.into_iter().zip(own).enumerate() {
                let answer = self.response_at(golden.outputs(), at, self.own_size())?;
                gradients.push(PointGradient { answer, logits, gradient });
            }
        }
        Ok(gradients)
    }

    /// Width and height of a point's image.
    fn own_size(&self) -> [usize; 2] {
        let [_, height, width] = self.point_shape();
        [width, height]
    }

    /// How many points are fed at once.
    fn batch_of_points(&self) -> usize {
        let values = self.point_shape().iter().product::<usize>().max(1);
        self.fixed_batch().unwrap_or_else(|| (MAX_VALUES / values).clamp(1, 256))
    }

    /// The feeds for points; a fixed batch is filled up with copies of the last one.
    fn fed(&self, points: &[&[f32]]) -> Result<[(&str, Tensor); 1], TargetError> {
        let last = points.last().copied().unwrap_or_default();
        let fill = self.fixed_batch().map_or(0, |batch| batch.saturating_sub(points.len()));
        let all: Vec<&[f32]> =
            points.iter().copied().chain(std::iter::repeat_n(last, fill)).collect();
        let tensor = self.description().input.point_tensor(&all).map_err(rejected)?;
        Ok([(self.input_name(), tensor)])
    }
}

/// The scores of a run before the softmax.
struct Scores {
    value: ValueId,
    tensor: Tensor,
    /// Whether only probabilities are known, whose logarithms are logits up to a constant.
    logarithms: bool,
}

impl Scores {
    fn of(target: &OnnxTarget, golden: &Golden<'_>) -> Result<Self, TargetError> {
        let graph = golden.model().graph();
        let output = &target.description().output;
        let position = output.position(graph).map_err(|e| TargetError::Failed(e.to_string()))?;
        let last = *graph.outputs().get(position).ok_or_else(no_scores)?;
        let before = (output.kind == OutputKind::Probabilities)
            .then(|| before_softmax(graph, last))
            .flatten()
            .filter(|value| golden.shape(*value) == golden.shape(last));
        let value = before.unwrap_or(last);
        let logarithms = output.kind == OutputKind::Probabilities && before.is_none();
        let tensor = golden.value(value).ok_or_else(no_scores)?;
        Ok(Self { value, tensor, logarithms })
    }

    /// The logits of each point.
    fn rows(&self, points: usize) -> Vec<Vec<f32>> {
        let values = self.tensor.as_f32().unwrap_or_default();
        let batch = if self.tensor.shape().len() > 1 { self.tensor.shape()[0] } else { 1 };
        let each = (values.len() / batch.max(1)).max(1);
        let mut rows: Vec<Vec<f32>> =
            values.chunks(each).take(points).map(<[f32]>::to_vec).collect();
        if self.logarithms {
            for value in rows.iter_mut().flatten() {
                *value = libm::logf(value.max(f32::MIN_POSITIVE));
            }
        }
        rows
    }

    /// The weights of a point's logits as the gradient with respect to the computed value. For
    /// logarithms of probabilities p that is w/p, with p = exp(logit).
    fn seed(&self, logits: &[f32], weights: Vec<f32>) -> Vec<f32> {
        if !self.logarithms {
            return weights;
        }
        weights.iter().zip(logits).map(|(w, l)| w / libm::expf(*l)).collect()
    }

    fn gradient(
        &self,
        golden: &Golden<'_>,
        input: &str,
        mut seeds: Vec<f32>,
    ) -> Result<Tensor, TargetError> {
        // Copies that only fill a fixed batch do not count.
        seeds.resize(self.tensor.shape().iter().product(), 0.0);
        let seeds = Tensor::new(self.tensor.shape().to_vec(), seeds);
        let seeds = seeds.map_err(|error| TargetError::Failed(error.to_string()))?;
        let input = golden.model().graph().find(input).ok_or_else(no_gradient)?;
        let found = golden.gradients(&[(self.value, seeds)], &[input]).map_err(failed)?;
        found.into_iter().next().ok_or_else(no_gradient)
    }
}

fn no_scores() -> TargetError {
    TargetError::Failed("the model has no scores".to_owned())
}

fn no_gradient() -> TargetError {
    TargetError::Failed("the model has no gradient".to_owned())
}

/// The input of a softmax at the end of a model: the gradient of the softmax itself vanishes where
/// it saturates.
fn before_softmax(graph: &Graph, output: ValueId) -> Option<ValueId> {
    let operator = graph.operator(graph.producer(output)?);
    (operator.op_type == "Softmax").then(|| operator.inputs.first().copied().flatten()).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::description::PartialDescription;
    use super::*;
    use faultlens_core::{DType, Seed, Target as _};
    use faultlens_engine::Model;
    use faultlens_engine::onnx::ModelBuilder;
    use std::path::Path;

    fn signs() -> (OnnxTarget, Vec<Image>) {
        let path = Path::new("world:signs-shallow");
        let target = OnnxTarget::open(path, PartialDescription::default()).unwrap();
        let seed = Seed::new(1).child(faultlens_world::TEST);
        (target, (0..3).map(|number| faultlens_world::sign(seed, number).image).collect())
    }

    #[test]
    fn a_point_is_answered_as_its_image() {
        let (target, images) = signs();
        let points: Vec<Vec<f32>> = images.iter().map(|i| target.point(i).unwrap()).collect();
        let points: Vec<&[f32]> = points.iter().map(Vec::as_slice).collect();
        let plain: Vec<Response> = images.iter().map(|i| target.ask(i).unwrap()).collect();
        assert_eq!(target.ask_points(&points).unwrap(), plain);
        let all = target.gradients(&points, &mut |_, logits| vec![1.0; logits.len()]).unwrap();
        assert_eq!(all.into_iter().map(|one| one.answer).collect::<Vec<_>>(), plain);
    }

    fn weights(logits: &[f32]) -> Vec<f32> {
        (0..logits.len()).map(|at| 1.0 - at as f32 * 0.3).collect()
    }

    fn gradient(target: &OnnxTarget, point: &[f32]) -> PointGradient {
        target.gradients(&[point], &mut |_, logits| weights(logits)).unwrap().remove(0)
    }

    /// The weighted sum of logits at a point that differs in one value.
    fn weighted_sum(target: &OnnxTarget, point: &[f32], at: usize, change: f32) -> f64 {
        let mut point = point.to_vec();
        point[at] += change;
        let logits = gradient(target, &point).logits;
        let weights = weights(&logits);
        logits.iter().zip(weights).map(|(l, w)| f64::from(l * w)).sum()
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        let (target, images) = signs();
        let point = target.point(&images[0]).unwrap();
        let gradient = gradient(&target, &point).gradient;
        let mut largest: Vec<usize> = (0..point.len()).collect();
        largest.sort_by(|a, b| gradient[*b].abs().total_cmp(&gradient[*a].abs()));
        // Small enough that few rectifiers switch on the way.
        let step = 2e-4;
        for at in largest.into_iter().take(5) {
            let above = weighted_sum(&target, &point, at, step);
            let below = weighted_sum(&target, &point, at, -step);
            let difference = (above - below) / (2.0 * f64::from(step));
            let own = f64::from(gradient[at]);
            let tolerance = 0.05 * difference.abs().max(0.1);
            assert!((own - difference).abs() < tolerance, "{own} {difference}");
        }
    }

    /// The gradient of a linear model with steep logits, with or without a softmax behind it.
    fn steep(softmax: bool) -> PointGradient {
        let mut model = ModelBuilder::new("line");
        model.input("image", DType::F32, &["N".into(), 1.into(), 1.into(), 2.into()]);
        let shape = model.initializer("shape", Tensor::vector(vec![-1i64, 2]));
        model.node("Reshape", &["image", &shape], &["flat"]);
        let matrix = Tensor::new(vec![2, 2], vec![300.0f32, -300.0, 0.0, 0.0]).unwrap();
        let matrix = model.initializer("matrix", matrix);
        model.node("MatMul", &["flat", &matrix], &["logits"]);
        if softmax {
            model.node("Softmax", &["logits"], &["probabilities"]);
        }
        let name = if softmax { "probabilities" } else { "logits" };
        model.output(name, DType::F32, &["N".into(), 2.into()]);
        let model = Model::from_proto(&model.build()).unwrap();
        let target = OnnxTarget::new(model, PartialDescription::default(), "line".into()).unwrap();
        let gradients = target.gradients(&[&[1.0, 0.5]], &mut |_, _| vec![1.0, -1.0]);
        gradients.unwrap().remove(0)
    }

    #[test]
    fn gradients_are_taken_in_front_of_a_softmax_at_the_end() {
        assert_eq!(steep(true).gradient, steep(false).gradient);
        assert_eq!(steep(true).logits, [300.0, -300.0]);
    }
}
