//! Guesses what a model's output means, and says why.

use faultlens_core::DType;

use super::{Guess, OutputDescription, OutputKind, VisionError, shape_text};
use crate::graph::{Dim, Graph, ValueId};

/// Operators that move numbers without changing what they mean.
const TRANSPARENT: &[&str] = &[
    "Cast",
    "DequantizeLinear",
    "Dropout",
    "Flatten",
    "Identity",
    "QuantizeLinear",
    "Reshape",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
];

/// Proposes what the model's answer is: its first output that can hold one score per class.
pub fn guess_output(graph: &Graph) -> Result<Guess<OutputDescription>, VisionError> {
    let candidate = graph.outputs().iter().copied().find(|&v| may_hold_scores(graph, v));
    let Some(output) = candidate else {
        let first = graph.outputs().first();
        return Err(VisionError::NotScores {
            name: first.map_or("(none)", |&v| graph.value_name(v)).to_owned(),
            shape: first.and_then(|&v| graph.declared_shape(v)).map_or("?".into(), shape_text),
        });
    };
    let source = meaning(graph, output);
    let classes = graph.declared_shape(output).and_then(|dims| dims.get(1));
    let (kind, why) = kind(source, classes);
    let shape = graph.declared_shape(output).map_or("of undeclared shape".into(), shape_text);
    let name = graph.value_name(output).to_owned();
    let reasons = vec![format!("output: `{name}` {shape} {why}")];
    let description = OutputDescription { name: Some(name), kind, softmax: false };
    Ok(Guess { description, reasons })
}

/// Batch and classes, with nothing behind; what is not declared may turn out so.
fn may_hold_scores(graph: &Graph, output: ValueId) -> bool {
    let float = |dtype| matches!(dtype, DType::F32 | DType::F16 | DType::BF16 | DType::F64);
    let shaped = |dims: &[Dim]| match dims {
        [_] | [_, _] => true,
        [_, _, rest @ ..] => rest.iter().all(|d| *d == Dim::Fixed(1)),
        [] => false,
    };
    graph.declared_dtype(output).is_none_or(float)
        && graph.declared_shape(output).is_none_or(shaped)
}

/// The operator that gave the numbers their meaning, behind those that only move them.
fn meaning(graph: &Graph, output: ValueId) -> Option<&str> {
    let mut value = output;
    loop {
        let operator = graph.operator(graph.producer(value)?);
        if !TRANSPARENT.contains(&operator.op_type.as_str()) {
            return Some(&operator.op_type);
        }
        value = (*operator.inputs.first()?)?;
    }
}

fn kind(source: Option<&str>, classes: Option<&Dim>) -> (OutputKind, String) {
    match (source, classes) {
        (_, Some(Dim::Fixed(1))) => {
            (OutputKind::Values, "has one number per image, so it is a value".to_owned())
        }
        (Some(op @ ("Softmax" | "Sigmoid")), _) => {
            (OutputKind::Probabilities, format!("comes from {op}, so these are probabilities"))
        }
        (Some(op), _) => {
            (OutputKind::Logits, format!("comes from {op}, so these are taken as logits"))
        }
        (None, _) => (OutputKind::Logits, "is taken as logits".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_meaningful_operator_decides() {
        let ten = Dim::Fixed(10);
        for (source, classes, wanted) in [
            (Some("Softmax"), Some(&ten), OutputKind::Probabilities),
            (Some("Gemm"), Some(&ten), OutputKind::Logits),
            (Some("LogSoftmax"), None, OutputKind::Logits),
            (Some("Gemm"), Some(&Dim::Fixed(1)), OutputKind::Values),
            (None, None, OutputKind::Logits),
        ] {
            assert_eq!(kind(source, classes).0, wanted, "{source:?} {classes:?}");
        }
    }
}
