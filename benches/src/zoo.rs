//! Well-known vision networks in their exact shapes, with random weights.
//!
//! Speed depends on shapes, not on what a network has learnt, so benchmarks need no download.
//! Layers, names and parameters are those of torchvision's models, exported by PyTorch. Weights
//! are drawn so that activations keep about the size of the input all the way through.

mod mobilenet;
mod net;
mod random;
mod resnet;
mod squeezenet;
mod vgg;

use faultlens_engine::onnx::ModelProto;

pub use mobilenet::mobilenet_v2;
pub use net::Norm;
pub use resnet::{resnet18, resnet50};
pub use squeezenet::squeezenet1_1;
pub use vgg::vgg16;

/// Builds a network with weights drawn from a seed.
pub type Build = fn(u64) -> ModelProto;

/// Every network by name, as exporters write it: from a seed for the weights to a model that
/// takes `input` (N×3×224×224) and gives `logits` (N×1000).
pub const ZOO: &[(&str, Build)] = &[
    ("mobilenet_v2", |seed| mobilenet_v2(seed, Norm::Folded)),
    ("resnet18", |seed| resnet18(seed, Norm::Folded)),
    ("resnet50", |seed| resnet50(seed, Norm::Folded)),
    ("resnet50_batch_norm", |seed| resnet50(seed, Norm::Nodes)),
    ("squeezenet1_1", squeezenet1_1),
    ("vgg16", vgg16),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of all weights that are trained, so without running averages and constants.
    fn parameters(model: ModelProto) -> i64 {
        let graph = model.graph.unwrap_or_default();
        let trained = |name: &str| name.ends_with(".weight") || name.ends_with(".bias");
        let weights = graph.initializer.iter().filter(|tensor| trained(&tensor.name));
        weights.map(|tensor| tensor.dims.iter().product::<i64>()).sum()
    }

    #[test]
    fn parameters_are_as_many_as_torchvision_has() {
        let cases = [
            (mobilenet_v2(1, Norm::Nodes), 3_504_872),
            (resnet18(1, Norm::Nodes), 11_689_512),
            (resnet50(1, Norm::Nodes), 25_557_032),
            (squeezenet1_1(1), 1_235_496),
            (vgg16(1), 138_357_544),
        ];
        for (model, wanted) in cases {
            assert_eq!(parameters(model), wanted);
        }
    }

    #[test]
    fn names_are_unique_and_made_before_they_are_used() {
        for (name, build) in ZOO.iter().filter(|(name, _)| *name != "vgg16") {
            let graph = build(1).graph.unwrap_or_default();
            let mut known = vec!["input"];
            known.extend(graph.initializer.iter().map(|tensor| tensor.name.as_str()));
            for node in &graph.node {
                assert!(node.input.iter().all(|i| known.contains(&i.as_str())), "{name}: {node:?}");
                assert!(!known.contains(&node.output[0].as_str()), "{name}: {node:?}");
                known.push(&node.output[0]);
            }
            assert_eq!(known.last(), Some(&"logits"));
        }
    }

    #[test]
    fn the_seed_decides_the_weights() {
        assert_eq!(squeezenet1_1(1), squeezenet1_1(1));
        assert_ne!(squeezenet1_1(1), squeezenet1_1(2));
    }
}
