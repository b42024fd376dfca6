//! Guesses the names of a detector's classes, and says why.

use super::Guess;
use crate::decode::DECODERS;
use crate::labels::Labels;
use crate::output::{OutputDescription, OutputKind};
use crate::ultralytics;
use faultlens_engine::{Dim, Graph};

/// The names that a model's metadata has by the custom of its exporter, or those of COCO where it is
/// a detector of as many classes.
pub fn guess_labels(graph: &Graph, output: &OutputDescription) -> Option<Guess<Labels>> {
    if let Some(own) = own(graph) {
        return Some(own);
    }
    if output.kind != OutputKind::Detections {
        return None;
    }
    let (classes, from) = classes(graph, output)?;
    coco(classes, from)
}

/// The same for a model that gives outlines of things of so many classes.
pub fn guess_instance_labels(graph: &Graph, classes: Option<usize>) -> Option<Guess<Labels>> {
    own(graph).or_else(|| coco(classes?, "by the shape of the output"))
}

/// The names that Ultralytics' exporter writes.
fn own(graph: &Graph) -> Option<Guess<Labels>> {
    let names = ultralytics::names(graph)?;
    let reason = format!("labels: the model's metadata names {} classes", names.len());
    Some(Guess { description: Labels(names), reasons: vec![reason] })
}

/// COCO's names, where there are as many classes.
fn coco(classes: usize, from: &str) -> Option<Guess<Labels>> {
    // COCO has 80 categories, numbered up to 90 with gaps; some models keep the gaps.
    let name = match classes {
        80 => "coco",
        90 | 91 => "coco-91",
        _ => return None,
    };
    let reason = format!("labels: {name}, as for most detectors of {classes} classes ({from})");
    Some(Guess { description: Labels::built_in(name)?, reasons: vec![reason] })
}

/// How many classes a detector knows, and what says so.
fn classes(graph: &Graph, output: &OutputDescription) -> Option<(usize, &'static str)> {
    let decoder = DECODERS.iter().find(|d| Some(d.name) == output.decoder.as_deref())?;
    if let Some((axis, fixed)) = decoder.classes {
        let name = [&output.name, &output.scores].into_iter().flatten().next();
        let value = name.map_or(graph.outputs().first().copied(), |name| graph.find(name))?;
        return match graph.declared_shape(value)?.get(axis)? {
            Dim::Fixed(length) => Some((length.checked_sub(fixed)?, "by the shape of the output")),
            Dim::Free(_) => None,
        };
    }
    // Lists do not tell, but the layer that chooses the class has a bias for each and background.
    let classes = [80, 90]
        .into_iter()
        .find(|classes| graph.initializers().any(|(_, tensor)| tensor.shape() == [classes + 1]));
    classes.map(|classes| (classes, "by the biases of a layer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detectors_of_eighty_classes_are_taken_for_cocos() {
        use faultlens_core::{DType, Tensor};
        use faultlens_engine::onnx::ModelBuilder;
        let graph = |columns: usize, biases: usize| {
            let mut model = ModelBuilder::new("detector");
            model.input("x", DType::F32, &[1.into(), 3.into(), 8.into(), 8.into()]);
            let bias = model.initializer("bias", Tensor::vector(vec![0f32; biases]));
            model.node("Add", &["x", &bias], &["y"]);
            model.output("y", DType::F32, &[1.into(), 9.into(), columns.into()]);
            Graph::new(&model.build()).unwrap()
        };
        let described = |text: &str| serde_json::from_str::<OutputDescription>(text).unwrap();
        let yolox = described(r#"{"kind": "detections", "decoder": "yolox"}"#);
        let lists = described(r#"{"kind": "detections", "decoder": "faster_rcnn"}"#);
        let scores = described(r#"{"kind": "logits"}"#);
        for (output, columns, biases, wanted) in [
            (&yolox, 85, 7, Some("toothbrush")),
            (&yolox, 95, 7, Some("toaster")),
            (&yolox, 25, 81, None),
            (&lists, 4, 81, Some("toothbrush")),
            (&lists, 4, 91, Some("toaster")),
            (&lists, 4, 80, None),
            (&scores, 80, 80, None),
        ] {
            let guess = guess_labels(&graph(columns, biases), output);
            let found = guess.map(|guess| guess.description.name(79));
            assert_eq!(found.as_deref(), wanted, "{columns} {biases}");
        }
    }
}
