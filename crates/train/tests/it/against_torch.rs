//! A whole network against PyTorch: gradients at inference, and three steps of training by each optimiser.

use faultlens_core::{DType, Tensor};
use faultlens_engine::onnx::{self, ModelBuilder, ModelProto};
use faultlens_engine::{EngineError, Learner, Loss, Model};
use faultlens_train::{Descent, OPTIMISERS, Settings, optimiser};
use serde_json::Value;
use std::collections::BTreeMap;

fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/training.json")).unwrap()
}

fn tensor(value: &Value) -> Tensor {
    let numbers = |key: &str| value[key].as_array().unwrap().iter();
    let shape = numbers("shape").map(|n| n.as_u64().unwrap() as usize).collect();
    let values: Vec<f32> = numbers("values").map(|n| n.as_f64().unwrap() as f32).collect();
    Tensor::new(shape, values).unwrap()
}

fn tensors(value: &Value) -> BTreeMap<String, Tensor> {
    value.as_object().unwrap().iter().map(|(name, t)| (name.clone(), tensor(t))).collect()
}

/// The network of `fixtures/make_training.py`.
fn network(fixture: &Value) -> ModelProto {
    let mut model = ModelBuilder::new("small");
    model.input("image", DType::F32, &["N".into(), 3.into(), 9.into(), 11.into()]);
    for (name, weight) in tensors(&fixture["weights"]) {
        model.initializer(&name, weight);
    }
    let norm = |model: &mut ModelBuilder, name: &str, from: &str| {
        let parts = ["scale", "bias", "mean", "var"].map(|part| format!("{name}.{part}"));
        let mut inputs = vec![from];
        inputs.extend(parts.iter().map(String::as_str));
        model.node("BatchNormalization", &inputs, &[name]);
    };
    let same = [1, 1, 1, 1];
    model.node("Conv", &["image", "conv1.weight"], &["conv1"]).attr_ints("pads", &same);
    norm(&mut model, "bn1", "conv1");
    model.node("Relu", &["bn1"], &["relu1"]);
    model.node("Conv", &["relu1", "conv2.weight"], &["conv2"]).attr_ints("pads", &same);
    norm(&mut model, "bn2", "conv2");
    model.node("Add", &["relu1", "bn2"], &["sum"]);
    model.node("Relu", &["sum"], &["relu2"]);
    let pool = model.node("MaxPool", &["relu2"], &["pool"]).attr_ints("kernel_shape", &[3, 3]);
    pool.attr_ints("strides", &[2, 2]).attr_ints("pads", &same);
    let conv = model.node("Conv", &["pool", "conv3.weight"], &["conv3"]);
    conv.attr_ints("strides", &[2, 2]).attr_ints("pads", &same).attr_i("group", 2);
    norm(&mut model, "bn3", "conv3");
    model.node("LeakyRelu", &["bn3"], &["leaky"]).attr_f("alpha", 0.1);
    model.node("GlobalAveragePool", &["leaky"], &["mean"]);
    model.node("Flatten", &["mean"], &["flat"]);
    model.node("Gemm", &["flat", "fc.weight", "fc.bias"], &["logits"]).attr_i("transB", 1);
    model.output("logits", DType::F32, &["N".into(), 5.into()]);
    model.build()
}

/// Cross-entropy and its gradient, in double precision.
fn cross_entropy(logits: &Tensor, labels: &Value) -> (f64, Tensor) {
    let &[n, classes] = logits.shape() else { panic!("rows of logits") };
    let mut loss = 0.0;
    let mut gradient = Vec::new();
    for (row, label) in logits.as_f32().unwrap().chunks(classes).zip(labels.as_array().unwrap()) {
        let label = label.as_u64().unwrap() as usize;
        let powers: Vec<f64> = row.iter().map(|&x| f64::from(x).exp()).collect();
        let sum: f64 = powers.iter().sum();
        loss -= (powers[label] / sum).ln() / n as f64;
        for (class, power) in powers.iter().enumerate() {
            let own = if class == label { 1.0 } else { 0.0 };
            gradient.push(((power / sum - own) / n as f64) as f32);
        }
    }
    (loss, Tensor::new(vec![n, classes], gradient).unwrap())
}

fn compare(name: &str, found: &Tensor, wanted: &Tensor, allowed: f32) {
    assert_eq!(found.shape(), wanted.shape(), "{name}");
    let found = found.as_f32().unwrap();
    let wanted = wanted.as_f32().unwrap();
    let largest = wanted.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    for (at, (f, w)) in found.iter().zip(wanted).enumerate() {
        assert!((f - w).abs() <= allowed * largest, "{name}[{at}]: {f} instead of {w}");
    }
}

#[test]
fn gradients_at_inference() {
    let fixture = fixture();
    let model = Model::from_proto(&network(&fixture)).unwrap();
    let golden = model.golden(&[("image", tensor(&fixture["images"]))]).unwrap();
    let (_, seed) = cross_entropy(&golden.outputs()[0], &fixture["labels"]);
    let wanted = tensors(&fixture["inference"]);
    let ids: Vec<_> = wanted.keys().map(|name| model.graph().find(name).unwrap()).collect();
    let found = golden.gradients(&[(model.graph().outputs()[0], seed)], &ids).unwrap();
    for ((name, wanted), found) in wanted.iter().zip(&found) {
        compare(name, found, wanted, 1e-5);
    }
}

/// Trains for as many steps as the fixture has losses.
fn descend(fixture: &Value, run: &Value, threads: usize) -> ModelProto {
    let number = |from: &Value, key: &str| from[key].as_f64().unwrap();
    let learning_rate = number(run, "rate");
    let momentum = number(run, "momentum");
    let settings = Settings { learning_rate, momentum, weight_decay: number(fixture, "decay") };
    let rule = optimiser(run["optimiser"].as_str().unwrap()).unwrap();
    let mut descent = Descent::new(rule, settings, None);
    let mut learner = Learner::new(&network(fixture), threads).unwrap();
    for wanted in run["losses"].as_array().unwrap() {
        let feeds = [("image", tensor(&fixture["images"]))];
        let loss = learner.step(&feeds, 0, |answers| {
            let (value, seed) = cross_entropy(&answers.value("logits")?, &fixture["labels"]);
            Ok::<Loss, EngineError>(Loss { value, gradients: vec![("logits".into(), seed)] })
        });
        let loss = loss.unwrap();
        let wanted = wanted.as_f64().unwrap();
        assert!((loss - wanted).abs() < 1e-5 * wanted, "{rule:?}: {loss} instead of {wanted}");
        descent.step(&mut learner, learning_rate);
    }
    learner.to_proto()
}

#[test]
fn three_steps_of_every_optimiser_on_one_and_two_threads() {
    let fixture = fixture();
    let runs = fixture["runs"].as_array().unwrap();
    for optimiser in OPTIMISERS {
        assert!(runs.iter().any(|run| run["optimiser"] == optimiser.name()), "{optimiser:?}");
    }
    for run in runs {
        let after = descend(&fixture, run, 1);
        for stored in &after.graph.as_ref().unwrap().initializer {
            let wanted = tensor(&run["after"][&stored.name]);
            let name = format!("{} {}", run["optimiser"], stored.name);
            compare(&name, &onnx::tensor(stored).unwrap(), &wanted, 2e-5);
        }
        let bytes = onnx::encode(&descend(&fixture, run, 2));
        assert!(onnx::encode(&after) == bytes, "the number of threads changes no bit");
    }
}
