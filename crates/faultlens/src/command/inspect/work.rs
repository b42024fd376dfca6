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

/// Multiplications that are each followed by an addition: the usual measure of a model's work.
/// Only convolutions and matrix products count; `shape` gives the shape of any value.
pub(super) fn macs(operator: &Operator, shape: impl Fn(ValueId) -> Option<Vec<usize>>) -> u64 {
    let input = |at: usize| shape(*operator.inputs.get(at)?.as_ref()?);
    let output = || shape((*operator.outputs.first()?)?);
    let product = |sides: &[usize]| sides.iter().map(|&n| n as u64).product::<u64>();
    let convolution = |weight: usize| {
        let weight = input(weight)?;
        Some(product(&output()?) * product(weight.get(1..)?))
    };
    let counted = || match operator.op_type.as_str() {
        "Conv" | "ConvInteger" => convolution(1),
        "QLinearConv" => convolution(3),
        "ConvTranspose" => Some(product(&input(0)?) * product(input(1)?.get(1..)?)),
        "MatMul" | "MatMulInteger" | "QLinearMatMul" => {
            Some(product(&output()?) * *input(0)?.last()? as u64)
        }
        "Gemm" => {
            let output = output()?;
            let inner = product(&input(0)?) / (*output.first()? as u64).max(1);
            Some(product(&output) * inner)
        }
        _ => None,
    };
    counted().unwrap_or(0)
}

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

#[cfg(test)]
mod tests {
    use faultlens::engine::onnx::ModelBuilder;

    use super::*;

    /// An operator `y = op(a, b)` with these shapes, counted.
    fn count(op_type: &str, a: &[usize], b: &[usize], y: &[usize]) -> u64 {
        let mut model = ModelBuilder::new("one operator");
        model.input("a", DType::F32, &[]).input("b", DType::F32, &[]);
        model.node(op_type, &["a", "b"], &["y"]);
        model.output("y", DType::F32, &[]);
        let graph = Graph::new(&model.build()).unwrap();
        let shape = |value| match graph.value_name(value) {
            "a" => Some(a.to_vec()),
            "b" => Some(b.to_vec()),
            _ => Some(y.to_vec()),
        };
        macs(&graph.operators()[0], shape)
    }

    #[test]
    fn products_count_their_multiplications() {
        for (op_type, a, b, y, wanted) in [
            // 4×5×5 outputs, each from 3 channels of 3×3
            ("Conv", vec![1, 3, 5, 5], vec![4, 3, 3, 3], vec![1, 4, 5, 5], 4 * 25 * 27),
            // depthwise: each output from one channel
            ("Conv", vec![1, 8, 5, 5], vec![8, 1, 3, 3], vec![1, 8, 5, 5], 8 * 25 * 9),
            // each input element goes to 2 channels of 2×2
            ("ConvTranspose", vec![1, 3, 5, 5], vec![3, 2, 2, 2], vec![1, 2, 10, 10], 75 * 8),
            ("MatMul", vec![2, 7, 5], vec![5, 3], vec![2, 7, 3], 42 * 5),
            ("Gemm", vec![2, 5], vec![5, 3], vec![2, 3], 6 * 5),
            // the first matrix transposed
            ("Gemm", vec![5, 2], vec![5, 3], vec![2, 3], 6 * 5),
            ("Add", vec![2, 5], vec![2, 5], vec![2, 5], 0),
        ] {
            assert_eq!(count(op_type, &a, &b, &y), wanted, "{op_type} {a:?} {b:?}");
        }
    }
}
