//! Gradients against central differences and PyTorch, operator by operator.

mod batch_norm;
mod conv;
mod differences;
mod elementwise;
mod matmul;
mod normalise;
mod pool;
mod rearrange;
mod recurrent;
mod reduce;
mod resize;
mod threads;
mod torch;

use differences::Probe;
use faultlens_core::{DType, Tensor};
use faultlens_engine::Model;
use faultlens_engine::onnx::ModelBuilder;

#[test]
fn an_operator_without_a_rule_is_named() {
    let probe = Probe::new("Sign").operand(&[2, 3]);
    let error = probe.gradients(&probe.feeds()).unwrap_err().to_string();
    for part in ["node_under_test", "Sign", "crates/engine/src/gradient/mod.rs"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn doubles_on_the_way_are_refused() {
    let mut model = ModelBuilder::new("doubles");
    model.input("x", DType::F32, &[2.into()]);
    model.node("Cast", &["x"], &["d"]).attr_i("to", 11);
    model.node("Cast", &["d"], &["y"]).attr_i("to", 1);
    model.output("y", DType::F32, &[2.into()]);
    let model = Model::from_proto(&model.build()).unwrap();
    let golden = model.golden(&[("x", Tensor::vector(vec![1.0f32, 2.0]))]).unwrap();
    let (x, y) = (model.graph().inputs()[0], model.graph().outputs()[0]);
    let error = golden.gradients(&[(y, Tensor::vector(vec![1.0f32; 2]))], &[x]).unwrap_err();
    assert!(error.to_string().contains("d is f64"), "{error}");
}

#[test]
fn seeds_and_wanted_values_are_checked() {
    let mut model = ModelBuilder::new("plain");
    model.input("x", DType::F32, &[2.into()]);
    model.initializer("unused", Tensor::vector(vec![1.0f32; 3]));
    model.node("Relu", &["x"], &["y"]);
    model.output("y", DType::F32, &[2.into()]);
    let model = Model::from_proto(&model.build()).unwrap();
    let golden = model.golden(&[("x", Tensor::vector(vec![1.0f32, -2.0]))]).unwrap();
    let find = |name: &str| model.graph().find(name).unwrap();
    let seed = |n: usize| vec![(find("y"), Tensor::vector(vec![1.0f32; n]))];
    let error = golden.gradients(&seed(3), &[find("x")]).unwrap_err().to_string();
    assert!(error.contains("[2]") && error.contains("[3]"), "{error}");
    let found = golden.gradients(&seed(2), &[find("unused"), find("x"), find("y"), find("x")]);
    let found: Vec<Vec<f32>> =
        found.unwrap().iter().map(|t| t.as_f32().unwrap().to_vec()).collect();
    assert_eq!(found, [vec![0.0; 3], vec![1.0, 0.0], vec![1.0; 2], vec![1.0, 0.0]]);
}
