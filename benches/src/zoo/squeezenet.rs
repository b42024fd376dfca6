//! SqueezeNet 1.1.

use faultlens_engine::onnx::ModelProto;

use super::net::{Net, Norm, Pool, Value, conv};

const POOL: Pool = Pool { kernel: 3, pad: 0, ceil_mode: true };

/// SqueezeNet 1.1: no batch normalisation, no fully connected layer, branches that are joined.
pub fn squeezenet1_1(seed: u64) -> ModelProto {
    let (mut net, input) = Net::new("squeezenet1_1", seed, Norm::Folded);
    let mut x = net.conv("features.0", &input, conv(64, 3).stride(2).pad(0));
    x = net.relu("features.1", &x);
    x = net.max_pool("features.2", &x, POOL);
    x = fire(&mut net, "features.3", &x, 16);
    x = fire(&mut net, "features.4", &x, 16);
    x = net.max_pool("features.5", &x, POOL);
    x = fire(&mut net, "features.6", &x, 32);
    x = fire(&mut net, "features.7", &x, 32);
    x = net.max_pool("features.8", &x, POOL);
    for (layer, squeezed) in [(9, 48), (10, 48), (11, 64), (12, 64)] {
        x = fire(&mut net, &format!("features.{layer}"), &x, squeezed);
    }
    x = net.conv("classifier.1", &x, conv(1000, 1));
    x = net.relu("classifier.2", &x);
    x = net.global_pool("classifier.3", &x);
    let logits = net.flatten(&x, 1);
    net.finish(&logits)
}

/// Squeezes the channels, then expands them fourfold by 1×1 and by 3×3.
fn fire(net: &mut Net, module: &str, x: &Value, squeezed: usize) -> Value {
    let at = |layer: &str| format!("{module}.{layer}");
    let y = net.conv(&at("squeeze"), x, conv(squeezed, 1));
    let y = net.relu(&at("squeeze_activation"), &y);
    let small = net.conv(&at("expand1x1"), &y, conv(4 * squeezed, 1));
    let small = net.relu(&at("expand1x1_activation"), &small);
    let large = net.conv(&at("expand3x3"), &y, conv(4 * squeezed, 3));
    let large = net.relu(&at("expand3x3_activation"), &large);
    net.concat(module, &small, &large)
}
