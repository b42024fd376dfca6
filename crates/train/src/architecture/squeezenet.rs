//! SqueezeNet 1.1 (Iandola et al., 2016).

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::{Net, Value};
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[
    Number::factor("width multiplier", 1.0, [0.01, 4.0]),
    Number::factor("dropout", 0.5, [0.0, 0.9]),
]);

/// SqueezeNet 1.1: fire modules, no fully connected layer.
pub(super) const SQUEEZENET: Architecture = Architecture {
    name: "squeezenet",
    about: "SqueezeNet 1.1: fire modules, no fully connected layer",
    takes: TAKES,
    task: Some(Task::Classify),
    plan,
};

/// Squeezed channels of each fire module; a pooling stands before each list.
const STAGES: [&[usize]; 3] = [&[16, 16], &[32, 32], &[48, 48, 64, 64]];

/// Fire modules, and a 1×1 convolution instead of a fully connected layer. Pooling is padded, so
/// that any size works; small images keep their size in the stem.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    let (mut net, x) = Net::of_image(request);
    let stride = if request.is_large() { 2 } else { 1 };
    let mut x = net.conv_relu("stem", 1, &x, conv(request.scaled(64), 3).stride(stride));
    for (stage, squeezed) in (1..).zip(STAGES) {
        x = net.max_pool(&format!("stage{stage}.pool"), &x, 3, 1);
        for (n, &squeezed) in (1..).zip(squeezed) {
            x = fire(&mut net, &format!("stage{stage}.fire{n}"), &x, request.scaled(squeezed));
        }
    }
    x = net.dropout("head.dropout", &x, request.factor(1));
    x = net.conv_relu("head", 1, &x, conv(request.spec.outputs, 1).deviation(0.01));
    let logits = net.pooled_row(&x);
    Ok(net.finish_with(&logits, "logits"))
}

/// Squeezes the channels, then expands them fourfold by 1×1 and by 3×3.
fn fire(net: &mut Net, scope: &str, x: &Value, squeezed: usize) -> Value {
    let y = net.conv_relu(&format!("{scope}.squeeze"), 1, x, conv(squeezed, 1));
    let small = net.conv_relu(&format!("{scope}.expand"), 1, &y, conv(4 * squeezed, 1));
    let large = net.conv_relu(&format!("{scope}.expand"), 2, &y, conv(4 * squeezed, 3));
    net.concat(&format!("{scope}.concat"), &small, &large)
}
