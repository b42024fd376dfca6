//! Random small networks: residual, concatenating, grouped, multi-output, with every operator that
//! computes windows.

use faultlens_core::{DType, Tensor};
use faultlens_engine::onnx::{Dim, ModelBuilder, ModelProto};

/// SplitMix64: small, seeded, the same everywhere.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32 * 2.0 - 1.0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

pub(crate) struct RandomModel {
    pub(crate) proto: ModelProto,
    pub(crate) feeds: Vec<(String, Tensor)>,
}

/// A plane made so far: its name and shape.
#[derive(Clone)]
struct Plane {
    name: String,
    c: usize,
    h: usize,
    w: usize,
}

struct Builder {
    model: ModelBuilder,
    rng: Rng,
    planes: Vec<Plane>,
    names: usize,
}

impl RandomModel {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let n = 1 + rng.below(2);
        let (c, h, w) = (rng.pick(&[1, 3, 4, 17]), 5 + rng.below(9), 5 + rng.below(9));
        let mut model = ModelBuilder::new("random").opset(13);
        model.input("x", DType::F32, &[Dim::Fixed(n), Dim::Fixed(c), Dim::Fixed(h), Dim::Fixed(w)]);
        let data: Vec<f32> = (0..n * c * h * w).map(|_| rng.float() * 2.0).collect();
        let feed = Tensor::new(vec![n, c, h, w], data).unwrap();
        let first = Plane { name: "x".into(), c, h, w };
        let mut builder = Builder { model, rng, planes: vec![first], names: 0 };
        for _ in 0..4 + builder.rng.below(8) {
            builder.grow();
        }
        builder.close();
        Self { proto: builder.model.build(), feeds: vec![("x".into(), feed)] }
    }
}

impl Builder {
    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn weight(&mut self, shape: &[usize], size: f32) -> String {
        let data: Vec<f32> = (0..shape.iter().product()).map(|_| self.rng.float() * size).collect();
        let name = format!("w{}", self.names);
        self.names += 1;
        self.model.initializer(&name, Tensor::new(shape.to_vec(), data).unwrap())
    }

    /// A recent plane, so that graphs grow deep as well as wide.
    fn plane(&mut self) -> Plane {
        let back = self.rng.below(self.planes.len().min(3));
        self.planes[self.planes.len() - 1 - back].clone()
    }

    fn push(&mut self, name: String, c: usize, h: usize, w: usize) {
        self.planes.push(Plane { name, c, h, w });
    }

    fn grow(&mut self) {
        match self.rng.below(14) {
            0..=3 => self.conv(),
            4 | 5 => self.unary(),
            6 => self.pool(),
            7 => self.silu(),
            8 => self.batch_norm(),
            9 => self.join(),
            10 => self.resize(),
            11 => self.slice(),
            12 => self.pad(),
            _ => self.squeeze_excite(),
        }
    }

    fn conv(&mut self) {
        let p = self.plane();
        let (kh, kw) = (self.rng.pick(&[1, 2, 3]), self.rng.pick(&[1, 3]));
        let stride = self.rng.pick(&[1, 1, 2]);
        let dilation = self.rng.pick(&[1, 1, 2]);
        let pad = self.rng.below(3);
        let reach = |k: usize| (k - 1) * dilation + 1;
        if p.h + 2 * pad < reach(kh) || p.w + 2 * pad < reach(kw) || p.h * p.w > 900 {
            return self.unary();
        }
        let groups = match self.rng.below(4) {
            0 => p.c,
            1 if p.c.is_multiple_of(2) => 2,
            _ => 1,
        };
        let outputs = if groups == 1 { self.rng.pick(&[1, 3, 16, 21, 70]) } else { p.c };
        let fan = (p.c / groups * kh * kw) as f32;
        let weights = self.weight(&[outputs, p.c / groups, kh, kw], 1.7 / fan.sqrt());
        let bias = self.weight(&[outputs], 0.3);
        let out = self.fresh();
        let inputs = [p.name.as_str(), &weights, &bias];
        let with_bias = self.rng.below(3) > 0;
        let pads = [pad as i64; 4];
        self.model
            .node("Conv", if with_bias { &inputs } else { &inputs[..2] }, &[&out])
            .attr_ints("pads", &pads)
            .attr_ints("strides", &[stride as i64; 2])
            .attr_ints("dilations", &[dilation as i64; 2])
            .attr_ints("kernel_shape", &[kh as i64, kw as i64])
            .attr_i("group", groups as i64);
        let length = |n: usize, k: usize| (n + 2 * pad - reach(k)) / stride + 1;
        self.push(out, outputs, length(p.h, kh), length(p.w, kw));
    }

    fn unary(&mut self) {
        let p = self.plane();
        let out = self.fresh();
        let op =
            self.rng.pick(&["Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish", "Abs", "Elu"]);
        let opset_ok = if op == "HardSwish" { "Relu" } else { op };
        self.model.node(opset_ok, &[&p.name], &[&out]);
        self.push(out, p.c, p.h, p.w);
    }

    fn pool(&mut self) {
        let p = self.plane();
        let op = self.rng.pick(&["MaxPool", "AveragePool"]);
        let stride = self.rng.pick(&[1, 2]);
        if p.h < 3 || p.w < 3 {
            return self.unary();
        }
        let out = self.fresh();
        self.model
            .node(op, &[&p.name], &[&out])
            .attr_ints("kernel_shape", &[3, 3])
            .attr_ints("pads", &[1, 1, 1, 1])
            .attr_ints("strides", &[stride as i64; 2]);
        let length = |n: usize| (n + 2 - 3) / stride + 1;
        self.push(out, p.c, length(p.h), length(p.w));
    }

    fn silu(&mut self) {
        let p = self.plane();
        let (gate, out) = (self.fresh(), self.fresh());
        self.model.node("Sigmoid", &[&p.name], &[&gate]);
        let swapped = self.rng.below(2) == 0;
        let inputs = if swapped { [gate.as_str(), &p.name] } else { [p.name.as_str(), &gate] };
        self.model.node("Mul", &inputs, &[&out]);
        self.push(out, p.c, p.h, p.w);
    }

    fn batch_norm(&mut self) {
        let p = self.plane();
        let parts: Vec<String> = (0..3).map(|_| self.weight(&[p.c], 0.8)).collect();
        let variance = Tensor::vector((0..p.c).map(|i| 0.5 + i as f32 * 0.1).collect::<Vec<f32>>());
        let name = self.fresh();
        let variance = self.model.initializer(&name, variance);
        let out = self.fresh();
        let inputs = [p.name.as_str(), &parts[0], &parts[1], &parts[2], &variance];
        self.model.node("BatchNormalization", &inputs, &[&out]);
        self.push(out, p.c, p.h, p.w);
    }

    /// Adds, subtracts or concatenates two planes of one size.
    fn join(&mut self) {
        let a = self.plane();
        let same = |b: &&Plane| b.h == a.h && b.w == a.w;
        let partners: Vec<Plane> = self.planes.iter().filter(same).cloned().collect();
        let b = partners[self.rng.below(partners.len())].clone();
        let out = self.fresh();
        if a.c == b.c && self.rng.below(2) == 0 {
            let op = self.rng.pick(&["Add", "Sub", "Mul", "Max"]);
            self.model.node(op, &[&a.name, &b.name], &[&out]);
            self.push(out, a.c, a.h, a.w);
        } else if a.c + b.c < 120 {
            self.model.node("Concat", &[&a.name, &b.name], &[&out]).attr_i("axis", 1);
            self.push(out, a.c + b.c, a.h, a.w);
        }
    }

    fn resize(&mut self) {
        let p = self.plane();
        if p.h * p.w > 200 {
            return self.pool();
        }
        let name = self.fresh();
        let scales = self.model.initializer(&name, Tensor::vector(vec![1.0f32, 1.0, 2.0, 2.0]));
        let out = self.fresh();
        let mode = self.rng.pick(&["nearest", "linear"]);
        self.model.node("Resize", &[&p.name, "", &scales], &[&out]).attr_s("mode", mode);
        self.push(out, p.c, p.h * 2, p.w * 2);
    }

    fn slice(&mut self) {
        let p = self.plane();
        if p.h < 4 || p.w < 4 {
            return self.unary();
        }
        let ints = |b: &mut Self, values: Vec<i64>| {
            let name = b.fresh();
            b.model.initializer(&name, Tensor::vector(values))
        };
        let starts = ints(self, vec![1, 0]);
        let ends = ints(self, vec![i64::MAX, i64::MAX]);
        let axes = ints(self, vec![2, 3]);
        let steps = ints(self, vec![1, 2]);
        let out = self.fresh();
        self.model.node("Slice", &[&p.name, &starts, &ends, &axes, &steps], &[&out]);
        self.push(out, p.c, p.h - 1, p.w.div_ceil(2));
    }

    fn pad(&mut self) {
        let p = self.plane();
        let mode = self.rng.pick(&["constant", "edge", "reflect"]);
        let name = self.fresh();
        let pads = self.model.initializer(&name, Tensor::vector(vec![0i64, 0, 1, 0, 0, 0, 1, 2]));
        let out = self.fresh();
        self.model.node("Pad", &[&p.name, &pads], &[&out]).attr_s("mode", mode);
        self.push(out, p.c, p.h + 2, p.w + 2);
    }

    fn squeeze_excite(&mut self) {
        let p = self.plane();
        let (pooled, gate, out) = (self.fresh(), self.fresh(), self.fresh());
        self.model.node("GlobalAveragePool", &[&p.name], &[&pooled]);
        self.model.node("Sigmoid", &[&pooled], &[&gate]);
        self.model.node("Mul", &[&p.name, &gate], &[&out]);
        self.push(out, p.c, p.h, p.w);
    }

    /// A classifier behind the last plane, and an earlier plane as a second output.
    fn close(&mut self) {
        let p = self.planes[self.planes.len() - 1].clone();
        let flat = self.fresh();
        let inputs = if self.rng.below(2) == 0 {
            let pooled = self.fresh();
            self.model.node("GlobalAveragePool", &[&p.name], &[&pooled]);
            self.model.node("Flatten", &[&pooled], &[&flat]);
            p.c
        } else {
            self.model.node("Flatten", &[&p.name], &[&flat]);
            p.c * p.h * p.w
        };
        let weights = self.weight(&[7, inputs], 1.0 / (inputs as f32).sqrt());
        let bias = self.weight(&[7], 0.1);
        self.model.node("Gemm", &[&flat, &weights, &bias], &["logits"]).attr_i("transB", 1);
        self.model.node("Softmax", &["logits"], &["probabilities"]);
        self.model.output("probabilities", DType::F32, &[]);
        if self.planes.len() > 2 {
            let early = self.planes[1 + self.rng.below(self.planes.len() - 1)].name.clone();
            self.model.output(&early, DType::F32, &[]);
        }
    }
}
