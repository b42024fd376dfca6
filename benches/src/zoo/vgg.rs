//! VGG-16.

use faultlens_engine::onnx::ModelProto;

use super::net::{HE, LINEAR, Net, Norm, Pool, conv};

const POOL: Pool = Pool { kernel: 2, pad: 0, ceil_mode: false };

/// VGG-16: one plain chain, heavy in arithmetic and, with 138 million weights, in memory.
pub fn vgg16(seed: u64) -> ModelProto {
    let (mut net, mut x) = Net::new("vgg16", seed, Norm::Folded);
    let mut layer = 0;
    for (width, convs) in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)] {
        for _ in 0..convs {
            x = net.conv(&format!("features.{layer}"), &x, conv(width, 3));
            x = net.relu(&format!("features.{}", layer + 1), &x);
            layer += 2;
        }
        x = net.max_pool(&format!("features.{layer}"), &x, POOL);
        layer += 1;
    }
    x = net.idle_pool("avgpool", &x);
    x = net.flatten(&x, 7 * 7);
    for layer in [0, 3] {
        x = net.linear(&format!("classifier.{layer}"), &x, 4096, HE);
        x = net.relu(&format!("classifier.{}", layer + 1), &x);
    }
    let logits = net.linear("classifier.6", &x, 1000, LINEAR);
    net.finish(&logits)
}
