//! How much an operator holds and computes.

use std::collections::HashSet;

use faultlens::engine::{Graph, Operator, ValueId};
use faultlens::{DType, Tensor};

/// Operators whose weights make them a layer, as people count layers.
const LAYERS: &[&str] = &[
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "GRU",
    "Gemm",
    "LSTM",
    "MatMul",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
    "RNN",
];

/// Operators that read 32-bit integers as quantised numbers rather than as indices.
const QUANTISED: &[&str] = &["DequantizeLinear", "QLinearConv"];

/// The values that depend on the model's input; all others are the same in every run.
pub(super) fn computed(graph: &Graph) -> HashSet<ValueId> {
    let mut computed: HashSet<ValueId> = graph.inputs().iter().copied().collect();
    for operator in graph.operators() {
        if operator.reads().any(|value| computed.contains(&value)) {
            computed.extend(operator.makes());
        }
    }
    computed
}

/// Whether an operator counts as a layer: it multiplies what it sees by fixed weights.
pub(super) fn is_layer(operator: &Operator, computed: &HashSet<ValueId>) -> bool {
    let is_computed = |value: ValueId| computed.contains(&value);
    LAYERS.contains(&operator.op_type.as_str())
        && operator.reads().any(is_computed)
        && !operator.reads().all(is_computed)
}

/// The weights that an operator reads itself.
pub(super) fn weights<'a>(
    graph: &'a Graph,
    operator: &'a Operator,
) -> impl Iterator<Item = (ValueId, &'a Tensor)> {
    operator
        .inputs
        .iter()
        .flatten()
        .filter_map(|&value| Some((value, graph.initializer(value)?)))
        .filter(|&(value, tensor)| is_weight(graph, value, tensor))
}

/// Whether an initializer holds numbers that were learned, not shapes, axes or indices.
pub(super) fn is_weight(graph: &Graph, value: ValueId, tensor: &Tensor) -> bool {
    match tensor.dtype() {
        DType::F32 | DType::F16 | DType::BF16 | DType::F64 | DType::I8 | DType::U8 => true,
        DType::I32 => graph
            .consumers(value)
            .iter()
            .any(|&reader| QUANTISED.contains(&graph.operator(reader).op_type.as_str())),
        _ => false,
    }
}
