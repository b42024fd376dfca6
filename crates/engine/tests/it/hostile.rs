//! Small files that ask for all memory or all time: each is refused by the operator that asks.

use faultlens_core::{DType, Tensor, TensorData};
use faultlens_engine::onnx::{self, GraphProto, ModelBuilder};
use faultlens_engine::{Dim, EngineError, Model};
use std::path::Path;

/// Loads a model and asks it about zeros.
fn answer(model: &onnx::ModelProto) -> Result<Vec<Tensor>, EngineError> {
    let model = Model::from_proto(model)?;
    let graph = model.graph();
    let mut feeds = Vec::new();
    for &input in graph.inputs() {
        let dims = graph.declared_shape(input).unwrap_or(&[]);
        let shape: Vec<usize> = dims
            .iter()
            .map(|dim| match dim {
                Dim::Fixed(length) => *length,
                Dim::Free(_) => 1,
            })
            .collect();
        let count: usize = shape.iter().product();
        let zeros: TensorData = match graph.declared_dtype(input) {
            Some(DType::I64) => vec![0i64; count].into(),
            _ => vec![0f32; count].into(),
        };
        feeds.push((graph.value_name(input), Tensor::new(shape, zeros).unwrap()));
    }
    let golden = model.golden(&feeds);
    let plain = model.run(&feeds)?;
    golden.map(|_| plain)
}

#[test]
fn files_that_ask_for_everything_are_refused_by_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile");
    for (file, op_type) in [
        ("concat40.onnx", "Concat"),
        ("depthtospace.onnx", "DepthToSpace"),
        ("loop.onnx", "Loop"),
        ("range.onnx", "Range"),
        ("topk.onnx", "TopK"),
    ] {
        let error = answer(&onnx::read(&folder.join(file)).unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("operator ") && error.contains(op_type), "{file}: {error}");
    }
}

/// A model with an input `x` of shape 1×4×8×8, to which operators are added.
fn model(add: impl FnOnce(&mut ModelBuilder)) -> onnx::ModelProto {
    let mut builder = ModelBuilder::new("hostile");
    let dims = [1, 4, 8, 8].map(Dim::from);
    builder.input("x", DType::F32, &dims);
    add(&mut builder);
    builder.output("y", DType::F32, &[]);
    builder.build()
}

fn ints(builder: &mut ModelBuilder, name: &str, numbers: &[i64]) {
    builder.initializer(name, Tensor::vector(numbers.to_vec()));
}

fn number(builder: &mut ModelBuilder, name: &str, number: i64) {
    builder.initializer(name, Tensor::new(vec![], vec![number]).unwrap());
}

/// An operator that would make far too much, by how it is added.
type Hostile = (&'static str, fn(&mut ModelBuilder));

const HUGE: i64 = 1 << 40;

/// Every operator whose answer can be much larger than its operands.
const GROWING: &[Hostile] = &[
    ("Expand", |m| {
        ints(m, "to", &[HUGE, 4, 8, 8]);
        m.node("Expand", &["x", "to"], &["y"]).name("n");
    }),
    ("Tile", |m| {
        ints(m, "by", &[HUGE, HUGE, 1, 1]);
        m.node("Tile", &["x", "by"], &["y"]).name("n");
    }),
    ("Pad", |m| {
        ints(m, "by", &[0, 0, 0, 0, 0, 0, i64::MAX, 0]);
        m.node("Pad", &["x", "by"], &["y"]).name("n");
    }),
    ("Resize", |m| {
        ints(m, "to", &[1, 4, HUGE, 8]);
        m.node("Resize", &["x", "", "", "to"], &["y"]).name("n");
    }),
    ("Upsample", |m| {
        m.initializer("by", Tensor::vector(vec![1.0f32, 1.0, 1e9, 1e9]));
        m.node("Upsample", &["x", "by"], &["y"]).name("n");
    }),
    ("ConstantOfShape", |m| {
        ints(m, "of", &[HUGE, HUGE, HUGE]);
        m.node("ConstantOfShape", &["of"], &["y"]).name("n");
    }),
    ("OneHot", |m| {
        ints(m, "at", &[1, 2, 3]);
        number(m, "depth", HUGE);
        m.initializer("values", Tensor::vector(vec![0.0f32, 1.0]));
        m.node("OneHot", &["at", "depth", "values"], &["y"]).name("n");
    }),
    ("Range", |m| {
        for (name, value) in [("from", 0.0f32), ("to", 1e15), ("by", 1.0)] {
            m.initializer(name, Tensor::new(vec![], vec![value]).unwrap());
        }
        m.node("Range", &["from", "to", "by"], &["y"]).name("n");
    }),
    ("TopK", |m| {
        ints(m, "k", &[HUGE]);
        m.node("TopK", &["x", "k"], &["y", "at"]).name("n");
    }),
    ("Gather", |m| {
        // 2²⁰ rows of 2²⁰ elements each, from two files' worth of zeros.
        ints(m, "to", &[1, 1 << 20]);
        m.node("ConstantOfShape", &["to"], &["row"]);
        ints(m, "many", &[1 << 20]);
        m.node("ConstantOfShape", &["many"], &["floats"]);
        m.node("Cast", &["floats"], &["at"]).attr_i("to", 7);
        m.node("Gather", &["row", "at"], &["y"]).name("n");
    }),
    ("ConvTranspose", |m| {
        m.initializer("w", Tensor::new(vec![4, 1, 1, 1], vec![1.0f32; 4]).unwrap());
        m.node("ConvTranspose", &["x", "w"], &["y"]).name("n").attr_ints("strides", &[1 << 24, 9]);
    }),
    ("Conv", |m| {
        m.initializer("w", Tensor::new(vec![1, 4, 1, 1], vec![1.0f32; 4]).unwrap());
        let node = m.node("Conv", &["x", "w"], &["y"]).name("n");
        node.attr_ints("kernel_shape", &[1, 1]).attr_ints("pads", &[1 << 20, 1 << 20, 0, 0]);
    }),
    ("MatMul", |m| {
        ints(m, "tall", &[1 << 20, 1]);
        ints(m, "wide", &[1, 1 << 20]);
        m.node("ConstantOfShape", &["tall"], &["a"]);
        m.node("ConstantOfShape", &["wide"], &["b"]);
        m.node("MatMul", &["a", "b"], &["y"]).name("n");
    }),
    ("Einsum", |m| {
        ints(m, "long", &[1 << 20]);
        m.node("ConstantOfShape", &["long"], &["a"]);
        let node = m.node("Einsum", &["a", "a"], &["y"]).name("n");
        node.attr_s("equation", "i,j->ij");
    }),
    ("Less", |m| {
        ints(m, "tall", &[1 << 20, 1]);
        ints(m, "wide", &[1, 1 << 20]);
        m.node("ConstantOfShape", &["tall"], &["a"]);
        m.node("ConstantOfShape", &["wide"], &["b"]);
        m.node("Less", &["a", "b"], &["y"]).name("n");
    }),
    ("RoiAlign", |m| {
        m.initializer("rois", Tensor::new(vec![1, 4], vec![0.0f32, 0.0, 4.0, 4.0]).unwrap());
        ints(m, "of", &[0]);
        let node = m.node("RoiAlign", &["x", "rois", "of"], &["y"]).name("n");
        node.attr_i("output_height", HUGE).attr_i("output_width", HUGE);
    }),
    ("SpaceToDepth", |m| {
        ints(m, "of", &[1, 1, 0, 0]);
        m.node("ConstantOfShape", &["of"], &["none"]);
        m.node("SpaceToDepth", &["none"], &["y"]).name("n").attr_i("blocksize", 1 << 32);
    }),
    ("Unsqueeze", |m| {
        ints(m, "axes", &(0..300).collect::<Vec<_>>());
        m.node("Unsqueeze", &["x", "axes"], &["y"]).name("n");
    }),
];

#[test]
fn every_operator_that_can_grow_is_measured_before_it_runs() {
    for (op_type, add) in GROWING {
        let error = answer(&model(add)).unwrap_err().to_string();
        assert!(error.contains(&format!("operator n ({op_type})")), "{op_type}: {error}");
    }
}

/// The body of a loop that carries one value, with these operators from `v` to `next`.
fn body(add: impl FnOnce(&mut ModelBuilder)) -> GraphProto {
    let mut builder = ModelBuilder::new("body");
    builder.input("turn", DType::I64, &[]);
    builder.input("go", DType::Bool, &[]);
    builder.input("v", DType::F32, &[]);
    builder.node("Identity", &["go"], &["on"]);
    add(&mut builder);
    builder.output("on", DType::Bool, &[]);
    builder.output("next", DType::F32, &[]);
    builder.build().graph.unwrap()
}

#[test]
fn what_loops_make_is_measured_in_every_turn() {
    let doubling = body(|m| {
        m.node("Concat", &["v", "v"], &["next"]).name("double").attr_i("axis", 0);
    });
    let turning = || {
        body(|m| {
            m.node("Identity", &["v"], &["next"]);
        })
    };
    let nested = body(|m| {
        m.initializer("turns", Tensor::new(vec![], vec![1i64 << 13]).unwrap());
        m.node("Loop", &["turns", "", "v"], &["next"]).name("within").attr_g("body", turning());
    });
    for (body, name) in [(doubling, "operator double (Concat)"), (nested, "operator within (Loop)")]
    {
        let error = answer(&model(|m| {
            number(m, "turns", i64::MAX);
            m.node("Loop", &["turns", "", "x"], &["y"]).name("outer").attr_g("body", body);
        }));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}
