//! One operator in a model of its own, its gradients by rule and by central differences.

use faultlens_core::{DType, Seed, Tensor, TensorData};
use faultlens_engine::onnx::{Dim, ModelBuilder, NodeBuilder};
use faultlens_engine::{EngineError, Model, ValueId};

type Attributes = Box<dyn Fn(NodeBuilder<'_>)>;

/// An operator to be checked, with its operands.
pub(crate) struct Probe {
    op_type: &'static str,
    opset: i64,
    results: usize,
    threads: usize,
    /// Whether the results are flattened, so that their gradients come row-major.
    flat: bool,
    /// Whether operands of rank 4 come row-major.
    row_major: bool,
    attributes: Attributes,
    /// Float operands, whose gradients are checked, or constants.
    operands: Vec<Operand>,
}

enum Operand {
    Checked(Tensor),
    Constant(Tensor),
    Absent,
}

impl Probe {
    pub(crate) fn new(op_type: &'static str) -> Self {
        let attributes: Attributes = Box::new(|_| ());
        Self {
            op_type,
            opset: 17,
            results: 1,
            threads: 1,
            flat: false,
            row_major: false,
            attributes,
            operands: Vec::new(),
        }
    }

    /// Another version of ONNX's operators than 17.
    pub(crate) fn opset(mut self, opset: i64) -> Self {
        self.opset = opset;
        self
    }

    pub(crate) fn results(mut self, results: usize) -> Self {
        self.results = results;
        self
    }

    /// Shares the work out.
    pub(crate) fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Flattens the results, so that their gradients come row-major.
    pub(crate) fn flat(mut self) -> Self {
        self.flat = true;
        self
    }

    /// Lets operands of rank 4 pass a `Softmax` first, so that they do not lie channels last as fed
    /// values do.
    pub(crate) fn row_major(mut self) -> Self {
        self.row_major = true;
        self
    }

    pub(crate) fn with(mut self, attributes: impl Fn(NodeBuilder<'_>) + 'static) -> Self {
        self.attributes = Box::new(attributes);
        self
    }

    /// A float operand of values that keep away from zero, where many functions have a kink.
    pub(crate) fn operand(self, shape: &[usize]) -> Self {
        let mut stream = Seed::new(11).at(self.operands.len() as u64).stream();
        let count = shape.iter().product();
        let values = (0..count).map(|_| {
            let x = stream.between(0.1, 1.5);
            if stream.chance(0.5) { x as f32 } else { -x as f32 }
        });
        let values: Vec<f32> = values.collect();
        self.values(shape, values)
    }

    /// A float operand of values between two bounds.
    pub(crate) fn between(self, shape: &[usize], low: f64, high: f64) -> Self {
        let mut stream = Seed::new(12).at(self.operands.len() as u64).stream();
        let count: usize = shape.iter().product();
        let values = (0..count).map(|_| stream.between(low, high) as f32).collect();
        self.values(shape, values)
    }

    /// A float operand of values in random order that keep apart, so that no small step changes
    /// which of them is the largest.
    pub(crate) fn apart(self, shape: &[usize]) -> Self {
        let mut stream = Seed::new(14).at(self.operands.len() as u64).stream();
        let count: usize = shape.iter().product();
        let mut values: Vec<f32> =
            (0..count).map(|i| (i as f32 - count as f32 / 2.0) * 0.15).collect();
        stream.shuffle(&mut values);
        self.values(shape, values)
    }

    /// A float operand of given values.
    pub(crate) fn values(mut self, shape: &[usize], values: Vec<f32>) -> Self {
        let tensor = Tensor::new(shape.to_vec(), values).unwrap();
        self.operands.push(Operand::Checked(tensor));
        self
    }

    /// An operand that is not differentiated, such as a shape.
    pub(crate) fn constant(mut self, shape: &[usize], data: impl Into<TensorData>) -> Self {
        self.operands.push(Operand::Constant(Tensor::new(shape.to_vec(), data).unwrap()));
        self
    }

    pub(crate) fn absent(mut self) -> Self {
        self.operands.push(Operand::Absent);
        self
    }

    pub(crate) fn feeds(&self) -> Vec<Tensor> {
        let checked = self.operands.iter().filter_map(|operand| match operand {
            Operand::Checked(tensor) => Some(tensor.clone()),
            _ => None,
        });
        checked.collect()
    }

    fn model(&self) -> Model {
        let mut builder = ModelBuilder::new("probe").opset(self.opset);
        let mut names = Vec::new();
        for (at, operand) in self.operands.iter().enumerate() {
            let name = format!("x{at}");
            match operand {
                Operand::Checked(tensor) => {
                    let dims: Vec<Dim> = tensor.shape().iter().map(|&n| n.into()).collect();
                    builder.input(&name, DType::F32, &dims);
                    if self.row_major && dims.len() == 4 {
                        let rows = format!("{name}_rows");
                        builder.node("Softmax", &[&name], &[&rows]);
                        names.push(rows);
                        continue;
                    }
                }
                Operand::Constant(tensor) => {
                    builder.initializer(&name, tensor.clone());
                }
                Operand::Absent => {
                    names.push(String::new());
                    continue;
                }
            }
            names.push(name);
        }
        let results: Vec<String> = (0..self.results).map(|r| format!("y{r}")).collect();
        let inputs: Vec<&str> = names.iter().map(String::as_str).collect();
        let made: Vec<String> = match self.flat {
            true => results.iter().map(|result| format!("before_{result}")).collect(),
            false => results.clone(),
        };
        let outputs: Vec<&str> = made.iter().map(String::as_str).collect();
        let node = builder.node(self.op_type, &inputs, &outputs).name("node_under_test");
        (self.attributes)(node);
        for (made, result) in made.iter().zip(&results).filter(|_| self.flat) {
            builder.node("Flatten", &[made], &[result]);
        }
        for result in &results {
            builder.output(result, DType::F32, &[]);
        }
        Model::from_proto(&builder.build()).unwrap().with_threads(self.threads).unwrap()
    }

    fn named<'a>(&self, model: &'a Model, feeds: &[Tensor]) -> Vec<(&'a str, Tensor)> {
        let inputs = model.graph().inputs().iter().map(|&id| model.graph().value_name(id));
        inputs.zip(feeds.iter().cloned()).collect()
    }

    /// The factors that make one scalar of all results.
    fn weights(shape: &[usize], result: usize) -> Tensor {
        let mut stream = Seed::new(13).at(result as u64).stream();
        let count = shape.iter().product();
        let data: Vec<f32> = (0..count).map(|_| stream.between(-1.0, 1.0) as f32).collect();
        Tensor::new(shape.to_vec(), data).unwrap()
    }

    fn scalar(&self, model: &Model, feeds: &[Tensor]) -> f64 {
        let answers = model.run(&self.named(model, feeds)).unwrap();
        let weighted = answers.iter().enumerate().map(|(result, answer)| {
            let weights = Self::weights(answer.shape(), result);
            // Places of maxima and the like are no floats and count for nothing.
            let pairs = answer.as_f32().unwrap_or(&[]).iter().zip(weights.as_f32().unwrap());
            pairs.map(|(&y, &w)| f64::from(y) * f64::from(w)).sum::<f64>()
        });
        weighted.sum()
    }

    /// The gradients of the weighted sum of all results, by rule.
    pub(crate) fn gradients(&self, feeds: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let model = self.model();
        let golden = model.golden(&self.named(&model, feeds)).unwrap();
        let outputs = model.graph().outputs().iter().enumerate();
        let outputs = outputs.filter(|&(_, &id)| golden.dtype(id) == Some(DType::F32));
        let seeds: Vec<(ValueId, Tensor)> =
            outputs.map(|(at, &id)| (id, Self::weights(golden.shape(id).unwrap(), at))).collect();
        golden.gradients(&seeds, model.graph().inputs())
    }
}

/// The gradient of one element by central differences of two widths, the wider one's error
/// cancelled by the narrower one's.
fn difference(probe: &Probe, model: &Model, feeds: &[Tensor], operand: usize, at: usize) -> f64 {
    let along = |h: f32| {
        let moved = |by: f32| {
            let mut feeds = feeds.to_vec();
            if let TensorData::F32(data) = feeds[operand].data_mut() {
                data[at] += by;
            }
            probe.scalar(model, &feeds)
        };
        (moved(h) - moved(-h)) / (2.0 * f64::from(h))
    };
    let (wide, narrow) = (along(2.0f32.powi(-5)), along(2.0f32.powi(-6)));
    (4.0 * narrow - wide) / 3.0
}

/// Compares the rule with central differences, element by element.
pub(crate) fn check(probe: Probe) {
    let feeds = probe.feeds();
    let model = probe.model();
    let gradients = probe.gradients(&feeds).unwrap();
    for (operand, gradient) in gradients.iter().enumerate() {
        let found = gradient.as_f32().unwrap();
        let largest = found.iter().fold(0.0f32, |m, g| m.max(g.abs()));
        // A long operand is checked at a spread of places, a short one everywhere.
        let step = found.len().div_ceil(60);
        for at in (0..found.len()).step_by(step) {
            let wanted = difference(&probe, &model, &feeds, operand, at);
            let error = (f64::from(found[at]) - wanted).abs();
            let allowed = 2e-3 * f64::from(largest).max(0.1);
            let op = probe.op_type;
            assert!(error <= allowed, "{op}, operand {operand}[{at}]: {} not {wanted}", found[at]);
        }
    }
}

/// Compares the bits of the gradients on one thread and on several.
pub(crate) fn check_threads(probe: fn() -> Probe) {
    let feeds = probe().feeds();
    let alone = probe().gradients(&feeds).unwrap();
    let bits = |t: &Tensor| t.as_f32().unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for threads in [2, 3] {
        let shared = probe().threads(threads).gradients(&feeds).unwrap();
        assert!(alone.iter().map(bits).eq(shared.iter().map(bits)), "{}", probe().op_type);
    }
}
