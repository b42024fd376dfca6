//! The form in which a model learns: weights are fed, batch norms use the batch's statistics,
//! dropouts draw from a fed number.

use crate::error::EngineError;
use crate::onnx::{self, AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto};
use crate::ops::{OWN_DOMAIN, RANDOM_DROPOUT, TRAINING_BATCH_NORM};
use faultlens_core::{DType, Tensor};
use std::collections::{BTreeMap, BTreeSet};

/// The input from which dropouts draw.
pub(super) const DRAW: &str = "faultlens.draw";

/// What a tensor of the model is to its training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Filters and matrices, which values are multiplied with.
    Factor,
    /// Biases, norms and slopes.
    Offset,
    /// What follows the batches instead of gradients.
    Statistic,
}

impl Role {
    pub(super) fn is_learned(self) -> bool {
        self != Self::Statistic
    }
}

/// Which operands of which operators are weights: factors, then offsets.
const LEARNED: &[(&str, &[usize], &[usize])] = &[
    ("BatchNormalization", &[], &[1, 2]),
    ("Conv", &[1], &[2]),
    ("ConvTranspose", &[1], &[2]),
    ("GRU", &[1, 2], &[3]),
    ("Gemm", &[1], &[2]),
    ("GroupNormalization", &[], &[1, 2]),
    ("InstanceNormalization", &[], &[1, 2]),
    ("LSTM", &[1, 2], &[3]),
    ("LayerNormalization", &[], &[1, 2]),
    ("MatMul", &[0, 1], &[]),
    ("PRelu", &[], &[1]),
    ("RNN", &[1, 2], &[3]),
];

/// A model rewritten for training.
pub(super) struct TrainingModel {
    pub(super) proto: ModelProto,
    /// Name, first value and role.
    pub(super) weights: Vec<(String, Tensor, Role)>,
    /// Statistics of batch norms, and the values that hold their successors.
    pub(super) statistics: Vec<(String, String)>,
}

impl TrainingModel {
    pub(super) fn of(proto: &ModelProto) -> Result<Self, EngineError> {
        let mut proto = proto.clone();
        let graph = proto.graph.get_or_insert_default();
        let stored: BTreeSet<String> = graph.initializer.iter().map(|t| t.name.clone()).collect();
        let mut roles = learned(graph, &stored);
        if roles.is_empty() {
            let why = "it has no weights that could be learned: none is an initializer that a \
                       layer reads directly";
            return Err(EngineError::Graph(why.into()));
        }
        let statistics = open_statistics(graph, &stored)?;
        roles.extend(statistics.iter().map(|(name, _)| (name.clone(), Role::Statistic)));
        let drops = open_dropouts(graph)?;
        if drops {
            graph.input.push(onnx::value_info(DRAW, DType::I64, &[1.into()]));
        }
        let mut weights = Vec::new();
        for stored in &graph.initializer {
            if let Some(&role) = roles.get(&stored.name) {
                weights.push((stored.name.clone(), onnx::tensor(stored)?, role));
            }
        }
        // What is learned becomes an input: the same graph then runs with any weights.
        graph.initializer.retain(|t| !roles.contains_key(&t.name));
        // Old files list weights among the inputs, too.
        graph.input.retain(|input| !roles.contains_key(&input.name));
        graph.input.extend(weights.iter().map(|(name, tensor, _)| declared(name, tensor)));
        if drops || !statistics.is_empty() {
            let domain = OWN_DOMAIN.to_owned();
            let version = 1;
            let own = onnx::OperatorSetIdProto { domain, version, ..Default::default() };
            proto.opset_import.push(own);
        }
        Ok(Self { proto, weights, statistics })
    }
}

fn declared(name: &str, tensor: &Tensor) -> ValueInfoProto {
    let dims: Vec<onnx::Dim> = tensor.shape().iter().map(|&n| n.into()).collect();
    onnx::value_info(name, tensor.dtype(), &dims)
}

/// The initializers that layers multiply with or add.
fn learned(graph: &GraphProto, stored: &BTreeSet<String>) -> BTreeMap<String, Role> {
    // Which operator made a value, to tell a bias from any other addition.
    let makers: BTreeMap<&str, &str> = graph
        .node
        .iter()
        .flat_map(|n| n.output.iter().map(|o| (o.as_str(), n.op_type.as_str())))
        .collect();
    let mut roles = BTreeMap::new();
    for node in graph.node.iter().filter(|node| is_plain(node)) {
        let mut add = |operands: &[usize], role: Role| {
            let names = operands.iter().filter_map(|&at| node.input.get(at));
            let own = names.filter(|name| stored.contains(*name));
            own.for_each(|name| {
                roles.entry(name.clone()).or_insert(role);
            });
        };
        // A linear layer exported in two parts: the sum behind a product is its bias.
        if node.op_type == "Add"
            && node.input.iter().any(|name| makers.get(name.as_str()) == Some(&"MatMul"))
        {
            add(&[0, 1], Role::Offset);
        }
        if let Some((_, factors, offsets)) = LEARNED.iter().find(|l| l.0 == node.op_type) {
            add(factors, Role::Factor);
            add(offsets, Role::Offset);
        }
    }
    roles
}

/// Whether the operator is one of ONNX's own.
fn is_plain(node: &NodeProto) -> bool {
    node.domain.is_empty() || node.domain == "ai.onnx"
}

/// Lets batch norms use the batch's statistics; gives back which statistic is followed by which
/// value.
fn open_statistics(
    graph: &mut GraphProto,
    stored: &BTreeSet<String>,
) -> Result<Vec<(String, String)>, EngineError> {
    let mut statistics: Vec<(String, String)> = Vec::new();
    let norms = graph.node.iter_mut().filter(|n| n.op_type == "BatchNormalization" && is_plain(n));
    for node in norms {
        let fits = node.input.len() == 5 && node.output.len() == 1;
        let own = if fits { node.input[3..].to_vec() } else { Vec::new() };
        // Two norms that share statistics would both move them.
        let alone = own.iter().all(|name| {
            stored.contains(name) && !statistics.iter().any(|(other, _)| other == name)
        });
        if !fits || !alone {
            let name = &node.name;
            let why = "its mean and variance must be stored for it alone";
            return Err(EngineError::Graph(format!("the batch norm {name} cannot learn: {why}")));
        }
        node.op_type = TRAINING_BATCH_NORM.to_owned();
        node.domain = OWN_DOMAIN.to_owned();
        for name in own {
            let next = format!("faultlens.next.{name}");
            node.output.push(next.clone());
            statistics.push((name, next));
        }
    }
    Ok(statistics)
}

/// Lets dropouts draw; answers whether there are any.
fn open_dropouts(graph: &mut GraphProto) -> Result<bool, EngineError> {
    let mut ratios: BTreeMap<String, f32> = BTreeMap::new();
    for stored in graph.initializer.iter().filter(|t| t.dims.iter().product::<i64>() == 1) {
        if let Some(&[ratio]) = onnx::tensor(stored)?.as_f32() {
            ratios.insert(stored.name.clone(), ratio);
        }
    }
    let mut count = 0;
    for node in graph.node.iter_mut().filter(|n| n.op_type == "Dropout" && is_plain(n)) {
        let attribute = node.attribute.iter().find(|a| a.name == "ratio").map(|a| a.f);
        let operand = node.input.get(1).and_then(|name| ratios.get(name).copied());
        let ratio = attribute.or(operand).unwrap_or(0.5);
        let (Some(input), Some(output)) = (node.input.first(), node.output.first()) else {
            return Err(EngineError::Graph(format!("the dropout {} reads nothing", node.name)));
        };
        *node = NodeProto {
            op_type: RANDOM_DROPOUT.to_owned(),
            domain: OWN_DOMAIN.to_owned(),
            input: vec![input.clone(), DRAW.to_owned()],
            output: vec![output.clone()],
            attribute: vec![float("ratio", ratio), integer("place", count)],
            ..node.clone()
        };
        count += 1;
    }
    Ok(count > 0)
}

fn integer(name: &str, value: i64) -> AttributeProto {
    let kind = onnx::attribute_type::INT;
    AttributeProto { name: name.to_owned(), r#type: kind, i: value, ..Default::default() }
}

fn float(name: &str, value: f32) -> AttributeProto {
    let kind = onnx::attribute_type::FLOAT;
    AttributeProto { name: name.to_owned(), r#type: kind, f: value, ..Default::default() }
}
