//! Fully connected layers, pooling and other layers without a convolution.

use super::net::{Net, Value};
use super::weights::{HE, Init};

/// Fully connected layers.
impl Net {
    /// The layer that gives the answer, spread as PyTorch does it.
    pub(super) fn linear(&mut self, name: &str, x: &Value, to: usize) -> Value {
        self.gemm(name, x, to, Init::Uniform(1.0 / (x.channels() as f64).sqrt()))
    }

    /// A layer in between, with its rectifier.
    pub(super) fn linear_relu(&mut self, name: &str, x: &Value, to: usize) -> Value {
        let y = self.gemm(name, x, to, Init::Normal(HE / (x.channels() as f64).sqrt()));
        self.relu(&format!("{name}.relu"), &y)
    }

    fn gemm(&mut self, name: &str, x: &Value, to: usize, init: Init) -> Value {
        let weight = self.weight(name, "weight", &[to, x.channels()], init);
        let bias = self.weight(name, "bias", &[to], Init::Constant(0.0));
        let (y, node) = self.node(name, "Gemm", &[&x.name, &weight, &bias], &[to]);
        node.attr_f("alpha", 1.0).attr_f("beta", 1.0).attr_i("transB", 1);
        y
    }

    /// The usual head of a classifier: the mean of each channel, then one layer.
    pub(super) fn pooled_linear(&mut self, x: &Value, to: usize) -> Value {
        let x = self.pooled_row(x);
        self.linear("head.fc", &x, to)
    }

    /// The mean of each channel, as a row.
    pub(super) fn pooled_row(&mut self, x: &Value) -> Value {
        let (y, _) = self.node("head.pool", "GlobalAveragePool", &[&x.name], &[x.channels(), 1, 1]);
        self.flatten("head.flatten", &y)
    }
}

/// Layers without weights.
impl Net {
    pub(super) fn relu(&mut self, name: &str, x: &Value) -> Value {
        self.simple(name, "Relu", &[x])
    }

    pub(super) fn relu6(&mut self, name: &str, x: &Value) -> Value {
        let low = self.constant(&format!("{name}.min"), &[], vec![0.0]);
        let high = self.constant(&format!("{name}.max"), &[], vec![6.0]);
        self.node(name, "Clip", &[&x.name, &low, &high], &x.dims).0
    }

    /// A function of elements that have the shape of the first operand.
    pub(super) fn simple(&mut self, name: &str, op_type: &str, inputs: &[&Value]) -> Value {
        let names: Vec<&str> = inputs.iter().map(|x| x.name.as_str()).collect();
        self.node(name, op_type, &names, &inputs[0].dims).0
    }

    /// Zeroes this part of the elements while training; says the same as its input otherwise.
    pub(super) fn dropout(&mut self, name: &str, x: &Value, ratio: f64) -> Value {
        if ratio == 0.0 {
            return x.clone();
        }
        let ratio = self.constant(&format!("{name}.ratio"), &[], vec![ratio as f32]);
        self.node(name, "Dropout", &[&x.name, &ratio], &x.dims).0
    }

    pub(super) fn concat(&mut self, name: &str, a: &Value, b: &Value) -> Value {
        let dims = [a.channels() + b.channels(), a.height(), a.width()];
        let (y, node) = self.node(name, "Concat", &[&a.name, &b.name], &dims);
        node.attr_i("axis", 1);
        y
    }

    /// The largest of every 2×2 pixels; a plane that has no two pixels side by side stays.
    pub(super) fn halve(&mut self, name: &str, x: &Value) -> Value {
        if x.height().min(x.width()) < 2 { x.clone() } else { self.max_pool(name, x, 2, 0) }
    }

    /// The largest around every second pixel.
    pub(super) fn max_pool(&mut self, name: &str, x: &Value, kernel: usize, pad: usize) -> Value {
        let length = |of: usize| (of + 2 * pad - kernel) / 2 + 1;
        let dims = [x.channels(), length(x.height()), length(x.width())];
        let (y, node) = self.node(name, "MaxPool", &[&x.name], &dims);
        node.attr_ints("kernel_shape", &[kernel as i64; 2])
            .attr_ints("pads", &[pad as i64; 4])
            .attr_ints("strides", &[2, 2]);
        y
    }

    /// Averages a plane down to at most `side`×`side`; a smaller one stays.
    pub(super) fn shrink(&mut self, name: &str, x: &Value, side: usize) -> Value {
        let sides = [x.height(), x.width()];
        if sides.iter().all(|&of| of <= side) {
            return x.clone();
        }
        let strides = sides.map(|of| (of / side).max(1) as i64);
        let kept = sides.map(|of| of.min(side) as i64);
        let kernel: Vec<i64> =
            (0..2).map(|axis| sides[axis] as i64 - (kept[axis] - 1) * strides[axis]).collect();
        let dims = [x.channels(), kept[0] as usize, kept[1] as usize];
        let (y, node) = self.node(name, "AveragePool", &[&x.name], &dims);
        node.attr_ints("kernel_shape", &kernel).attr_ints("strides", &strides);
        y
    }

    /// Makes one row of every image.
    pub(super) fn flatten(&mut self, name: &str, x: &Value) -> Value {
        let (y, node) = self.node(name, "Flatten", &[&x.name], &[x.len()]);
        node.attr_i("axis", 1);
        y
    }

    /// The same elements on other axes behind the batch.
    pub(super) fn reshape(&mut self, name: &str, x: &Value, dims: &[usize]) -> Value {
        let lengths = dims.iter().map(|&length| length as i64);
        let shape: Vec<i64> = std::iter::once(0).chain(lengths).collect();
        let shape = self.integers(&format!("{name}.shape"), &shape);
        self.node(name, "Reshape", &[&x.name, &shape], dims).0
    }
}
