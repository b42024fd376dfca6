//! MobileNetV2.

use faultlens_engine::onnx::ModelProto;

use super::net::{BRANCH, LINEAR, Net, Norm, Value, conv};

/// Expansion, channels, blocks and first stride of every stage.
const STAGES: [(usize, usize, usize, usize); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

/// MobileNetV2: depthwise convolutions and many small layers, where overhead shows.
pub fn mobilenet_v2(seed: u64, norm: Norm) -> ModelProto {
    let (mut net, input) = Net::new("mobilenet_v2", seed, norm);
    let mut x = net.conv_norm("features.0.0", "features.0.1", &input, conv(32, 3).stride(2));
    x = net.relu6("features.0.2", &x);
    let mut layer = 1;
    for (expansion, channels, blocks, first_stride) in STAGES {
        for block in 0..blocks {
            let stride = if block == 0 { first_stride } else { 1 };
            x = inverted(&mut net, &format!("features.{layer}"), &x, expansion, channels, stride);
            layer += 1;
        }
    }
    x = net.conv_norm("features.18.0", "features.18.1", &x, conv(1280, 1));
    x = net.relu6("features.18.2", &x);
    x = net.global_pool("", &x);
    x = net.flatten(&x, 1);
    let logits = net.linear("classifier.1", &x, 1000, LINEAR);
    net.finish(&logits)
}

/// Expands, filters every channel by itself, and projects back without a rectifier.
fn inverted(
    net: &mut Net,
    module: &str,
    x: &Value,
    expansion: usize,
    channels: usize,
    stride: usize,
) -> Value {
    let at = |layer: &str| format!("{module}.conv.{layer}");
    let wide = x.channels * expansion;
    let mut y = x.clone();
    let mut step = 0;
    if expansion > 1 {
        y = net.conv_norm(&at("0.0"), &at("0.1"), &y, conv(wide, 1));
        y = net.relu6(&at("0.2"), &y);
        step = 1;
    }
    let part = |n: usize| at(&format!("{step}.{n}"));
    y = net.conv_norm(&part(0), &part(1), &y, conv(wide, 3).stride(stride).groups(wide));
    y = net.relu6(&part(2), &y);
    let is_residual = stride == 1 && x.channels == channels;
    let project = conv(channels, 1).gain(if is_residual { BRANCH } else { LINEAR });
    let [conv_name, norm_name] = [step + 1, step + 2].map(|n| at(&n.to_string()));
    y = net.conv_norm(&conv_name, &norm_name, &y, project);
    if is_residual { net.add(module, x, &y) } else { y }
}
