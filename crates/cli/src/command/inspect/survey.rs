//! Everything that `inspect` shows, as plain data: the JSON object is this struct.

use std::collections::BTreeMap;
use std::path::Path;

use faultlens::engine::{Dim, Golden, Graph, Model, Operator, ValueId, cost};
use faultlens::faults::{Anatomy, is_data};
use faultlens::vision::{
    Guess, InputDescription, OutputDescription, VisionError, guess_input, guess_output,
};
use faultlens::{DType, Tensor};
use serde::{Serialize, Serializer};

use super::blank;

/// What is inside a model.
#[derive(Serialize)]
pub(super) struct Survey {
    pub(super) model: String,
    pub(super) graph: String,
    pub(super) opset: i64,
    pub(super) inputs: Vec<Value>,
    pub(super) outputs: Vec<Value>,
    /// Operators with weights of their own that people call layers.
    pub(super) layers: usize,
    pub(super) parameters: u64,
    /// For one image; absent when the model could not be run.
    pub(super) macs: Option<u64>,
    /// The commonest type first.
    pub(super) operator_types: Vec<TypeCount>,
    /// In execution order.
    pub(super) operators: Vec<OperatorRow>,
    pub(super) sites: Sites,
    pub(super) input_guess: GuessRow<InputDescription>,
    pub(super) output_guess: GuessRow<OutputDescription>,
    /// Why shapes are only those that the file declares.
    pub(super) not_run: Option<String>,
}

/// A value with its type and shape.
#[derive(Serialize)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) dtype: Option<&'static str>,
    pub(super) shape: Option<Shape>,
}

/// A shape in which some axes may be free: numbers, or names.
pub(super) struct Shape(pub(super) Vec<Dim>);

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|dim| match dim {
            Dim::Fixed(n) => serde_json::Value::from(*n),
            Dim::Free(name) => serde_json::Value::from(name.as_str()),
        }))
    }
}

#[derive(Serialize)]
pub(super) struct TypeCount {
    pub(super) r#type: String,
    pub(super) count: usize,
}

#[derive(Serialize)]
pub(super) struct OperatorRow {
    pub(super) name: String,
    pub(super) r#type: String,
    pub(super) outputs: Vec<Value>,
    pub(super) parameters: u64,
    pub(super) macs: Option<u64>,
}

/// How many places a fault could be injected into.
#[derive(Serialize)]
pub(super) struct Sites {
    /// Absent when the model could not be run.
    pub(super) operator_outputs: Option<Extent>,
    pub(super) weights: Extent,
    /// Operators' outputs and weights that only feed shapes, indices and limits, which faults leave
    /// out by default; absent when the model could not be run.
    pub(super) control_values: Option<Extent>,
}

/// Elements of tensors, and their bits.
#[derive(Serialize, Default)]
pub(super) struct Extent {
    pub(super) tensors: u64,
    pub(super) elements: u64,
    pub(super) bits: u64,
}

impl Extent {
    fn add(mut self, elements: usize, dtype: DType) -> Self {
        self.tensors += 1;
        self.elements += elements as u64;
        self.bits += (elements * dtype.size() * 8) as u64;
        self
    }
}

/// A guess with its reasons, or why none is made.
#[derive(Serialize)]
pub(super) struct GuessRow<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<T>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reasons: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

impl<T> From<Result<Guess<T>, VisionError>> for GuessRow<T> {
    fn from(guess: Result<Guess<T>, VisionError>) -> Self {
        match guess {
            Ok(Guess { description, reasons }) => {
                Self { description: Some(description), reasons, error: None }
            }
            Err(error) => {
                Self { description: None, reasons: Vec::new(), error: Some(error.to_string()) }
            }
        }
    }
}

impl Survey {
    /// Runs the model once on a blank image, and counts.
    pub(super) fn new(model: &Model, path: &Path, size: Option<[usize; 2]>) -> Self {
        let graph = model.graph();
        let run = blank::feeds(graph, size).and_then(|feeds| Ok(model.golden(&feeds)?));
        let (golden, not_run) = match run {
            Ok(golden) => (Some(golden), None),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        let surveyor = Surveyor { graph, golden, anatomy: Anatomy::of(graph) };
        let operators: Vec<OperatorRow> =
            graph.operators().iter().map(|operator| surveyor.row(operator)).collect();
        let declared = |values: &[ValueId]| values.iter().map(|&v| surveyor.declared(v)).collect();
        let weights = surveyor.weights();
        Self {
            model: path.display().to_string(),
            graph: graph.name().to_owned(),
            opset: graph.opset(),
            inputs: declared(graph.inputs()),
            outputs: declared(graph.outputs()),
            layers: surveyor.anatomy.last() as usize,
            parameters: weights.elements,
            macs: operators.iter().map(|row| row.macs).sum(),
            operator_types: by_type(graph),
            sites: Sites {
                operator_outputs: surveyor.operator_outputs(),
                weights,
                control_values: surveyor.control_values(),
            },
            operators,
            input_guess: guess_input(graph, size).into(),
            output_guess: guess_output(graph).into(),
            not_run,
        }
    }
}

struct Surveyor<'a> {
    graph: &'a Graph,
    golden: Option<Golden<'a>>,
    anatomy: Anatomy,
}

impl Surveyor<'_> {
    fn row(&self, operator: &Operator) -> OperatorRow {
        let read = operator.inputs.iter().flatten();
        let parameters = read.filter_map(|&value| self.weight(value)).map(|w| w.len() as u64).sum();
        let shape = |golden: &Golden<'_>, value: ValueId| {
            self.graph
                .initializer(value)
                .map(Tensor::shape)
                .or_else(|| golden.shape(value))
                .map(<[usize]>::to_vec)
        };
        OperatorRow {
            name: operator.name.clone(),
            r#type: operator.op_type.clone(),
            outputs: operator.makes().map(|value| self.observed(value)).collect(),
            parameters,
            macs: self
                .golden
                .as_ref()
                .map(|golden| cost::macs(operator, |value| shape(golden, value))),
        }
    }

    /// As the file says.
    fn declared(&self, value: ValueId) -> Value {
        Value {
            name: self.graph.value_name(value).to_owned(),
            dtype: self.graph.declared_dtype(value).map(DType::name),
            shape: self.graph.declared_shape(value).map(|dims| Shape(dims.to_vec())),
        }
    }

    /// As the run showed, or else as the file says.
    fn observed(&self, value: ValueId) -> Value {
        let mut described = self.declared(value);
        if let Some(golden) = &self.golden {
            described.shape = golden
                .shape(value)
                .map(|shape: &[usize]| Shape(shape.iter().map(|&n| Dim::Fixed(n)).collect()))
                .or(described.shape);
            described.dtype = golden.dtype(value).map(DType::name).or(described.dtype);
        }
        described
    }

    /// Only what is computed from the image: a fault in what never changes is one in a weight.
    fn operator_outputs(&self) -> Option<Extent> {
        let golden = self.golden.as_ref()?;
        let mut extent = Extent::default();
        for value in self.graph.operators().iter().flat_map(Operator::makes) {
            let is_left_out = self.anatomy.is_constant(value) || self.anatomy.is_control(value);
            if let (Some(shape), Some(dtype)) = (golden.shape(value), golden.dtype(value))
                && !is_left_out
                && is_data(self.graph, value, dtype)
            {
                extent = extent.add(shape.iter().product(), dtype);
            }
        }
        Some(extent)
    }

    /// Of any type, since whole numbers are most of them.
    fn control_values(&self) -> Option<Extent> {
        let golden = self.golden.as_ref()?;
        let stored = self.graph.initializers().map(|(value, _)| value);
        let made = self.graph.operators().iter().flat_map(Operator::makes);
        let mut extent = Extent::default();
        for value in stored.chain(made.filter(|&value| !self.anatomy.is_constant(value))) {
            if let (Some(shape), Some(dtype)) = (golden.shape(value), golden.dtype(value))
                && self.anatomy.is_control(value)
            {
                extent = extent.add(shape.iter().product(), dtype);
            }
        }
        Some(extent)
    }

    fn weights(&self) -> Extent {
        let all = self.graph.initializers().filter_map(|(value, _)| self.weight(value));
        all.fold(Extent::default(), |extent, weight| extent.add(weight.len(), weight.dtype()))
    }

    /// What is stored, where it holds numbers that were learned and no shapes, axes or indices.
    fn weight(&self, value: ValueId) -> Option<&Tensor> {
        let tensor = self.graph.initializer(value)?;
        let is_weight =
            is_data(self.graph, value, tensor.dtype()) && !self.anatomy.is_control(value);
        is_weight.then_some(tensor)
    }
}

fn by_type(graph: &Graph) -> Vec<TypeCount> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for operator in graph.operators() {
        *counts.entry(&operator.op_type).or_default() += 1;
    }
    let mut counts: Vec<TypeCount> = counts
        .into_iter()
        .map(|(name, count)| TypeCount { r#type: name.to_owned(), count })
        .collect();
    counts.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    counts
}
