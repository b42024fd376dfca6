//! How weights start: which numbers, from which stream.

use faultlens_core::{Seed, Tensor};
use faultlens_engine::onnx::{ModelProto, tensor_proto};

/// The gain that keeps the size of activations in front of a rectifier (He et al., 2015).
pub(super) const HE: f64 = std::f64::consts::SQRT_2;

/// Where a weight's numbers come from.
#[derive(Debug, Clone)]
pub(super) enum Init {
    Constant(f32),
    /// Normal, with this deviation.
    Normal(f64),
    /// Uniform, up to this size.
    Uniform(f64),
    /// A value for each run of as many neighbours: one gate of a recurrent layer.
    Runs(Vec<f32>),
}

/// A weight that training changes.
#[derive(Debug, Clone)]
pub(super) struct Weight {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) init: Init,
}

impl Weight {
    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The first numbers. They hang on the seed and the weight's name alone.
    fn draw(&self, seed: Seed) -> Tensor {
        let mut stream = seed.child(&self.name).stream();
        let n = self.len();
        let values: Vec<f32> = match &self.init {
            Init::Constant(value) => vec![*value; n],
            Init::Normal(deviation) => {
                (0..n).map(|_| (stream.gaussian() * deviation) as f32).collect()
            }
            Init::Uniform(limit) => (0..n).map(|_| stream.between(-limit, *limit) as f32).collect(),
            Init::Runs(values) => (0..n).map(|i| values[i * values.len() / n]).collect(),
        };
        Tensor::new(self.shape.clone(), values).expect("as many values as the shape has elements")
    }
}

/// A network whose weights are not drawn yet, so that its size is known for free.
#[derive(Debug, Clone)]
pub struct Blueprint {
    pub(super) model: ModelProto,
    pub(super) weights: Vec<Weight>,
}

impl Blueprint {
    /// How many numbers training can change; running averages are not among them.
    pub fn parameters(&self) -> usize {
        self.weights.iter().map(Weight::len).sum()
    }

    /// The model with its first weights.
    ///
    /// Each weight has a random stream of its own, by its name: a network with one more layer
    /// starts with the same numbers in all others.
    pub fn draw(&self, seed: Seed) -> ModelProto {
        let mut model = self.model.clone();
        let drawn = self.weights.iter().map(|w| tensor_proto(&w.name, &w.draw(seed)));
        model.graph.get_or_insert_default().initializer.extend(drawn);
        model
    }
}
