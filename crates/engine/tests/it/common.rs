//! Fixtures: one model per file, with what to feed and what ONNX Runtime answered.

use faultlens_core::{Tensor, TensorData};
use faultlens_engine::onnx::{self, ModelProto};
use std::path::{Path, PathBuf};

/// A model, its feeds and the answers it must give.
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) model: ModelProto,
    pub(crate) feeds: Vec<(String, Tensor)>,
    pub(crate) expected: Vec<(String, Tensor)>,
}

impl Fixture {
    pub(crate) fn read(path: &Path) -> Self {
        let mut model = onnx::read(path).unwrap();
        let (mut feeds, mut expected) = (Vec::new(), Vec::new());
        if let Some(graph) = &mut model.graph {
            graph.initializer.retain(|tensor| {
                let kept = |list: &mut Vec<(String, Tensor)>, name: &str| {
                    list.push((name.to_owned(), onnx::tensor(tensor).unwrap()));
                };
                if let Some(name) = tensor.name.strip_prefix("feed/") {
                    kept(&mut feeds, name);
                } else if let Some(name) = tensor.name.strip_prefix("expected/") {
                    kept(&mut expected, name);
                } else if !tensor.name.starts_with("default/") {
                    return true;
                }
                false
            });
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Self { name, model, feeds, expected }
    }

    pub(crate) fn feeds(&self) -> Vec<(&str, Tensor)> {
        self.feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect()
    }
}

/// All fixtures of operators, sorted by name.
pub(crate) fn operator_fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ops");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The elements as double precision.
pub(crate) fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.data() {
        TensorData::F32(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::F16(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::BF16(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::F64(v) => v.clone(),
        TensorData::I8(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::U8(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::I16(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::U16(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::I32(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::U32(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::I64(v) => v.iter().map(|&x| x as f64).collect(),
        TensorData::U64(v) => v.iter().map(|&x| x as f64).collect(),
        TensorData::Bool(v) => v.iter().map(|&x| f64::from(u8::from(x))).collect(),
    }
}

/// Why two answers differ, if they do: type, shape, NaN and infinities exactly, other numbers
/// within `tolerance` of the larger one.
pub(crate) fn mismatch(got: &Tensor, want: &Tensor, tolerance: f64) -> Option<String> {
    if got.dtype() != want.dtype() {
        return Some(format!("type {} instead of {}", got.dtype().name(), want.dtype().name()));
    }
    if got.shape() != want.shape() {
        return Some(format!("shape {:?} instead of {:?}", got.shape(), want.shape()));
    }
    let near = |g: f64, w: f64| {
        g == w
            || (g.is_nan() && w.is_nan())
            || (g.is_finite() && w.is_finite() && (g - w).abs() <= tolerance * w.abs().max(1.0))
    };
    let pairs = numbers(got).into_iter().zip(numbers(want)).enumerate();
    let wrong: Vec<String> = pairs
        .filter(|(_, (g, w))| !near(*g, *w))
        .map(|(i, (g, w))| format!("[{i}] {g} instead of {w}"))
        .collect();
    (!wrong.is_empty())
        .then(|| format!("{} elements: {}", wrong.len(), wrong[..wrong.len().min(4)].join(", ")))
}
