//! Which values of a graph only steer it: shapes, positions and limits, not numbers of the answer.
//!
//! Hardware faults in such values belong to the control flow of the program that runs the model.
//! They mostly make it fail, where a fault in the numbers makes it answer wrongly, and the two must
//! not be mixed in one rate.
//!
//! Two passes over the graph, as compilers find dead code. Forwards: which values depend on what
//! the model is fed, and not on shapes and weights alone. Backwards: which values reach an output as
//! numbers; those that reach one only through inputs of [`CONTROL_INPUTS`] are control values.

use faultlens_engine::{Graph, Operator, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// By operator, the positions of the inputs whose content decides a shape, a position or a limit.
/// Sampling points and regions that a network computes (of `GridSample` and `RoiAlign`) are numbers
/// of its answer and are not listed.
const CONTROL_INPUTS: &[(&str, &[usize])] = &[
    ("AffineGrid", &[1]),
    ("CenterCropPad", &[1]),
    ("Col2Im", &[1, 2]),
    ("Compress", &[1]),
    ("ConstantOfShape", &[0]),
    ("CumSum", &[1]),
    ("Expand", &[1]),
    ("GRU", &[4]),
    ("Gather", &[1]),
    ("GatherElements", &[1]),
    ("GatherND", &[1]),
    ("If", &[0]),
    ("LSTM", &[4]),
    ("Loop", &[0, 1]),
    ("MaxUnpool", &[1, 2]),
    ("NonMaxSuppression", &[2, 3, 4]),
    ("OneHot", &[0, 1]),
    ("Pad", &[1, 3]),
    ("RNN", &[4]),
    ("Range", &[0, 1, 2]),
    ("ReduceL1", &[1]),
    ("ReduceL2", &[1]),
    ("ReduceLogSum", &[1]),
    ("ReduceLogSumExp", &[1]),
    ("ReduceMax", &[1]),
    ("ReduceMean", &[1]),
    ("ReduceMin", &[1]),
    ("ReduceProd", &[1]),
    ("ReduceSum", &[1]),
    ("ReduceSumSquare", &[1]),
    ("Reshape", &[1]),
    ("Resize", &[1, 2, 3]),
    ("ReverseSequence", &[1]),
    ("RoiAlign", &[2]),
    ("Scatter", &[1]),
    ("ScatterElements", &[1]),
    ("ScatterND", &[1]),
    ("SequenceAt", &[1]),
    ("SequenceErase", &[1]),
    ("SequenceInsert", &[2]),
    ("Slice", &[1, 2, 3, 4]),
    ("Split", &[1]),
    ("SplitToSequence", &[1]),
    ("Squeeze", &[1]),
    ("TensorScatter", &[2]),
    ("Tile", &[1, 2]),
    ("TopK", &[1]),
    ("Trilu", &[1]),
    ("Unsqueeze", &[1]),
    ("Upsample", &[1]),
];

/// Operators whose answer follows from the shape of what they read, whatever its content.
const SHAPE_READERS: &[&str] =
    &["EyeLike", "RandomNormalLike", "RandomUniformLike", "Shape", "Size"];

/// Operators that choose by comparing numbers. What a network computed and such an operator compares
/// is its answer, even where only positions of the chosen come out.
const CHOOSERS: &[&str] = &[
    "ArgMax",
    "ArgMin",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "NonMaxSuppression",
    "NonZero",
    "TopK",
    "Unique",
];

/// What a value is good for, from its readers' point of view; the greatest of all readers counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// It steers only.
    Control,
    /// Its numbers reach an output, or are compared to choose.
    Number,
}

/// Every control value of a graph: inputs, weights and operators' outputs.
pub(super) fn control_values(graph: &Graph) -> BTreeSet<ValueId> {
    let content = content_values(graph);
    let mut uses: BTreeMap<ValueId, Use> = BTreeMap::new();
    for &output in graph.outputs() {
        uses.insert(output, Use::Number);
    }
    // Operators stand in an order in which they can run, so that backwards every reader of a value
    // is seen before its maker.
    for id in graph.operator_ids().rev() {
        let operator = graph.operator(id);
        // Nobody reads it, and it is no output.
        let Some(made) = operator.makes().filter_map(|value| uses.get(&value).copied()).max()
        else {
            continue;
        };
        let chooses = is_onnx(operator) && CHOOSERS.contains(&operator.op_type.as_str());
        for (position, value) in operator.inputs.iter().enumerate() {
            let Some(value) = *value else { continue };
            let own = if is_control_input(operator, position) {
                Use::Control
            } else if chooses && content.contains(&value) {
                Use::Number
            } else {
                made
            };
            let all = uses.entry(value).or_insert(own);
            *all = own.max(*all);
        }
        // Nothing is known of what subgraphs do with what they read.
        for &value in &operator.captures {
            let all = uses.entry(value).or_insert(made);
            *all = made.max(*all);
        }
    }
    uses.retain(|_, all| *all == Use::Control);
    uses.into_keys().collect()
}

/// The values whose numbers depend on what the model is fed.
fn content_values(graph: &Graph) -> BTreeSet<ValueId> {
    let fed = graph.inputs().iter().filter(|&&input| graph.initializer(input).is_none());
    let mut content: BTreeSet<ValueId> = fed.copied().collect();
    for id in graph.operator_ids() {
        let operator = graph.operator(id);
        let reads_shape = is_onnx(operator) && SHAPE_READERS.contains(&operator.op_type.as_str());
        if !reads_shape && operator.reads().any(|value| content.contains(&value)) {
            content.extend(operator.makes());
        }
    }
    content
}

fn is_control_input(operator: &Operator, position: usize) -> bool {
    let listed = CONTROL_INPUTS.binary_search_by_key(&operator.op_type.as_str(), |&(name, _)| name);
    match listed {
        Ok(at) => is_onnx(operator) && CONTROL_INPUTS[at].1.contains(&position),
        Err(_) => false,
    }
}

fn is_onnx(operator: &Operator) -> bool {
    ["", "ai.onnx"].contains(&operator.domain.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{DType, Tensor};
    use faultlens_engine::Model;
    use faultlens_engine::onnx::ModelBuilder;

    /// The names of the control values of a model.
    fn named(builder: &ModelBuilder) -> Vec<String> {
        let model = Model::from_proto(&builder.build()).unwrap();
        let graph = model.graph();
        let mut names: Vec<String> = control_values(graph)
            .into_iter()
            .map(|value| graph.value_name(value).to_owned())
            .collect();
        names.sort();
        names
    }

    fn scalar<T>(number: T) -> Tensor
    where
        Vec<T>: Into<faultlens_core::TensorData>,
    {
        Tensor::new(vec![], vec![number]).unwrap()
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(CONTROL_INPUTS.is_sorted_by_key(|&(name, _)| name));
    }

    /// The grid of a detector's head: its size comes from a shape and goes into `Range`; the grid
    /// itself is added to the answer.
    #[test]
    fn what_sizes_a_grid_is_control_and_the_grid_is_not() {
        let mut model = ModelBuilder::new("grid");
        model.input("x", DType::F32, &[1.into(), 4.into()]);
        model.initializer("last", scalar(1i64));
        model.initializer("zero", scalar(0.0f32));
        model.initializer("one", scalar(1.0f32));
        model.node("Relu", &["x"], &["live"]);
        model.node("Shape", &["live"], &["size"]);
        model.node("Gather", &["size", "last"], &["width"]);
        model.node("Cast", &["width"], &["limit"]).attr_i("to", 1);
        model.node("Range", &["zero", "limit", "one"], &["cells"]);
        model.node("Add", &["live", "cells"], &["y"]);
        model.output("y", DType::F32, &[1.into(), 4.into()]);
        let wanted = ["last", "limit", "one", "size", "width", "zero"];
        assert_eq!(named(&model), wanted);
    }

    /// Shape → Gather → Concat → Reshape, with a float among it as exporters write it.
    #[test]
    fn a_computed_shape_is_control() {
        let mut model = ModelBuilder::new("shape");
        model.input("x", DType::F32, &[2.into(), 6.into()]);
        model.initializer("first", Tensor::vector(vec![0i64]));
        model.initializer("rest", Tensor::vector(vec![-1i64]));
        model.initializer("share", Tensor::vector(vec![1.0f32]));
        model.node("Shape", &["x"], &["size"]);
        model.node("Gather", &["size", "first"], &["rows"]);
        model.node("Cast", &["rows"], &["float"]).attr_i("to", 1);
        model.node("Mul", &["float", "share"], &["scaled"]);
        model.node("Cast", &["scaled"], &["whole"]).attr_i("to", 7);
        model.node("Concat", &["whole", "rest"], &["shape"]).attr_i("axis", 0);
        model.node("Reshape", &["x", "shape"], &["flat"]);
        model.node("Relu", &["flat"], &["y"]);
        model.output("y", DType::F32, &[2.into(), 6.into()]);
        let wanted =
            ["first", "float", "rest", "rows", "scaled", "shape", "share", "size", "whole"];
        assert_eq!(named(&model), wanted);
    }

    /// Scores that are compared to choose are numbers of the answer, although only positions come
    /// out; limits and thresholds are not.
    #[test]
    fn what_is_chosen_from_is_no_control_value() {
        let mut model = ModelBuilder::new("choice");
        model.input("boxes", DType::F32, &[1.into(), 5.into(), 4.into()]);
        model.input("logits", DType::F32, &[1.into(), 1.into(), 5.into()]);
        model.initializer("most", Tensor::vector(vec![3i64]));
        model.initializer("overlap", Tensor::vector(vec![0.5f32]));
        model.initializer("least", Tensor::vector(vec![0.1f32]));
        model.initializer("column", scalar(2i64));
        model.node("Sigmoid", &["logits"], &["scores"]);
        model.node(
            "NonMaxSuppression",
            &["boxes", "scores", "most", "overlap", "least"],
            &["chosen"],
        );
        model.node("Gather", &["chosen", "column"], &["places"]).attr_i("axis", 1);
        model.node("Gather", &["boxes", "places"], &["y"]).attr_i("axis", 1);
        model.output("y", DType::F32, &[1.into(), "n".into(), 4.into()]);
        assert_eq!(named(&model), ["chosen", "column", "least", "most", "overlap", "places"]);
    }

    /// A value that also reaches the answer as a number is none, and neither is one that nobody
    /// reads.
    #[test]
    fn values_with_a_use_besides_are_no_control_values() {
        let mut model = ModelBuilder::new("both");
        model.input("x", DType::F32, &[1.into(), 4.into()]);
        model.initializer("zero", scalar(0.0f32));
        model.initializer("one", scalar(1.0f32));
        model.node("ReduceMax", &["x"], &["most"]).attr_i("keepdims", 0);
        model.node("Range", &["zero", "most", "one"], &["cells"]);
        model.node("ReduceSum", &["cells"], &["sum"]).attr_i("keepdims", 0);
        model.node("Add", &["sum", "most"], &["both"]);
        model.node("Add", &["x", "both"], &["y"]);
        model.node("Neg", &["y"], &["unused"]);
        model.output("y", DType::F32, &[1.into(), 4.into()]);
        assert_eq!(named(&model), ["one", "zero"]);
    }
}
