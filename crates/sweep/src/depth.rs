//! How deep a network is.

use faultlens_engine::onnx::ModelProto;
use std::collections::{BTreeMap, BTreeSet};

/// Operators that multiply with weights.
const WITH_WEIGHTS: [&str; 8] =
    ["Conv", "ConvInteger", "ConvTranspose", "GRU", "Gemm", "LSTM", "MatMul", "RNN"];

/// How many layers with weights lie between input and output, on the longest way: 18 for a
/// ResNet-18, whose shortcuts count for nothing.
pub(crate) fn layers(model: &ModelProto) -> u32 {
    let Some(graph) = &model.graph else { return 0 };
    let stored: BTreeSet<&str> = graph.initializer.iter().map(|t| t.name.as_str()).collect();
    let mut depth: BTreeMap<&str, u32> = BTreeMap::new();
    // Files list operators behind those whose answers they read.
    for node in &graph.node {
        let inputs = || node.input.iter().map(String::as_str);
        let weighs = WITH_WEIGHTS.contains(&node.op_type.as_str())
            && inputs().any(|input| stored.contains(input));
        let before = inputs().filter_map(|input| depth.get(input)).max().copied().unwrap_or(0);
        for output in &node.output {
            depth.insert(output, before + u32::from(weighs));
        }
    }
    let outputs = graph.output.iter().filter_map(|output| depth.get(output.name.as_str()));
    outputs.max().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;
    use faultlens_train::architecture::{Spec, build};

    #[test]
    fn networks_are_as_deep_as_their_names_say() {
        for (order, wanted) in [
            ("resnet18:0.05", 18),
            ("resnet34:0.05", 34),
            ("resnet50:0.05", 50),
            ("resnet101:0.05", 101),
            ("resnet152:0.05", 152),
            ("vgg16:0.05,0", 14),
            ("lenet", 5),
            ("mlp:8x3", 4),
        ] {
            let model = build(order, &Spec::new([3, 32, 32], 10), Seed::new(1)).unwrap();
            assert_eq!(layers(&model), wanted, "{order}");
        }
    }
}
