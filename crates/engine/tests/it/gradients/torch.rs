//! Gradients against PyTorch's, which `tests/fixtures/gradients/make_gradients.py` wrote.
//!
//! Operands with a wanted gradient are fed, all others are constants. To add cases, add JSON.

use faultlens_core::{DType, Tensor};
use faultlens_engine::onnx::{Dim, ModelBuilder, NodeBuilder};
use faultlens_engine::{Model, ValueId};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Relative to the operand's largest gradient: PyTorch computed in double precision.
const TOLERANCE: f64 = 1e-5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "says where the numbers come from")]
    versions: Map<String, Value>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    op_type: String,
    opset: i64,
    attributes: Map<String, Value>,
    operands: Vec<Operand>,
    /// The gradient of each result, where it has one.
    seeds: Vec<Option<Vec<f32>>>,
    /// The gradient of each operand, where it has one.
    wanted: Vec<Option<Vec<f64>>>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Operand {
    Float { shape: Vec<usize>, values: Vec<f32> },
    Int64 { shape: Vec<usize>, values: Vec<i64> },
    Bool { shape: Vec<usize>, values: Vec<bool> },
    Absent,
}

impl Operand {
    fn tensor(&self) -> Option<Tensor> {
        let tensor = match self {
            Self::Float { shape, values } => Tensor::new(shape.clone(), values.clone()),
            Self::Int64 { shape, values } => Tensor::new(shape.clone(), values.clone()),
            Self::Bool { shape, values } => Tensor::new(shape.clone(), values.clone()),
            Self::Absent => return None,
        };
        Some(tensor.unwrap())
    }
}

impl Case {
    fn fed(&self) -> Vec<(String, Tensor)> {
        let operands = self.operands.iter().zip(&self.wanted).enumerate();
        let fed = operands.filter(|(_, (_, wanted))| wanted.is_some());
        fed.map(|(at, (operand, _))| (format!("x{at}"), operand.tensor().unwrap())).collect()
    }

    fn model(&self) -> Model {
        let mut builder = ModelBuilder::new(&self.name).opset(self.opset);
        let mut inputs = Vec::new();
        for (at, (operand, wanted)) in self.operands.iter().zip(&self.wanted).enumerate() {
            let Some(tensor) = operand.tensor() else {
                inputs.push(String::new());
                continue;
            };
            inputs.push(format!("x{at}"));
            if wanted.is_some() {
                let dims: Vec<Dim> = tensor.shape().iter().map(|&n| n.into()).collect();
                builder.input(&inputs[at], DType::F32, &dims);
            } else {
                builder.initializer(&inputs[at], tensor);
            }
        }
        let results: Vec<String> = (0..self.seeds.len()).map(|r| format!("y{r}")).collect();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let outputs: Vec<&str> = results.iter().map(String::as_str).collect();
        let node = builder.node(&self.op_type, &inputs, &outputs);
        self.attributes.iter().fold(node, |node, (name, value)| attribute(node, name, value));
        for (result, _) in results.iter().zip(&self.seeds).filter(|(_, seed)| seed.is_some()) {
            builder.output(result, DType::F32, &[]);
        }
        Model::from_proto(&builder.build()).unwrap()
    }

    fn gradients(&self) -> Vec<Tensor> {
        let model = self.model();
        let fed = self.fed();
        let feeds: Vec<(&str, Tensor)> = fed.iter().map(|(n, t)| (n.as_str(), t.clone())).collect();
        let golden = model.golden(&feeds).unwrap();
        let seeds = model.graph().outputs().iter().zip(self.seeds.iter().flatten());
        let seeds: Vec<(ValueId, Tensor)> = seeds
            .map(|(&id, seed)| {
                let shape = golden.shape(id).unwrap().to_vec();
                (id, Tensor::new(shape, seed.clone()).unwrap())
            })
            .collect();
        golden.gradients(&seeds, model.graph().inputs()).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The first gradient that is not PyTorch's.
    fn mismatch(&self) -> Option<String> {
        for (operand, (found, wanted)) in
            self.gradients().iter().zip(self.wanted.iter().flatten()).enumerate()
        {
            let found = found.as_f32().unwrap();
            assert_eq!(found.len(), wanted.len(), "{}", self.name);
            let largest = wanted.iter().fold(1.0f64, |m, w| m.max(w.abs()));
            for (at, (&found, &wanted)) in found.iter().zip(wanted).enumerate() {
                let near = (f64::from(found) - wanted).abs() <= TOLERANCE * largest;
                if !near {
                    let name = &self.name;
                    return Some(format!("{name}: fed {operand}[{at}] has {found}, not {wanted}"));
                }
            }
        }
        None
    }
}

/// A JSON number is a float if it is written as one, a list one of floats if any of it is.
fn attribute<'a>(node: NodeBuilder<'a>, name: &str, value: &Value) -> NodeBuilder<'a> {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => node.attr_i(name, whole),
            None => node.attr_f(name, number.as_f64().unwrap() as f32),
        },
        Value::String(text) => node.attr_s(name, text),
        Value::Array(list) => match list.iter().map(Value::as_i64).collect::<Option<Vec<_>>>() {
            Some(wholes) => node.attr_ints(name, &wholes),
            None => {
                let floats = list.iter().map(|x| x.as_f64().unwrap() as f32);
                node.attr_floats(name, &floats.collect::<Vec<_>>())
            }
        },
        other => panic!("attribute {name} cannot be {other}"),
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gradients");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    files
}

#[test]
fn gradients_are_pytorchs() {
    let files = files();
    assert!(!files.is_empty());
    let mut mismatches = Vec::new();
    for path in files {
        let file: File = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        mismatches.extend(file.cases.iter().filter_map(Case::mismatch));
    }
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
}
