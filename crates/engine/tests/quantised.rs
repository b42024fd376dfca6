//! Quantised operators give ONNX Runtime's answers, whole numbers to the last bit.

mod common;

use common::{Fixture, mismatch, operator_fixtures};
use faultlens_core::Tensor;
use faultlens_engine::Model;

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
    let lines = |f: &Fixture| differences(f).into_iter().map(|d| format!("{}: {d}\n", f.name)).collect();
    let report: Vec<String> = fixtures.iter().flat_map(lines as fn(&_) -> Vec<_>).collect();
    assert!(report.is_empty(), "\n{}", report.concat());
}
