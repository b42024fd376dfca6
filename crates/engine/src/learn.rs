//! A model whose weights change: one step at a time, from gradients of a loss.

mod training_model;

use crate::budget::Budget;
use crate::error::EngineError;
use crate::gradient::{Values, gradients, ordered, seed};
use crate::graph::{Graph, ValueId};
use crate::kernels::grid::{Floats, Order};
use crate::kernels::sum::sum;
use crate::model::Model;
use crate::onnx::{self, ModelProto};
use crate::value::{Slot, Value};
use faultlens_core::Tensor;
use training_model::{Role, TrainingModel};

/// A model in training mode: batch norms use the batch's statistics, dropouts drop.
///
/// 1. [`Learner::new`] takes an ordinary model; what its layers multiply and add are its weights.
/// 2. [`Learner::step`] runs a batch forward, asks for the gradient of the loss, and walks back.
/// 3. [`Learner::update`] lets an optimiser change the weights.
/// 4. [`Learner::to_proto`] hands the ordinary model out again, with the weights as they are now.
#[derive(Debug)]
pub struct Learner {
    model: Model,
    /// The model as it is saved.
    saved: ModelProto,
    weights: Vec<Weight>,
    /// Statistics that batches move: the weight, and the value that holds its successor.
    statistics: Vec<(usize, ValueId)>,
    gradients: Vec<Option<Floats>>,
}

/// One tensor of a learner.
#[derive(Debug)]
struct Weight {
    name: String,
    id: ValueId,
    value: Floats,
    role: Role,
}

/// What an optimiser may want to know of a weight.
#[derive(Debug)]
pub struct WeightInfo<'a> {
    /// Its name in the model.
    pub name: &'a str,
    /// The length of every axis.
    pub shape: &'a [usize],
    /// Whether values are multiplied with it, so that a pull to zero makes the model smoother;
    /// biases, norms and slopes are better left alone.
    pub decays: bool,
}

/// What a batch made of the model: outputs, and any value between.
pub struct Answers<'a> {
    model: &'a Model,
    values: &'a [Option<Slot>],
}

impl Answers<'_> {
    /// The value of that name.
    pub fn value(&self, name: &str) -> Result<Tensor, EngineError> {
        let id = find(self.model.graph(), name)?;
        self.model.output(id, self.values)
    }
}

/// A loss and the gradients that it has with respect to values of the model, by their names.
pub struct Loss {
    /// What is to become small.
    pub value: f64,
    /// For each value that the loss reads, its gradient.
    pub gradients: Vec<(String, Tensor)>,
}

/// A loss, the gradients that were wanted, and the statistics after the batch, by weight.
type LossAndGradients = (f64, Vec<Option<Floats>>, Vec<(usize, Option<Slot>)>);

impl Learner {
    /// Opens a model's weights to change.
    pub fn new(proto: &ModelProto, threads: usize) -> Result<Self, EngineError> {
        let rewritten = TrainingModel::of(proto)?;
        // Whoever trains has chosen the batch, and every value of it is kept for the way back.
        let budget = Budget { bytes: u64::MAX, max_bytes: u64::MAX, ..Budget::default() };
        let model = Model::from_proto(&rewritten.proto)?.with_threads(threads)?.with_budget(budget);
        let weights = rewritten.weights.into_iter().map(|(name, tensor, role)| {
            let id = find(model.graph(), &name)?;
            let value = match Value::from_tensor(tensor) {
                Value::Floats(floats) => floats,
                _ => return Err(EngineError::Graph(format!("the weight {name} is not of floats"))),
            };
            Ok(Weight { name, id, value, role })
        });
        let weights: Vec<Weight> = weights.collect::<Result<_, EngineError>>()?;
        let statistics = rewritten.statistics.into_iter().map(|(weight, next)| {
            let at = weights.iter().position(|w| w.name == weight);
            let at = at.ok_or_else(|| EngineError::Graph(format!("nobody stores {weight}")))?;
            Ok((at, find(model.graph(), &next)?))
        });
        let statistics = statistics.collect::<Result<_, EngineError>>()?;
        Ok(Self { model, saved: proto.clone(), weights, statistics, gradients: Vec::new() })
    }

    /// Runs a batch forward, asks `loss` for its value and gradients, and walks back. `draw` is
    /// the number from which dropouts draw. Gradients wait for [`Learner::update`].
    pub fn step<E: From<EngineError>>(
        &mut self,
        feeds: &[(&str, Tensor)],
        draw: u64,
        loss: impl FnOnce(&Answers<'_>) -> Result<Loss, E>,
    ) -> Result<f64, E> {
        // What a failed step leaves must not move anything.
        self.gradients.clear();
        let learned = self.weights.iter().filter(|w| w.role.is_learned());
        // Statistics of batch norms change too, but not by gradients.
        let wanted: Vec<ValueId> = learned.map(|w| w.id).collect();
        self.with_weights(|learner, values| {
            let (value, found, next) =
                learner.forward_backward(values, feeds, draw, &wanted, loss)?;
            learner.gradients = found;
            // The forward run has made the statistics after this batch; they replace the old
            // ones.
            for (at, slot) in next {
                if let Some(Slot { value: Value::Floats(floats), .. }) = slot {
                    let id = learner.weights[at].id;
                    values[id.index()] = Some(Slot::new(Value::Floats(floats)));
                }
            }
            Ok(value)
        })
    }

    /// How the loss of a batch depends on what is fed to `input`: what attacks on the model as it
    /// is now follow. Weights, statistics and waiting gradients stay as they are.
    pub fn input_gradient<E: From<EngineError>>(
        &mut self,
        feeds: &[(&str, Tensor)],
        draw: u64,
        input: &str,
        loss: impl FnOnce(&Answers<'_>) -> Result<Loss, E>,
    ) -> Result<Tensor, E> {
        let wanted = [find(self.model.graph(), input)?];
        let found = self.with_weights(|learner, values| {
            let (_, found, _) = learner.forward_backward(values, feeds, draw, &wanted, loss)?;
            Ok::<_, E>(found)
        })?;
        let gradient = found.into_iter().next().flatten();
        let tensor = gradient.and_then(|gradient| Value::Floats(gradient).to_tensor());
        Ok(tensor.ok_or_else(|| {
            EngineError::Graph(format!("the loss does not depend on the input {input}"))
        })?)
    }

    /// Works with values in which the weights stand, and takes the weights back whatever happens.
    fn with_weights<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self, &mut [Option<Slot>]) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut values = self.model.empty_values();
        for weight in &mut self.weights {
            let floats = std::mem::replace(&mut weight.value, empty());
            values[weight.id.index()] = Some(Slot::new(Value::Floats(floats)));
        }
        // Weights move into the run and back, instead of being copied.
        let done = work(self, &mut values);
        for weight in &mut self.weights {
            if let Some(Slot { value: Value::Floats(floats), .. }) =
                values[weight.id.index()].take()
            {
                weight.value = floats;
            }
        }
        done
    }

    /// The loss, its gradients with respect to `wanted`, and what batches made of the statistics.
    fn forward_backward<E: From<EngineError>>(
        &self,
        values: &mut [Option<Slot>],
        feeds: &[(&str, Tensor)],
        draw: u64,
        wanted: &[ValueId],
        loss: impl FnOnce(&Answers<'_>) -> Result<Loss, E>,
    ) -> Result<LossAndGradients, E> {
        let model = &self.model;
        if let Some(number) = model.graph().find(training_model::DRAW) {
            let draw = Tensor::vector(vec![draw as i64]);
            values[number.index()] = Some(Slot::new(Value::Other(draw)));
        }
        model.feed(values, feeds)?;
        model.on_threads(|| model.keep(values))?;
        let Loss { value, gradients: scalar } = loss(&Answers { model, values })?;
        let seeds = scalar.iter().map(|(name, tensor)| {
            let id = find(model.graph(), name)?;
            let value = values[id.index()].as_ref().map(|slot| &slot.value);
            Ok((id, seed(name, value, tensor)?))
        });
        let seeds = seeds.collect::<Result<Vec<_>, EngineError>>()?;
        // Taken out before the walk back, which frees values as it goes.
        let next: Vec<(usize, Option<Slot>)> =
            self.statistics.iter().map(|&(at, id)| (at, values[id.index()].take())).collect();
        // The values are spent on the way back: nobody replays a training step.
        let found = model.on_threads(|| gradients(model, Values::Spent(values), seeds, wanted))?;
        Ok((value, found, next))
    }

    /// Lets `change` see each learned weight, its values and its gradient, in the model's order, on
    /// the learner's threads. Weights that the last loss did not depend on are left alone.
    pub fn update(&mut self, mut change: impl FnMut(&WeightInfo<'_>, &mut [f32], &[f32]) + Send) {
        let Self { model, weights, gradients, .. } = self;
        let learned = weights.iter_mut().filter(|w| w.role.is_learned());
        model.on_threads(|| {
            for (weight, gradient) in learned.zip(gradients.drain(..)) {
                let Some(gradient) = gradient else { continue };
                // As the file counts, so that optimisers need not know of other orders.
                let gradient = ordered(gradient, Order::RowMajor);
                let Floats { shape, data, .. } = &mut weight.value;
                let decays = weight.role == Role::Factor;
                let info = WeightInfo { name: &weight.name, shape, decays };
                change(&info, data, &gradient.data);
                model.buffers().give(gradient.data);
            }
        });
    }

    /// The length of the last gradient, over all weights together.
    pub fn gradient_length(&self) -> f64 {
        let squares = self.gradients.iter().flatten().map(|g| sum(&g.data, |x: f64| x * x));
        squares.sum::<f64>().sqrt()
    }

    /// How many numbers are learned.
    pub fn parameters(&self) -> usize {
        self.weights.iter().filter(|w| w.role.is_learned()).map(|w| w.value.data.len()).sum()
    }

    /// The ordinary model, with the weights as they are now.
    pub fn to_proto(&self) -> ModelProto {
        let mut proto = self.saved.clone();
        let graph = proto.graph.get_or_insert_default();
        for weight in &self.weights {
            let tensor = Value::Floats(weight.value.clone()).to_tensor();
            let stored = graph.initializer.iter_mut().find(|t| t.name == weight.name);
            if let (Some(stored), Some(tensor)) = (stored, tensor) {
                *stored = onnx::tensor_proto(&weight.name, &tensor);
            }
        }
        proto
    }
}

fn empty() -> Floats {
    let shape = vec![0];
    let data = Vec::new();
    Floats { shape, order: Order::RowMajor, dtype: faultlens_core::DType::F32, data }
}

fn find(graph: &Graph, name: &str) -> Result<ValueId, EngineError> {
    graph.find(name).ok_or_else(|| {
        let near = faultlens_core::did_you_mean(name, graph.value_names());
        let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        EngineError::Graph(format!("no value is called {name}{hint}"))
    })
}
