//! MobileNetV2 (Sandler et al., 2018).

use super::conv::{Conv, conv};
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::{Net, Value};
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[
    Number::factor("width multiplier", 1.0, [0.05, 4.0]),
    Number::factor("dropout", 0.2, [0.0, 0.9]),
]);

/// MobileNetV2: inverted bottlenecks with depthwise convolutions.
pub(super) const MOBILENET_V2: Architecture = Architecture {
    name: "mobilenet_v2",
    about: "MobileNetV2: inverted bottlenecks with depthwise convolutions",
    takes: TAKES,
    task: Some(Task::Classify),
    plan,
};

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

/// Inverted bottlenecks with depthwise convolutions. Small images keep their size in the stem and
/// in the second stage.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    let (mut net, x) = Net::of_image(request);
    let early = if request.is_large() { 2 } else { 1 };
    let factor = request.factor(0);
    let stem = conv(in_eights(32.0 * factor), 3).stride(early);
    let mut x = conv_bn_relu6(&mut net, "stem", 1, &x, stem);
    for (stage, (expansion, channels, blocks, stride)) in (1..).zip(STAGES) {
        let width = in_eights(channels as f64 * factor);
        let first_stride = if stage == 2 { early } else { stride };
        for n in 1..=blocks {
            let stride = if n == 1 { first_stride } else { 1 };
            let scope = format!("stage{stage}.block{n}");
            x = inverted(&mut net, &scope, &x, expansion, width, stride);
        }
    }
    x = conv_bn_relu6(&mut net, "head", 1, &x, conv(in_eights(1280.0 * factor.max(1.0)), 1));
    x = net.pooled_row(&x);
    x = net.dropout("head.dropout", &x, request.factor(1));
    let logits = net.linear("head.fc", &x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}

/// Expands, filters every channel by itself, and projects back without a rectifier.
fn inverted(
    net: &mut Net,
    scope: &str,
    x: &Value,
    expansion: usize,
    channels: usize,
    stride: usize,
) -> Value {
    let wide = x.channels() * expansion;
    let mut y = x.clone();
    if expansion > 1 {
        y = conv_bn_relu6(net, scope, 1, &y, conv(wide, 1));
    }
    y = conv_bn_relu6(net, scope, 2, &y, conv(wide, 3).stride(stride).depthwise());
    y = net.conv_bn(scope, 3, &y, conv(channels, 1));
    if x.dims == y.dims { net.simple(&format!("{scope}.add"), "Add", &[x, &y]) } else { y }
}

fn conv_bn_relu6(net: &mut Net, scope: &str, n: usize, x: &Value, c: Conv) -> Value {
    let y = net.conv_bn(scope, n, x, c);
    net.relu6(&format!("{scope}.relu{n}"), &y)
}

/// The nearest multiple of 8 that is not more than a tenth below, as the authors' code has it.
fn in_eights(width: f64) -> usize {
    let rounded = ((width + 4.0) as usize / 8 * 8).max(8);
    if (rounded as f64) < 0.9 * width { rounded + 8 } else { rounded }
}
