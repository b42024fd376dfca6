//! Convolutions, and batch normalisation behind them.

use super::net::{Net, Value};
use super::weights::{HE, Init};

const EPSILON: f32 = 1e-5;
const MOMENTUM: f32 = 0.9;

/// How a convolution's weights are spread at first.
#[derive(Debug, Clone, Copy)]
enum Spread {
    /// He's, by the inputs of an output: keeps the size of activations.
    FanIn(f64),
    /// He's, by the outputs of an input: keeps the size of gradients, as torchvision does it.
    FanOut,
    /// This deviation.
    Fixed(f64),
}

/// A convolution's settings; padding keeps the size unless it is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conv {
    to: usize,
    kernel: usize,
    stride: usize,
    pad: usize,
    groups: usize,
    bias: Option<f32>,
    spread: Spread,
}

/// A convolution that keeps the size of the plane and of activations before a rectifier.
pub(super) fn conv(to: usize, kernel: usize) -> Conv {
    let spread = Spread::FanIn(HE);
    Conv { to, kernel, stride: 1, pad: kernel / 2, groups: 1, bias: Some(0.0), spread }
}

impl Conv {
    pub(super) fn stride(self, stride: usize) -> Self {
        Self { stride, ..self }
    }

    pub(super) fn pad(self, pad: usize) -> Self {
        Self { pad, ..self }
    }

    /// Each channel by itself.
    pub(super) fn depthwise(self) -> Self {
        Self { groups: self.to, ..self }
    }

    /// What the bias starts at.
    pub(super) fn bias(self, bias: f32) -> Self {
        Self { bias: Some(bias), ..self }
    }

    /// Weights for a layer that no rectifier follows.
    pub(super) fn linear(self) -> Self {
        Self { spread: Spread::FanIn(1.0), ..self }
    }

    /// Weights of this deviation.
    pub(super) fn deviation(self, deviation: f64) -> Self {
        Self { spread: Spread::Fixed(deviation), ..self }
    }

    /// As batch normalisation wants it, which has a bias of its own.
    fn before_norm(self) -> Self {
        Self { bias: None, spread: Spread::FanOut, ..self }
    }

    fn init(&self, from: usize, taps: f64) -> Init {
        Init::Normal(match self.spread {
            Spread::FanIn(gain) => gain / (from as f64 * taps).sqrt(),
            Spread::FanOut => HE / (self.to as f64 * taps).sqrt(),
            Spread::Fixed(deviation) => deviation,
        })
    }
}

/// What a convolution and a transposed one differ in.
struct Form {
    op_type: &'static str,
    /// Of the weight.
    shape: [usize; 4],
    /// Of the output.
    dims: [usize; 3],
    /// How many weights of an input channel reach an output.
    taps: f64,
}

/// Convolutions. Of a pair `scope` and `n`, the layers are `scope.conv<n>`, `scope.bn<n>` and
/// `scope.relu<n>`.
impl Net {
    pub(super) fn conv(&mut self, name: &str, x: &Value, c: Conv) -> Value {
        let length = |of: usize| (of + 2 * c.pad - c.kernel) / c.stride + 1;
        let form = Form {
            op_type: "Conv",
            shape: [c.to, x.channels() / c.groups, c.kernel, c.kernel],
            dims: [c.to, length(x.height()), length(x.width())],
            taps: (c.kernel * c.kernel) as f64 / c.groups as f64,
        };
        self.add_conv(name, x, c, form)
    }

    /// A convolution that makes the plane `stride` times larger; its kernel is a multiple of
    /// `stride`, so that all outputs have as many inputs.
    pub(super) fn conv_transpose(&mut self, name: &str, x: &Value, c: Conv) -> Value {
        let length = |of: usize| (of - 1) * c.stride + c.kernel - 2 * c.pad;
        let form = Form {
            op_type: "ConvTranspose",
            shape: [x.channels(), c.to, c.kernel, c.kernel],
            dims: [c.to, length(x.height()), length(x.width())],
            taps: (c.kernel * c.kernel) as f64 / (c.stride * c.stride) as f64,
        };
        self.add_conv(name, x, c, form)
    }

    fn add_conv(&mut self, name: &str, x: &Value, c: Conv, form: Form) -> Value {
        let init = c.init(x.channels(), form.taps);
        let weight = self.weight(name, "weight", &form.shape, init);
        let bias = c.bias.map(|b| self.weight(name, "bias", &[c.to], Init::Constant(b)));
        let inputs = [Some(x.name.as_str()), Some(&weight), bias.as_deref()];
        let inputs: Vec<&str> = inputs.into_iter().flatten().collect();
        let (y, node) = self.node(name, form.op_type, &inputs, &form.dims);
        node.attr_ints("dilations", &[1, 1])
            .attr_i("group", c.groups as i64)
            .attr_ints("kernel_shape", &[c.kernel as i64; 2])
            .attr_ints("pads", &[c.pad as i64; 4])
            .attr_ints("strides", &[c.stride as i64; 2]);
        y
    }

    pub(super) fn conv_relu(&mut self, scope: &str, n: usize, x: &Value, c: Conv) -> Value {
        let y = self.conv(&format!("{scope}.conv{n}"), x, c);
        self.relu(&format!("{scope}.relu{n}"), &y)
    }

    pub(super) fn conv_bn(&mut self, scope: &str, n: usize, x: &Value, c: Conv) -> Value {
        let y = self.conv(&format!("{scope}.conv{n}"), x, c.before_norm());
        self.batch_norm(&format!("{scope}.bn{n}"), &y)
    }

    pub(super) fn conv_bn_relu(&mut self, scope: &str, n: usize, x: &Value, c: Conv) -> Value {
        let y = self.conv_bn(scope, n, x, c);
        self.relu(&format!("{scope}.relu{n}"), &y)
    }

    /// An upsampling that is normalised and rectified.
    pub(super) fn up_bn_relu(&mut self, scope: &str, n: usize, x: &Value, c: Conv) -> Value {
        let y = self.conv_transpose(&format!("{scope}.conv{n}"), x, c.before_norm());
        let y = self.batch_norm(&format!("{scope}.bn{n}"), &y);
        self.relu(&format!("{scope}.relu{n}"), &y)
    }

    pub(super) fn batch_norm(&mut self, name: &str, x: &Value) -> Value {
        let shape = [x.channels()];
        let scale = self.weight(name, "scale", &shape, Init::Constant(1.0));
        let bias = self.weight(name, "bias", &shape, Init::Constant(0.0));
        let mean = self.constant(&format!("{name}.mean"), &shape, vec![0.0; shape[0]]);
        let var = self.constant(&format!("{name}.var"), &shape, vec![1.0; shape[0]]);
        let inputs = [x.name.as_str(), &scale, &bias, &mean, &var];
        let (y, node) = self.node(name, "BatchNormalization", &inputs, &x.dims);
        node.attr_f("epsilon", EPSILON).attr_f("momentum", MOMENTUM);
        y
    }
}
