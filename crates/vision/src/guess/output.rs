//! Guesses what a model's output means, and says why.

use faultlens_core::DType;

use super::detector::detector;
use super::{Guess, TRANSPARENT};
use crate::{Layout, OutputDescription, OutputKind, VisionError, shape_text};
use faultlens_engine::{Dim, Graph, ValueId};

/// What `faultlens train` writes into the metadata of its models.
const TRAINED: &str = "faultlens.input";

/// Proposes what the model's answer is: boxes of a known form; else its first output that can hold
/// one score per class, a map of the input's size, or a picture.
pub fn guess_output(graph: &Graph) -> Result<Guess<OutputDescription>, VisionError> {
    if let Some(boxes) = trained_boxes(graph).or_else(|| Some(detector(graph)?.guess)) {
        return Ok(boxes);
    }
    // The first output that can be one score per class.
    let candidate = graph.outputs().iter().copied().find(|&v| may_hold_scores(graph, v));
    if let Some(output) = candidate {
        return Ok(scores(graph, output));
    }
    let first = graph.outputs().first();
    let other = first.and_then(|&output| areas(graph, output));
    other.or_else(|| first.and_then(|&output| picture(graph, output))).ok_or_else(|| {
        VisionError::NotScores {
            name: first.map_or("(none)", |&v| graph.value_name(v)).to_owned(),
            shape: first.and_then(|&v| graph.declared_shape(v)).map_or("?".into(), shape_text),
        }
    })
}

fn scores(graph: &Graph, output: ValueId) -> Guess<OutputDescription> {
    let classes = graph.declared_shape(output).and_then(|dims| dims.get(1));
    let (kind, why) = kind(meaning(graph, output), classes);
    proposed(graph, output, OutputDescription::of(kind), &why)
}

/// A description of one output, with the reason.
fn proposed(
    graph: &Graph,
    output: ValueId,
    description: OutputDescription,
    why: &str,
) -> Guess<OutputDescription> {
    let shape = graph.declared_shape(output).map_or("of undeclared shape".into(), shape_text);
    let name = graph.value_name(output).to_owned();
    let reasons = vec![format!("output: `{name}` {shape} {why}")];
    Guess { description: OutputDescription { name: Some(name), ..description }, reasons }
}

/// The declared shape of the output of this name.
fn declared_output<'g>(graph: &'g Graph, name: &str) -> Option<&'g [Dim]> {
    let mut outputs = graph.outputs().iter();
    let output = *outputs.find(|&&value| graph.value_name(value) == name)?;
    graph.declared_shape(output)
}

/// The two outputs of a detector that `faultlens train` made.
fn trained_boxes(graph: &Graph) -> Option<Guess<OutputDescription>> {
    graph.metadata(TRAINED)?;
    let scores = declared_output(graph, "scores")?;
    let boxes = declared_output(graph, "boxes")?;
    let ([_, _, _], [_, _, Dim::Fixed(4)]) = (scores, boxes) else { return None };
    let scores = shape_text(scores);
    let boxes = shape_text(boxes);
    let why = format!(
        "output: `scores` {scores} and `boxes` {boxes} of a model that faultlens trained are \
         detections"
    );
    let decoder = Some("world".to_owned());
    let described = OutputDescription { decoder, ..OutputDescription::of(OutputKind::Detections) };
    Some(Guess { description: described, reasons: vec![why] })
}

/// A score per class and pixel: a map with the sides of the input and several channels. A map of
/// other sides may be anything.
fn areas(graph: &Graph, output: ValueId) -> Option<Guess<OutputDescription>> {
    let &[input] = graph.inputs() else { return None };
    let sides =
        |value| graph.declared_shape(value).and_then(|dims| <&[Dim; 4]>::try_from(dims).ok());
    let [_, a, b, c] = sides(input)?;
    let [_, d, e, f] = sides(output)?;
    // A network that ends in Tanh makes pictures, whatever its channels.
    let is_picture = matches!(meaning(graph, output), Some("Tanh"));
    let layout = if [b, c] == [e, f] && is_several(d) {
        None
    } else if [b, c] == [d, e] && is_several(f) && is_several(b) {
        // The input may have its channels elsewhere.
        Some(Layout::Nhwc)
    } else if [a, b] == [d, e] && is_several(f) && is_several(a) {
        Some(Layout::Nhwc)
    } else {
        return None;
    };
    let described = OutputDescription { layout, ..OutputDescription::of(OutputKind::Segments) };
    let why = "has a channel per class and the sides of the input, so these are segments";
    (!is_picture).then(|| proposed(graph, output, described, why))
}

fn is_several(dim: &Dim) -> bool {
    matches!(dim, Dim::Fixed(n) if *n > 1)
}

/// Whether an axis may hold the channels of a picture.
fn is_colours(dim: &Dim) -> bool {
    matches!(dim, Dim::Fixed(1 | 3))
}

/// One or three channels of bounded values.
fn picture(graph: &Graph, output: ValueId) -> Option<Guess<OutputDescription>> {
    let [_, a, _, c] = graph.declared_shape(output)? else { return None };
    let layout = match (is_colours(a), is_colours(c)) {
        (true, false) => None,
        (false, true) => Some(Layout::Nhwc),
        _ => return None,
    };
    // Behind Sigmoid, one channel is as likely a mask.
    let three = [a, c].contains(&&Dim::Fixed(3));
    let (op, range) = match meaning(graph, output)? {
        op @ "Tanh" => (op, Some([-1.0, 1.0])),
        op @ "Sigmoid" if three => (op, None),
        _ => return None,
    };
    let described =
        OutputDescription { layout, range, ..OutputDescription::of(OutputKind::Picture) };
    let why = format!("comes from {op} and has the channels of an image, so it is a picture");
    Some(proposed(graph, output, described, &why))
}

/// Batch and classes, with nothing behind; what is not declared may turn out so.
fn may_hold_scores(graph: &Graph, output: ValueId) -> bool {
    graph
        .declared_dtype(output)
        .is_none_or(|dtype| matches!(dtype, DType::F32 | DType::F16 | DType::BF16 | DType::F64))
        && graph.declared_shape(output).is_none_or(|dims| match dims {
            [_] | [_, _] => true,
            [_, _, rest @ ..] => rest.iter().all(|d| *d == Dim::Fixed(1)),
            [] => false,
        })
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

    /// A model of one operator with these shapes; 0 is a free axis.
    fn graph(op: &str, input: &[usize], output: &[usize]) -> Graph {
        use faultlens_engine::onnx::ModelBuilder;
        let sides = |dims: &[usize]| -> Vec<faultlens_engine::onnx::Dim> {
            dims.iter().map(|&n| if n == 0 { "N".into() } else { n.into() }).collect()
        };
        let mut model = ModelBuilder::new("guessed");
        model.input("x", DType::F32, &sides(input));
        model.node(op, &["x"], &["y"]);
        model.output("y", DType::F32, &sides(output));
        Graph::new(&model.build()).unwrap()
    }

    #[test]
    fn maps_and_pictures_are_recognised_by_their_shape() {
        let segments = |layout| {
            let name = Some("y".to_owned());
            Some(OutputDescription { name, layout, ..OutputDescription::of(OutputKind::Segments) })
        };
        let picture = |layout, range| {
            let kind = OutputKind::Picture;
            let name = Some("y".to_owned());
            Some(OutputDescription { name, layout, range, ..OutputDescription::of(kind) })
        };
        let nhwc = Some(Layout::Nhwc);
        for (op, input, output, wanted) in [
            ("Conv", &[0, 3, 64, 48][..], &[0, 4, 64, 48][..], segments(None)),
            ("Softmax", &[0, 64, 48, 3], &[0, 64, 48, 4], segments(nhwc)),
            ("Conv", &[0, 3, 64, 48], &[0, 64, 48, 4], segments(nhwc)),
            // A coarser map may hold boxes, and one channel no classes.
            ("Conv", &[0, 3, 352, 352], &[0, 85, 22, 22], None),
            ("Conv", &[0, 3, 64, 48], &[0, 1, 64, 48], None),
            ("Sigmoid", &[0, 3, 64, 48], &[0, 1, 64, 48], None),
            ("Conv", &[0, 3, 416, 416], &[1, 3550, 85], None),
            ("Tanh", &[0, 100], &[0, 3, 32, 32], picture(None, Some([-1.0, 1.0]))),
            ("Tanh", &[0, 3, 32, 32], &[0, 3, 32, 32], picture(None, Some([-1.0, 1.0]))),
            ("Sigmoid", &[0, 100], &[0, 32, 32, 3], picture(nhwc, None)),
            ("Relu", &[0, 100], &[0, 3, 32, 32], None),
        ] {
            let guess = guess_output(&graph(op, input, output));
            assert_eq!(guess.is_ok(), wanted.is_some(), "{op} {output:?}: {guess:?}");
            assert_eq!(guess.ok().map(|guess| guess.description), wanted, "{op} {output:?}");
        }
    }
}
