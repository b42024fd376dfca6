//! TensorFI 2: faults in the weights of layers, or in their results.

use super::super::error::Diagnostic;
use super::super::section::read;
use super::super::tree::{Entry, Node, Value};
use super::super::words::check_parameter;
use super::operators::constants;
use super::write::FaultText;
use faultlens_core::ParameterKind::{self, Number, Whole};
use faultlens_core::{DType, Tensor};
use faultlens_engine::{Graph, Operator, ValueId};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;

/// A file of TensorFI 2 as it is written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct SecondFile {
    /// layer_states or layer_outputs.
    target: Target,
    /// single (one layer) or multiple (every layer).
    mode: Mode,
    /// zeros, random or bitflips.
    #[serde(rename = "Type")]
    kind: Kind,
    /// How many elements, for zeros how many percent of them.
    amount: Node,
    /// Which bit, or N for any.
    bit: Option<Node>,
}

/// What is hit.
#[derive(PartialEq, Deserialize, JsonSchema)]
enum Target {
    // Earlier versions of TensorFI 2 write the singular.
    #[serde(rename = "layer_states", alias = "layer_state")]
    Weights,
    #[serde(rename = "layer_outputs")]
    Outputs,
}

const TARGETS: &[&str] = &["layer_states", "layer_state", "layer_outputs"];

/// How many layers are hit.
#[derive(PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Single,
    Multiple,
}

/// What happens to elements.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Zeros,
    Random,
    Bitflips,
}

const AMOUNT: ParameterKind = Number { min: 0.0, max: 1e9 };
const COUNT: ParameterKind = Whole { min: 1, max: 1_000_000_000 };
const PERCENT: ParameterKind = Number { min: 0.0, max: 100.0 };
const BIT: ParameterKind = Whole { min: 0, max: 31 };

/// A checked file.
#[derive(Debug)]
pub(super) struct Second {
    states: bool,
    multiple: bool,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// So many percent.
    Zeros(f64),
    /// So many elements.
    Random(i64),
    /// So many elements; any bit where none is said.
    Bitflips(i64, Option<i64>),
}

impl Second {
    pub(super) fn read(tree: &Node) -> Result<Self, Diagnostic> {
        let file: SecondFile = read("a TensorFI 2 file", &older(tree), "")?;
        let bit = match &file.bit {
            Some(bit) => checked_bit(bit)?,
            None => None,
        };
        check_parameter("Amount", &file.amount, &AMOUNT)?;
        let what = match file.kind {
            Kind::Zeros => What::Zeros(percent(&file.amount)?),
            Kind::Random => What::Random(count(&file.amount)?),
            Kind::Bitflips => What::Bitflips(count(&file.amount)?, bit),
        };
        Ok(Self {
            states: file.target == Target::Weights,
            multiple: file.mode == Mode::Multiple,
            what,
        })
    }

    /// The campaign's fault for this model.
    pub(super) fn fault(&self, graph: &Graph, notes: &mut Vec<String>) -> FaultText {
        let mut fault = FaultText::new(match self.what {
            What::Zeros(_) => "zero",
            What::Random(_) => "random_value",
            What::Bitflips(..) => "bit_flip",
        });
        fault.set("in", if self.states { "weights" } else { "layer_outputs" });
        match (self.states, self.multiple) {
            (true, false) => fault.set("draw", "value"),
            (true, true) => fault.set("mode", "each_value"),
            (false, false) => fault.set("draw", "layer"),
            (false, true) => fault.set("mode", "each_layer"),
        }
        match self.what {
            What::Zeros(share) => fault.set("share", share),
            What::Random(amount) => fault.set("amount", amount),
            What::Bitflips(amount, bit) => {
                fault.set("amount", amount);
                bit.into_iter().for_each(|bit| fault.set("bit", bit));
            }
        }
        if !self.states {
            // What comes before the first layer, such as a change of layout, is no layer of Keras.
            fault.list("layers", &["1..-1".to_owned()]);
        }
        if self.states {
            fault.set("duration", "permanent");
            fault.list("values", &variables(graph, notes));
        }
        fault
    }
}

/// The first TensorFI 2 had `Mode` where `Target` is now, and hit one layer.
fn older(tree: &Node) -> Node {
    let target = tree.get("Mode").filter(|mode| mode.text().is_some_and(|m| TARGETS.contains(&m)));
    let Some(target) = target.filter(|_| tree.get("Target").is_none()) else { return tree.clone() };
    let entries = tree.entries().iter().flat_map(|entry| match entry.key.as_str() {
        "Mode" => {
            let single = target.with(Value::Text("single".to_owned()));
            vec![
                Entry { key: "Target".to_owned(), ..entry.clone() },
                Entry { node: single, ..entry.clone() },
            ]
        }
        _ => vec![entry.clone()],
    });
    tree.with(Value::Map(entries.collect()))
}

/// The bit, which is a number, a number as text, or N for any.
fn checked_bit(node: &Node) -> Result<Option<i64>, Diagnostic> {
    if node.text() == Some("N") {
        return Ok(None);
    }
    let number = node.text().and_then(|text| text.trim().parse().ok());
    let read = number.map_or_else(|| node.clone(), |number| node.with(Value::Whole(number)));
    check_parameter("Bit", &read, &BIT).map_err(|error| {
        Diagnostic::new(error.at, format!("{}; N stands for any bit", error.message))
    })?;
    Ok(read.whole())
}

/// How many elements are hit.
fn count(amount: &Node) -> Result<i64, Diagnostic> {
    check_parameter("Amount", amount, &COUNT)?;
    Ok(amount.whole().unwrap_or_default())
}

/// The share of elements that become zero.
fn percent(amount: &Node) -> Result<f64, Diagnostic> {
    check_parameter("Amount", amount, &PERCENT)?;
    match amount.number() {
        Some(share) if share > 0.0 => Ok(share),
        _ => Err(Diagnostic::new(amount.at, "Amount is 0 percent, so that nothing would be hit")),
    }
}

/// Operators all of whose stored numbers are learned.
const LEARNED: &[&str] = &[
    "Conv",
    "ConvTranspose",
    "FusedConv",
    "FusedMatMul",
    "GRU",
    "Gemm",
    "GroupNormalization",
    "InstanceNormalization",
    "LSTM",
    "LayerNormalization",
    "MatMul",
    "PRelu",
    "RNN",
];

/// The names of the trainable variables; none where they are all that can be hit, or where the
/// graph does not tell them.
fn variables(graph: &Graph, notes: &mut Vec<String>) -> Vec<String> {
    let operators = || graph.operators().iter();
    let dtype = |id: ValueId| graph.initializer(id).map(Tensor::dtype);
    // Whole numbers of this size give shapes and axes.
    let stored = operators().flat_map(Operator::reads);
    let stored: BTreeSet<ValueId> =
        stored.filter(|&id| dtype(id).is_some_and(|dtype| dtype != DType::I64)).collect();
    let read: BTreeSet<ValueId> =
        operators().flat_map(|operator| learned(graph, operator)).collect();
    let (variables, others): (BTreeSet<ValueId>, BTreeSet<ValueId>) =
        read.into_iter().partition(|&id| dtype(id).is_some_and(DType::is_float));
    // Weights that are unpacked first, such as those of quantised models, are not variables.
    let constants = constants(graph);
    if variables.is_empty() || others.iter().any(|id| constants.contains(id)) {
        let what = "the model's trainable variables cannot be told; every stored number may be hit";
        notes.push(what.to_owned());
        return Vec::new();
    }
    if variables == stored {
        return Vec::new();
    }
    variables.iter().map(|&id| graph.value_name(id).to_owned()).collect()
}

/// What an operator reads that training changes.
fn learned(graph: &Graph, operator: &Operator) -> Vec<ValueId> {
    let kind = operator.op_type.as_str();
    let input = |at: usize| operator.inputs.get(at).copied().flatten();
    let follows_weights = || {
        let makers = operator.reads().filter_map(|value| graph.producer(value));
        let mut kinds = makers.map(|maker| graph.operator(maker).op_type.as_str());
        kinds.any(|kind| LEARNED.contains(&kind))
    };
    match kind {
        // Scale and bias; mean and variance are measured.
        "BatchNormalization" => [input(1), input(2)].into_iter().flatten().collect(),
        // A bias of its own.
        "Add" if follows_weights() => operator.reads().collect(),
        _ if LEARNED.contains(&kind) => operator.reads().collect(),
        _ => Vec::new(),
    }
}
