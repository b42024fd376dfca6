//! What a benchmark measures: a model of the zoo or of a file, and something to ask it.

use crate::zoo::ZOO;
use anyhow::{Context, Result, bail};
use faultlens_core::{DType, Tensor, TensorData};
use faultlens_engine::onnx::{self, ModelProto};
use faultlens_engine::{Dim, Model};
use std::path::Path;

/// The model that `name` means: one of the zoo, or a file.
pub fn model(name: &str) -> Result<ModelProto> {
    if let Some((_, build)) = ZOO.iter().find(|(known, _)| *known == name) {
        return Ok(build(1));
    }
    if !name.ends_with(".onnx") {
        let known: Vec<&str> = ZOO.iter().map(|(name, _)| *name).collect();
        bail!("{name} is neither a file nor one of {}", known.join(", "));
    }
    Ok(onnx::read(Path::new(name))?)
}

/// A tensor for the model's only input: the first image of a file of raw little-endian `f32`, or
/// a smooth pattern.
pub fn feed(model: &Model, raw: Option<&Path>) -> Result<(String, Tensor)> {
    let graph = model.graph();
    let id = *graph.inputs().first().context("the model has no input")?;
    let dims = graph.declared_shape(id).context("the input declares no shape")?;
    let length = |(axis, dim): (usize, &Dim)| match dim {
        Dim::Fixed(n) => *n,
        Dim::Free(_) if axis == 0 => 1,
        Dim::Free(_) => 224,
    };
    let shape: Vec<usize> = dims.iter().enumerate().map(length).collect();
    let count: usize = shape.iter().product();
    let data: TensorData = match raw {
        Some(path) => {
            let bytes = std::fs::read(path).with_context(|| format!("{}", path.display()))?;
            let floats = bytes.chunks_exact(4).take(count);
            floats.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect::<Vec<_>>().into()
        }
        None => {
            let wave = |i: usize| (i as f32 * 0.01).sin() + (i as f32 * 0.000_37).cos();
            (0..count).map(wave).collect::<Vec<f32>>().into()
        }
    };
    if graph.declared_dtype(id) != Some(DType::F32) {
        bail!("only models that take f32 are measured");
    }
    Ok((graph.value_name(id).to_owned(), Tensor::new(shape, data)?))
}
