//! Quantised operators against ONNX Runtime's answers: one fixture per case, which carries the
//! values to feed (`feed/…`) and those to expect (`expected/…`) as initializers.

use faultlens_core::{Tensor, TensorData};
use faultlens_engine::{Model, onnx};
use std::path::{Path, PathBuf};

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

/// Fixtures that the folder held when this test was written: fewer means that some were not found.
const AT_LEAST: usize = 85;

struct Fixture {
    model: Model,
    feeds: Vec<(String, Tensor)>,
    expected: Vec<(String, Tensor)>,
}

impl Fixture {
    fn read(path: &Path) -> Self {
        let mut proto = onnx::read(path).unwrap();
        let (mut feeds, mut expected) = (Vec::new(), Vec::new());
        let graph = proto.graph.as_mut().unwrap();
        graph.initializer.retain(|initializer| {
            let Some((kind, name)) = initializer.name.split_once('/') else { return true };
            let named = (name.to_owned(), onnx::tensor(initializer).unwrap());
            match kind {
                "feed" => feeds.push(named),
                "expected" => expected.push(named),
                _ => {}
            }
            false
        });
        Self { model: Model::from_proto(&proto).unwrap(), feeds, expected }
    }

    /// What does not agree with ONNX Runtime, output by output.
    fn differences(&self) -> Vec<String> {
        let feeds: Vec<(&str, Tensor)> =
            self.feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
        match self.model.run(&feeds) {
            Ok(answers) => {
                let pairs = answers.iter().zip(&self.expected);
                pairs.filter_map(|(got, (name, want))| difference(name, got, want)).collect()
            }
            Err(error) => vec![error.to_string()],
        }
    }
}

/// Whole numbers must be the same, floats within 1e-5 of the larger one.
fn difference(name: &str, got: &Tensor, want: &Tensor) -> Option<String> {
    if (got.shape(), got.dtype()) != (want.shape(), want.dtype()) {
        let of = |t: &Tensor| format!("{} {:?}", t.dtype().name(), t.shape());
        return Some(format!("{name} is {}, not {}", of(got), of(want)));
    }
    let (TensorData::F32(a), TensorData::F32(b)) = (got.data(), want.data()) else {
        return (got != want).then(|| format!("{name}: {:?}, not {:?}", got.data(), want.data()));
    };
    let near = |x: f32, y: f32| {
        x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= 1e-5 * x.abs().max(y.abs())
    };
    let at = a.iter().zip(b).position(|(&x, &y)| !near(x, y))?;
    Some(format!("{name}[{at}] is {}, not {}", a[at], b[at]))
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ops");
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let quantised = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy();
        name.split_once("__").is_some_and(|(operator, _)| OPERATORS.contains(&operator))
    };
    let mut paths: Vec<PathBuf> = paths.filter(quantised).collect();
    paths.sort();
    paths
}

#[test]
fn quantised_operators_answer_as_onnx_runtime_does() {
    let paths = fixtures();
    assert!(paths.len() >= AT_LEAST, "{} fixtures", paths.len());
    let mut report = String::new();
    for path in &paths {
        for line in Fixture::read(path).differences() {
            report += &format!("{}: {line}\n", path.file_stem().unwrap().to_string_lossy());
        }
    }
    assert!(report.is_empty(), "\n{report}");
}
