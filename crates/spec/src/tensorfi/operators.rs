//! TensorFI's names of operators, and what ONNX calls the same.

use faultlens_engine::{Graph, Operator, ValueId};
use std::collections::BTreeSet;

/// The name that stands for every operator.
pub(super) const ALL: &str = "ALL";

/// TensorFI's names in its order, each with the kinds of ONNX operators that exports write for it.
/// A name without kinds is known, and there is nothing like it in an ONNX file.
pub(super) const OPERATORS: &[(&str, &[&str])] = &[
    ("NOOP", &[]),
    ("ASSIGN", &[]),
    ("IDENTITY", &["Identity"]),
    ("ADD", &["Add", "Sum"]),
    ("SUB", &["Sub"]),
    ("MUL", &["Mul"]),
    // Exports write a product or a power, which are not all squares.
    ("SQUARE", &[]),
    ("SHAPE", &["Shape"]),
    ("SIZE", &["Size"]),
    ("FILL", &["ConstantOfShape", "Expand"]),
    ("FLOOR", &["Floor"]),
    ("FLOOR-MOD", &["Mod"]),
    ("RANGE", &["Range"]),
    ("RANK", &[]),
    ("SUM", &["ReduceSum"]),
    ("MATMUL", &["MatMul", "Gemm", "FusedMatMul", "MatMulInteger", "QLinearMatMul", "QGemm"]),
    ("ARGMAX", &["ArgMax"]),
    ("ARGMIN", &["ArgMin"]),
    ("EQUAL", &["Equal"]),
    ("NOT-EQUAL", &[]),
    ("LESS-EQUAL", &["LessOrEqual"]),
    ("GREATER-EQUAL", &["GreaterOrEqual"]),
    ("CAST", &["Cast"]),
    // What TensorFlow calls a mean over rows and columns is a pooling in ONNX.
    ("MEAN", &["ReduceMean", "GlobalAveragePool"]),
    ("COUNT-NONZERO", &[]),
    ("RESHAPE", &["Reshape", "Flatten"]),
    ("ONE-HOT", &["OneHot"]),
    ("CONV2D", &["Conv", "FusedConv", "ConvInteger", "QLinearConv"]),
    ("RELU", &["Relu"]),
    ("MAX-POOL", &["MaxPool"]),
    ("STRIDED-SLICE", &["Slice"]),
    ("SOFT-MAX", &["Softmax"]),
    ("MAXIMUM", &["Max"]),
    ("MINIMUM", &["Min"]),
    ("EXPAND-DIMS", &["Unsqueeze"]),
    ("SWITCH", &["If"]),
    ("GREATER", &["Greater"]),
    ("NEGATIVE", &["Neg"]),
    ("POW", &["Pow"]),
    ("REALDIV", &["Div"]),
    ("ABSOLUTE", &["Abs"]),
    // A root and its reciprocal, of which the latter makes the result.
    ("RSQRT", &["Reciprocal"]),
    ("LOG", &["Log"]),
    ("BIASADD", &["Add"]),
    ("SIGMOID", &["Sigmoid"]),
    ("TANH", &["Tanh"]),
    ("PACK", &["Concat"]),
    ("UNPACK", &["Split"]),
    ("LRN", &["LRN"]),
    ("ELU", &["Elu"]),
    ("RANDOM-UNIFORM", &["RandomUniform", "RandomUniformLike"]),
    (ALL, &[]),
    ("END", &[]),
];

/// The kinds of a name; `None` where TensorFI has no such name.
pub(super) fn kinds(name: &str) -> Option<&'static [&'static str]> {
    OPERATORS.iter().find(|(known, _)| *known == name).map(|(_, kinds)| *kinds)
}

/// The values that are stored in the model, or follow from such values alone.
pub(super) fn constants(graph: &Graph) -> BTreeSet<ValueId> {
    let mut constants: BTreeSet<ValueId> = graph.initializers().map(|(id, _)| id).collect();
    // Operators stand in the order of execution.
    for operator in graph.operators() {
        if operator.reads().all(|value| constants.contains(&value)) {
            constants.extend(operator.makes());
        }
    }
    constants
}

/// The operators whose results follow from the model's input, in the order of execution: what
/// TensorFI counts. What follows from weights alone is part of no inference.
pub(super) fn executed(graph: &Graph) -> Vec<&Operator> {
    let constants = constants(graph);
    graph
        .operators()
        .iter()
        .filter(|operator: &&Operator| operator.reads().any(|value| !constants.contains(&value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the released TensorFI 1, from its list of operators.
    const TENSORFI: &str = "ASSIGN IDENTITY ADD SUB MUL SQUARE SHAPE SIZE FILL FLOOR FLOOR-MOD \
        RANGE RANK SUM MATMUL ARGMAX ARGMIN EQUAL NOT-EQUAL LESS-EQUAL GREATER-EQUAL CAST MEAN \
        COUNT-NONZERO RESHAPE ONE-HOT CONV2D RELU MAX-POOL STRIDED-SLICE SOFT-MAX MAXIMUM MINIMUM \
        EXPAND-DIMS SWITCH GREATER NEGATIVE POW REALDIV ABSOLUTE RSQRT LOG BIASADD SIGMOID TANH \
        PACK UNPACK LRN ELU RANDOM-UNIFORM ALL END";

    #[test]
    fn every_name_of_tensorfi_is_known_once() {
        for name in TENSORFI.split_whitespace() {
            assert!(kinds(name).is_some(), "{name}");
        }
        let names: BTreeSet<&str> = OPERATORS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), OPERATORS.len());
        assert_eq!(kinds("CONV3D"), None);
    }
}
