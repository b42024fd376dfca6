//! Quantised operators give ONNX Runtime's answers, whole numbers to the last bit.

use crate::common::{Fixture, mismatch, operator_fixtures};
use faultlens_core::{Tensor, TensorData};
use faultlens_engine::onnx::{self, ModelProto};
use faultlens_engine::{Change, Model};
use std::path::Path;

/// The operators whose fixtures are read here.
const OPERATORS: &[&str] = &[
    "ConvInteger",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "DynamicQuantizeMatMul",
    "MatMulInteger",
    "MatMulIntegerToFloat",
    "QGemm",
    "QLinearAdd",
    "QLinearAveragePool",
    "QLinearConcat",
    "QLinearConv",
    "QLinearGlobalAveragePool",
    "QLinearLeakyRelu",
    "QLinearMatMul",
    "QLinearMul",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QuantizeLinear",
];

/// Fewer fixtures than these mean that some were not found.
const AT_LEAST: usize = 85;

/// What does not agree, one line per output.
fn differences(fixture: &Fixture) -> Vec<String> {
    let answers = Model::from_proto(&fixture.model).and_then(|model| model.run(&fixture.feeds()));
    let answers = match answers {
        Ok(answers) => answers,
        Err(error) => return vec![error.to_string()],
    };
    let compare = |(got, (name, want)): (&Tensor, &(String, Tensor))| {
        let tolerance = if want.as_f32().is_some() { 1e-5 } else { 0.0 };
        mismatch(got, want, tolerance).map(|why| format!("{name}: {why}"))
    };
    answers.iter().zip(&fixture.expected).filter_map(compare).collect()
}

#[test]
fn quantised_operators_answer_as_onnx_runtime_does() {
    let fixtures: Vec<Fixture> = operator_fixtures()
        .iter()
        .map(|path| Fixture::read(path))
        .filter(|f| f.name.split_once("__").is_some_and(|(name, _)| OPERATORS.contains(&name)))
        .collect();
    assert!(fixtures.len() >= AT_LEAST, "{} fixtures", fixtures.len());
    let lines =
        |f: &Fixture| differences(f).into_iter().map(|d| format!("{}: {d}\n", f.name)).collect();
    let report: Vec<String> = fixtures.iter().flat_map(lines as fn(&_) -> Vec<_>).collect();
    assert!(report.is_empty(), "\n{}", report.concat());
}

/// The model with bit 6 of one eight-bit weight flipped in the file.
fn with_flipped_bit(model: &ModelProto, name: &str, element: usize) -> ModelProto {
    let mut changed = model.clone();
    let graph = changed.graph.as_mut().unwrap();
    let weight = graph.initializer.iter_mut().find(|t| t.name == name).unwrap();
    let mut tensor = onnx::tensor(weight).unwrap();
    match tensor.data_mut() {
        TensorData::I8(v) => v[element] ^= 1 << 6,
        TensorData::U8(v) => v[element] ^= 1 << 6,
        other => panic!("{:?}", other.dtype()),
    }
    *weight = onnx::tensor_proto(name, &tensor);
    changed
}

/// Weights are packed once, so a replay must pack the changed ones again.
#[test]
fn a_changed_weight_is_replayed_as_if_the_file_had_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ops");
    for name in ["QLinearConv__u8s8_3x3", "QLinearConv__u8u8_depthwise", "QLinearMatMul__s8s8"] {
        let fixture = Fixture::read(&folder.join(format!("{name}.onnx")));
        let model = Model::from_proto(&fixture.model).unwrap();
        let golden = model.golden(&fixture.feeds()).unwrap();
        let weights = model.graph().find("x3").unwrap();
        for element in [0, 17] {
            let change = Change::flip(&golden, weights, element, 6).unwrap();
            let replay = golden.replay(&[change]).unwrap();
            let changed = Model::from_proto(&with_flipped_bit(&fixture.model, "x3", element));
            let plain = changed.unwrap().run(&fixture.feeds()).unwrap();
            assert_ne!(replay.outputs(), golden.outputs(), "{name}");
            assert_eq!(replay.outputs(), plain, "{name}");
        }
    }
}
