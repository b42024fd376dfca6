//! Asking a model about images that are finer than bytes, and how its scores depend on them.

use super::OnnxTarget;
use super::target::failed;
use faultlens_core::{Image, Response, TargetError, Tensor};
use faultlens_engine::{Golden, Graph, ValueId};
use faultlens_vision::{ElementType, OutputKind};

/// Values that are fed at once, at most: beyond, a batch gains nothing and takes memory.
const MOST_VALUES: usize = 1 << 20;

/// What a model answers to a point, and where that leads.
#[derive(Debug, Clone)]
pub struct Slope {
    /// The answer.
    pub answer: Response,
    /// The scores before they are made to sum to one.
    pub logits: Vec<f32>,
    /// How their weighted sum depends on the point.
    pub slope: Vec<f32>,
}

impl OnnxTarget {
    /// Channels, height and width of the model's points.
    pub fn point_shape(&self) -> [usize; 3] {
        self.description().input.point_shape()
    }

    /// An image as the model sees it: floats from 0 to 1 at the model's size, channel after
    /// channel.
    pub fn point(&self, image: &Image) -> Result<Vec<f32>, TargetError> {
        self.description().input.point(image).map_err(|e| TargetError::Rejected(e.to_string()))
    }

    /// What a point looks like, rounded to bytes.
    pub fn picture(&self, point: &[f32]) -> Result<Image, TargetError> {
        self.description().input.picture(point).map_err(|e| TargetError::Failed(e.to_string()))
    }

    /// Why points cannot be fed; `None` where they can.
    pub fn refuses_points(&self) -> Option<&'static str> {
        let input = &self.description().input;
        match input.dtype {
            _ if input.latent.is_some() => Some("it takes no images"),
            ElementType::F32 => None,
            _ => Some("its input is not of 32-bit floats"),
        }
    }

    /// Why the model's scores have no gradients, as far as its answers tell; `None` where they
    /// may have.
    pub fn refuses_gradients(&self) -> Option<&'static str> {
        let scores = self.description().output.kind.is_scores();
        let no_scores = (!scores).then_some("it answers with no scores of classes");
        self.refuses_points().or(no_scores)
    }

    /// What the model answers to each point.
    pub fn answers(&self, points: &[&[f32]]) -> Result<Vec<Response>, TargetError> {
        let mut answers = Vec::with_capacity(points.len());
        for part in points.chunks(self.together()) {
            let outputs = self.model().run(&self.fed(part)?).map_err(failed)?;
            for at in 0..part.len() {
                answers.push(self.answer_at(&outputs, at, self.own_size())?);
            }
        }
        Ok(answers)
    }

    /// What the model answers to each point, and how a weighted sum of its logits depends on it;
    /// `weights(at, logits)` are those for point `at`.
    pub fn slopes(
        &self,
        points: &[&[f32]],
        weights: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Slope>, TargetError> {
        let mut slopes = Vec::with_capacity(points.len());
        for part in points.chunks(self.together()) {
            let first = slopes.len();
            let golden = self.model().golden(&self.fed(part)?).map_err(failed)?;
            let scores = Scores::of(self, &golden)?;
            let rows = scores.rows(part.len());
            let seeds = rows.iter().enumerate();
            let seeds = seeds.flat_map(|(at, row)| scores.seed(row, weights(first + at, row)));
            let gradient = scores.gradient(&golden, self.input_name(), seeds.collect())?;
            let fed = gradient.as_f32().unwrap_or_default();
            let fed_at_once = self.fixed_batch().unwrap_or(part.len());
            let own = self.description().input.point_slopes(fed, fed_at_once);
            for (at, (logits, slope)) in rows.into_iter().zip(own).enumerate() {
                let answer = self.answer_at(golden.outputs(), at, self.own_size())?;
                slopes.push(Slope { answer, logits, slope });
            }
        }
        Ok(slopes)
    }

    /// The size of a point's picture.
    fn own_size(&self) -> [usize; 2] {
        let [_, height, width] = self.point_shape();
        [width, height]
    }

    /// How many points are fed at once.
    fn together(&self) -> usize {
        let values = self.point_shape().iter().product::<usize>().max(1);
        self.fixed_batch().unwrap_or_else(|| (MOST_VALUES / values).clamp(1, 256))
    }

    /// The feeds for points; a model of a fixed batch has its last places filled up.
    fn fed(&self, points: &[&[f32]]) -> Result<[(&str, Tensor); 1], TargetError> {
        let last = points.last().copied().unwrap_or_default();
        let fill = self.fixed_batch().map_or(0, |batch| batch.saturating_sub(points.len()));
        let all: Vec<&[f32]> =
            points.iter().copied().chain(std::iter::repeat_n(last, fill)).collect();
        let tensor = self.description().input.point_tensor(&all);
        let tensor = tensor.map_err(|error| TargetError::Rejected(error.to_string()))?;
        Ok([(self.input_name(), tensor)])
    }
}

/// Where the scores of a run stand before they are made to sum to one.
struct Scores {
    value: ValueId,
    tensor: Tensor,
    /// Whether only probabilities are known, whose logarithms stand for logits.
    logarithms: bool,
}

impl Scores {
    fn of(target: &OnnxTarget, golden: &Golden<'_>) -> Result<Self, TargetError> {
        let graph = golden.model().graph();
        let output = &target.description().output;
        let none = || TargetError::Failed("the model has no scores".to_owned());
        let position = output.position(graph).map_err(|e| TargetError::Failed(e.to_string()))?;
        let last = *graph.outputs().get(position).ok_or_else(none)?;
        let before = (output.kind == OutputKind::Probabilities)
            .then(|| before_softmax(graph, last))
            .flatten()
            .filter(|value| golden.shape(*value) == golden.shape(last));
        let value = before.unwrap_or(last);
        let logarithms = output.kind == OutputKind::Probabilities && before.is_none();
        let tensor = golden.value(value).ok_or_else(none)?;
        Ok(Self { value, tensor, logarithms })
    }

    /// The logits of each point.
    fn rows(&self, points: usize) -> Vec<Vec<f32>> {
        let values = self.tensor.as_f32().unwrap_or_default();
        let batch = if self.tensor.shape().len() > 1 { self.tensor.shape()[0] } else { 1 };
        let each = (values.len() / batch.max(1)).max(1);
        let logit = |value: &f32| match self.logarithms {
            true => libm::logf(value.max(f32::MIN_POSITIVE)),
            false => *value,
        };
        values.chunks(each).take(points).map(|row| row.iter().map(logit).collect()).collect()
    }

    /// The weights of a point's logits as weights of what the model computes.
    fn seed(&self, logits: &[f32], weights: Vec<f32>) -> Vec<f32> {
        match self.logarithms {
            true => weights.iter().zip(logits).map(|(w, l)| w / libm::expf(*l)).collect(),
            false => weights,
        }
    }

    fn gradient(
        &self,
        golden: &Golden<'_>,
        input: &str,
        mut seeds: Vec<f32>,
    ) -> Result<Tensor, TargetError> {
        // Places that only fill a fixed batch have no say.
        seeds.resize(self.tensor.shape().iter().product(), 0.0);
        let seeds = Tensor::new(self.tensor.shape().to_vec(), seeds);
        let seeds = seeds.map_err(|error| TargetError::Failed(error.to_string()))?;
        let none = || TargetError::Failed("the model has no gradient".to_owned());
        let input = golden.model().graph().find(input).ok_or_else(none)?;
        let found = golden.gradients(&[(self.value, seeds)], &[input]).map_err(failed)?;
        found.into_iter().next().ok_or_else(none)
    }
}

/// What a softmax at the end of a model is made from: its own slope vanishes where it is sure.
fn before_softmax(graph: &Graph, output: ValueId) -> Option<ValueId> {
    let operator = graph.operator(graph.producer(output)?);
    (operator.op_type == "Softmax").then(|| operator.inputs.first().copied().flatten()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Written;
    use faultlens_core::{DType, Seed, Target as _};
    use faultlens_engine::Model;
    use faultlens_engine::onnx::ModelBuilder;
    use std::path::Path;

    fn signs() -> (OnnxTarget, Vec<Image>) {
        let target = OnnxTarget::open(Path::new("world:signs-shallow"), Written::default());
        let sign = |n| faultlens_world::sign(Seed::new(1).child(faultlens_world::TEST), n).image;
        (target.unwrap(), (0..3).map(sign).collect())
    }

    #[test]
    fn a_point_is_answered_as_its_image() {
        let (target, images) = signs();
        let points: Vec<Vec<f32>> = images.iter().map(|i| target.point(i).unwrap()).collect();
        let points: Vec<&[f32]> = points.iter().map(Vec::as_slice).collect();
        let plain: Vec<Response> = images.iter().map(|i| target.ask(i).unwrap()).collect();
        assert_eq!(target.answers(&points).unwrap(), plain);
        let slopes = target.slopes(&points, &mut |_, logits| vec![1.0; logits.len()]).unwrap();
        assert_eq!(slopes.into_iter().map(|slope| slope.answer).collect::<Vec<_>>(), plain);
    }

    #[test]
    fn slopes_are_those_of_central_differences() {
        let (target, images) = signs();
        let point = target.point(&images[0]).unwrap();
        let weigh = |logits: &[f32]| (0..logits.len()).map(|at| 1.0 - at as f32 * 0.3).collect();
        let slope = target.slopes(&[&point], &mut |_, l| weigh(l)).unwrap().remove(0);
        let scalar = |point: &[f32]| {
            let logits = target.slopes(&[point], &mut |_, l| weigh(l)).unwrap().remove(0).logits;
            let weights: Vec<f32> = weigh(&logits);
            logits.iter().zip(weights).map(|(l, w)| f64::from(l * w)).sum::<f64>()
        };
        let mut largest: Vec<usize> = (0..point.len()).collect();
        largest.sort_by(|a, b| slope.slope[*b].abs().total_cmp(&slope.slope[*a].abs()));
        for at in largest.into_iter().take(5) {
            let moved = |by: f32| {
                let mut point = point.clone();
                point[at] += by;
                scalar(&point)
            };
            // Small enough that few rectifiers switch on the way.
            let difference = (moved(2e-4) - moved(-2e-4)) / 4e-4;
            let own = f64::from(slope.slope[at]);
            assert!(
                (own - difference).abs() < 0.05 * difference.abs().max(0.1),
                "{own} {difference}"
            );
        }
    }

    #[test]
    fn a_softmax_at_the_end_is_looked_behind() {
        let built = |softmax: bool| {
            let mut model = ModelBuilder::new("line");
            model.input("image", DType::F32, &["N".into(), 1.into(), 1.into(), 2.into()]);
            let shape = model.initializer("shape", Tensor::vector(vec![-1i64, 2]));
            model.node("Reshape", &["image", &shape], &["flat"]);
            let steep = Tensor::new(vec![2, 2], vec![300.0f32, -300.0, 0.0, 0.0]).unwrap();
            let steep = model.initializer("steep", steep);
            model.node("MatMul", &["flat", &steep], &["logits"]);
            if softmax {
                model.node("Softmax", &["logits"], &["probabilities"]);
            }
            let name = if softmax { "probabilities" } else { "logits" };
            model.output(name, DType::F32, &["N".into(), 2.into()]);
            let model = Model::from_proto(&model.build()).unwrap();
            OnnxTarget::new(model, Written::default(), "line".into()).unwrap()
        };
        let slope = |softmax: bool| {
            let slopes = built(softmax).slopes(&[&[1.0, 0.5]], &mut |_, _| vec![1.0, -1.0]);
            slopes.unwrap().remove(0)
        };
        assert_eq!(slope(true).slope, slope(false).slope);
        assert_eq!(slope(true).logits, [300.0, -300.0]);
    }
}
