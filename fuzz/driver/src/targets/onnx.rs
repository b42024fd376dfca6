//! ONNX models: read, prepared, asked, disturbed, and opened as a target.

use crate::{FuzzTarget, mutate};
use faultlens_core::{DType, Image, Target as _, Tensor, TensorData};
use faultlens_engine::onnx::{self, ModelProto};
use faultlens_engine::{Change, Dim, Graph, Model, ValueId};
use faultlens_targets::{OnnxTarget, PartialDescription};

/// Models of strangers.
pub const TARGET: FuzzTarget = FuzzTarget {
    name: "onnx",
    run,
    fixtures: &[
        ("crates/engine/tests/fixtures", ".onnx"),
        ("crates/vision/tests/fixtures", ".onnx"),
    ],
    mutate: mutate::onnx,
};

/// Elements that are fed at most: honest inputs, not the size of them, are what is looked for.
const MAX_FED: usize = 1 << 16;

/// Reads a model and does with it what a campaign does.
pub fn run(bytes: &[u8]) {
    let Ok(proto) = onnx::decode(bytes.to_vec().into()) else { return };
    let Ok(model) = Model::from_proto(&proto) else { return };
    if let Some(feeds) = feeds(model.graph(), &proto) {
        let feeds: Vec<(&str, Tensor)> =
            feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
        drop(model.run(&feeds));
        disturb(&model, &feeds);
    }
    let Ok(target) = OnnxTarget::new(model, PartialDescription::default(), String::new()) else {
        return;
    };
    // A small image is enough to see what becomes of one, unless the model makes it large.
    let small = target.description().input.size.iter().product::<usize>() <= MAX_FED;
    if let (true, Ok(image)) = (small, Image::from_rgb(5, 4, vec![90; 60])) {
        drop(target.ask(&image));
    }
}

/// A golden run, and one bit flipped in the first value that an operator makes.
fn disturb(model: &Model, feeds: &[(&str, Tensor)]) {
    let Ok(golden) = model.golden(feeds) else { return };
    let made = model.graph().operators().iter().find_map(|operator| operator.makes().next());
    let Some(made) = made else { return };
    if let Ok(change) = Change::flip(&golden, made, 0, 5) {
        drop(golden.replay(&[change]));
    }
}

/// What the file itself says to feed (`feed/NAME`, as fixtures do), else numbers from zero upwards.
fn feeds(graph: &Graph, proto: &ModelProto) -> Option<Vec<(String, Tensor)>> {
    let mut feeds = Vec::new();
    for &input in graph.inputs() {
        let name = graph.value_name(input).to_owned();
        let stored = proto.graph.as_ref()?.initializer.iter();
        let given = stored.into_iter().find(|t| t.name.strip_prefix("feed/") == Some(&*name));
        let tensor = match given.and_then(|tensor| onnx::tensor(tensor).ok()) {
            Some(tensor) => tensor,
            None => numbers(graph, input)?,
        };
        feeds.push((name, tensor));
    }
    Some(feeds)
}

fn numbers(graph: &Graph, input: ValueId) -> Option<Tensor> {
    let mut shape = Vec::new();
    let mut count = 1usize;
    for dim in graph.declared_shape(input).unwrap_or(&[]) {
        let length = match dim {
            Dim::Fixed(length) => *length,
            Dim::Free(_) => 2,
        };
        shape.push(length);
        count = count.checked_mul(length).filter(|&count| count <= MAX_FED)?;
    }
    let data: TensorData = match graph.declared_dtype(input) {
        Some(DType::I64) => (0..count as i64).collect::<Vec<_>>().into(),
        Some(DType::I32) => (0..count as i32).collect::<Vec<_>>().into(),
        Some(DType::U8) => (0..count).map(|x| x as u8).collect::<Vec<_>>().into(),
        Some(DType::I8) => (0..count).map(|x| x as i8).collect::<Vec<_>>().into(),
        Some(DType::Bool) => vec![true; count].into(),
        Some(DType::F64) => (0..count).map(|x| x as f64).collect::<Vec<_>>().into(),
        _ => (0..count).map(|x| x as f32).collect::<Vec<_>>().into(),
    };
    Tensor::new(shape, data).ok()
}
