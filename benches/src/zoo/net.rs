//! What the networks are put together from: layers with PyTorch's names and random weights.

use faultlens_core::{DType, Tensor};
use faultlens_engine::onnx::{ModelBuilder, ModelProto, NodeBuilder};

use super::random::Random;

/// What becomes of the batch normalisation after a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// Folded into the convolution, as exporters do for inference.
    Folded,
    /// A node of its own, as in models exported for training.
    Nodes,
}

/// The spread of weights in front of a rectifier that keeps the size of activations (He).
pub(super) const HE: f32 = std::f32::consts::SQRT_2;
/// The same where no rectifier follows.
pub(super) const LINEAR: f32 = 1.0;
/// Of the last layer of a residual branch, so that sums over many blocks do not grow.
pub(super) const BRANCH: f32 = 0.3;

const EPSILON: f32 = 1e-5;

/// A value of the graph.
#[derive(Debug, Clone)]
pub(super) struct Value {
    name: String,
    pub(super) channels: usize,
}

/// A convolution's settings; padding keeps the size unless said otherwise.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conv {
    to: usize,
    kernel: usize,
    stride: usize,
    pad: usize,
    groups: usize,
    gain: f32,
}

pub(super) fn conv(to: usize, kernel: usize) -> Conv {
    Conv { to, kernel, stride: 1, pad: kernel / 2, groups: 1, gain: HE }
}

impl Conv {
    pub(super) fn stride(self, stride: usize) -> Self {
        Self { stride, ..self }
    }
    pub(super) fn pad(self, pad: usize) -> Self {
        Self { pad, ..self }
    }
    pub(super) fn groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }
    pub(super) fn gain(self, gain: f32) -> Self {
        Self { gain, ..self }
    }
}

/// A maximum pooling's settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pool {
    pub(super) kernel: i64,
    pub(super) pad: i64,
    pub(super) ceil_mode: bool,
}

/// Gains and offsets of a batch normalisation in inference.
struct Averages {
    gamma: Vec<f32>,
    beta: Vec<f32>,
    mean: Vec<f32>,
    var: Vec<f32>,
}

/// A network that grows layer by layer.
pub(super) struct Net {
    model: ModelBuilder,
    random: Random,
    norm: Norm,
}

impl Net {
    /// An empty network and its input.
    pub(super) fn new(name: &str, seed: u64, norm: Norm) -> (Self, Value) {
        let mut model = ModelBuilder::new(name).opset(13);
        model.input("input", DType::F32, &["N".into(), 3.into(), 224.into(), 224.into()]);
        let net = Self { model, random: Random(seed), norm };
        (net, Value { name: "input".to_owned(), channels: 3 })
    }

    /// The model whose output is the given value, from then on called `logits`.
    pub(super) fn finish(mut self, x: &Value) -> ModelProto {
        self.model.output("logits", DType::F32, &["N".into(), x.channels.into()]);
        let mut model = self.model.build();
        let outputs = model.graph.iter_mut().flat_map(|g| &mut g.node).map(|n| &mut n.output[0]);
        for output in outputs.filter(|output| **output == x.name) {
            *output = "logits".to_owned();
        }
        model
    }

    /// A convolution with a bias.
    pub(super) fn conv(&mut self, module: &str, x: &Value, c: Conv) -> Value {
        let weight = self.conv_weight(x, c);
        let bias = self.random.normal(c.to, 0.0, 0.05);
        self.add_conv(module, x, c, weight, Some(bias))
    }

    /// A convolution and its batch normalisation, which is the module of the second name.
    pub(super) fn conv_norm(&mut self, module: &str, norm: &str, x: &Value, c: Conv) -> Value {
        let mut weight = self.conv_weight(x, c);
        let averages = Averages {
            gamma: self.random.normal(c.to, 1.0, 0.05),
            beta: self.random.normal(c.to, 0.0, 0.05),
            mean: self.random.normal(c.to, 0.0, 0.05),
            var: self.random.normal(c.to, 1.0, 0.05),
        };
        match self.norm {
            Norm::Folded => {
                let bias = averages.fold_into(&mut weight);
                self.add_conv(module, x, c, weight, Some(bias))
            }
            Norm::Nodes => {
                let y = self.add_conv(module, x, c, weight, None);
                self.add_norm(norm, &y, averages)
            }
        }
    }

    fn conv_weight(&mut self, x: &Value, c: Conv) -> Vec<f32> {
        let fan_in = x.channels / c.groups * c.kernel * c.kernel;
        self.random.normal(c.to * fan_in, 0.0, c.gain / (fan_in as f32).sqrt())
    }

    fn add_conv(
        &mut self,
        module: &str,
        x: &Value,
        c: Conv,
        weight: Vec<f32>,
        bias: Option<Vec<f32>>,
    ) -> Value {
        let shape = [c.to, x.channels / c.groups, c.kernel, c.kernel];
        let mut inputs = vec![x.name.clone(), self.weight(module, "weight", &shape, weight)];
        inputs.extend(bias.map(|bias| self.weight(module, "bias", &[c.to], bias)));
        let [kernel, stride, pad] = [c.kernel, c.stride, c.pad].map(|n| n as i64);
        let (name, node) = self.node(module, "Conv", &inputs);
        node.attr_ints("dilations", &[1, 1])
            .attr_i("group", c.groups as i64)
            .attr_ints("kernel_shape", &[kernel; 2])
            .attr_ints("pads", &[pad; 4])
            .attr_ints("strides", &[stride; 2]);
        Value { name, channels: c.to }
    }

    fn add_norm(&mut self, module: &str, x: &Value, a: Averages) -> Value {
        let mut inputs = vec![x.name.clone()];
        let parts = [
            ("weight", a.gamma),
            ("bias", a.beta),
            ("running_mean", a.mean),
            ("running_var", a.var),
        ];
        for (part, values) in parts {
            inputs.push(self.weight(module, part, &[x.channels], values));
        }
        let (name, node) = self.node(module, "BatchNormalization", &inputs);
        node.attr_f("epsilon", EPSILON).attr_f("momentum", 0.9);
        Value { name, channels: x.channels }
    }

    /// A fully connected layer.
    pub(super) fn linear(&mut self, module: &str, x: &Value, to: usize, gain: f32) -> Value {
        let from = x.channels;
        let weight = self.random.normal(to * from, 0.0, gain / (from as f32).sqrt());
        let bias = self.random.normal(to, 0.0, 0.05);
        let weight = self.weight(module, "weight", &[to, from], weight);
        let bias = self.weight(module, "bias", &[to], bias);
        let (name, node) = self.node(module, "Gemm", &[x.name.clone(), weight, bias]);
        node.attr_f("alpha", 1.0).attr_f("beta", 1.0).attr_i("transB", 1);
        Value { name, channels: to }
    }

    pub(super) fn relu(&mut self, module: &str, x: &Value) -> Value {
        self.simple(module, "Relu", &[x])
    }

    pub(super) fn relu6(&mut self, module: &str, x: &Value) -> Value {
        let low = self.weight(module, "min", &[], vec![0.0]);
        let high = self.weight(module, "max", &[], vec![6.0]);
        let (name, _) = self.node(module, "Clip", &[x.name.clone(), low, high]);
        Value { name, channels: x.channels }
    }

    pub(super) fn add(&mut self, module: &str, a: &Value, b: &Value) -> Value {
        self.simple(module, "Add", &[a, b])
    }

    pub(super) fn concat(&mut self, module: &str, a: &Value, b: &Value) -> Value {
        let (name, node) = self.node(module, "Concat", &[a.name.clone(), b.name.clone()]);
        node.attr_i("axis", 1);
        Value { name, channels: a.channels + b.channels }
    }

    /// Maximum pooling of every second pixel.
    pub(super) fn max_pool(&mut self, module: &str, x: &Value, pool: Pool) -> Value {
        let (name, node) = self.node(module, "MaxPool", std::slice::from_ref(&x.name));
        node.attr_i("ceil_mode", pool.ceil_mode.into())
            .attr_ints("dilations", &[1, 1])
            .attr_ints("kernel_shape", &[pool.kernel; 2])
            .attr_ints("pads", &[pool.pad; 4])
            .attr_ints("strides", &[2, 2]);
        Value { name, channels: x.channels }
    }

    /// What is left of adaptive pooling when the size is right already: the mean of one pixel.
    pub(super) fn idle_pool(&mut self, module: &str, x: &Value) -> Value {
        let (name, node) = self.node(module, "AveragePool", std::slice::from_ref(&x.name));
        node.attr_ints("kernel_shape", &[1, 1]).attr_ints("strides", &[1, 1]);
        Value { name, channels: x.channels }
    }

    pub(super) fn global_pool(&mut self, module: &str, x: &Value) -> Value {
        self.simple(module, "GlobalAveragePool", &[x])
    }

    /// Makes one row of every image, `pixels` per channel.
    pub(super) fn flatten(&mut self, x: &Value, pixels: usize) -> Value {
        let (name, node) = self.node("", "Flatten", std::slice::from_ref(&x.name));
        node.attr_i("axis", 1);
        Value { name, channels: x.channels * pixels }
    }

    fn simple(&mut self, module: &str, op_type: &str, inputs: &[&Value]) -> Value {
        let names: Vec<String> = inputs.iter().map(|x| x.name.clone()).collect();
        let (name, _) = self.node(module, op_type, &names);
        Value { name, channels: inputs[0].channels }
    }

    /// Adds a node with PyTorch's name for it; gives the name of its output, too.
    fn node(
        &mut self,
        module: &str,
        op_type: &str,
        inputs: &[String],
    ) -> (String, NodeBuilder<'_>) {
        let name = format!("{}/{op_type}", scope(module));
        let output = format!("{name}_output_0");
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let node = self.model.node(op_type, &inputs, &[&output]).name(&name);
        (output, node)
    }

    fn weight(&mut self, module: &str, part: &str, shape: &[usize], values: Vec<f32>) -> String {
        let tensor = Tensor::new(shape.to_vec(), values).expect("values are drawn for the shape");
        self.model.initializer(&format!("{module}.{part}"), tensor)
    }
}

impl Averages {
    /// Scales the weights of each output channel, and gives the bias that does the rest.
    fn fold_into(&self, weight: &mut [f32]) -> Vec<f32> {
        let per_channel = weight.len() / self.gamma.len();
        let mut bias = Vec::with_capacity(self.gamma.len());
        for (channel, weights) in weight.chunks_exact_mut(per_channel).enumerate() {
            let scale = self.gamma[channel] / (self.var[channel] + EPSILON).sqrt();
            weights.iter_mut().for_each(|w| *w *= scale);
            bias.push(self.beta[channel] - self.mean[channel] * scale);
        }
        bias
    }
}

/// A module's place in PyTorch's node names: `layer1.0.conv1` is `/layer1/layer1.0/conv1`.
fn scope(module: &str) -> String {
    let mut scope = String::new();
    let mut last = String::new();
    for part in module.split('.').filter(|part| !part.is_empty()) {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        last = if is_number { format!("{last}.{part}") } else { part.to_owned() };
        scope += &format!("/{last}");
    }
    scope
}
