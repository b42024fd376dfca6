//! A convolutional highway network (Srivastava et al., 2015).

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::{Net, Value};
use super::request::{Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes =
    Takes::Widths { of: "channels and highway blocks of each stage", default: "16x2,32x2,64x2" };

/// A convolutional highway network, whose gates mix each block's input back in.
pub(super) const HIGHWAY: Architecture = Architecture {
    name: "highway",
    about: "a convolutional highway network, whose gates mix each block's input back in",
    takes: TAKES,
    task: Some(Task::Classify),
    plan,
};

/// What the gates' bias starts at: at first a block carries its input through nearly unchanged.
const GATE_BIAS: f32 = -2.0;

/// Stages of a convolution, highway blocks and a pooling, until a mean of each channel.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    let (mut net, mut x) = Net::of_image(request);
    for (stage, w) in (1..).zip(&request.widths) {
        let scope = format!("stage{stage}");
        x = net.conv_bn_relu(&scope, 1, &x, conv(w.width, 3));
        for n in 1..=w.times {
            x = highway(&mut net, &format!("{scope}.block{n}"), &x);
        }
        x = net.halve(&format!("{scope}.pool"), &x);
    }
    let logits = net.pooled_linear(&x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}

/// `T(x)·H(x) + (1 − T(x))·x`, computed as `x + T(x)·(H(x) − x)`.
fn highway(net: &mut Net, scope: &str, x: &Value) -> Value {
    let at = |layer: &str| format!("{scope}.{layer}");
    let h = net.conv_relu(&at("transform"), 1, x, conv(x.channels(), 3));
    let gate = conv(x.channels(), 3).linear().bias(GATE_BIAS);
    let t = net.conv(&at("gate.conv1"), x, gate);
    let t = net.simple(&at("gate.sigmoid"), "Sigmoid", &[&t]);
    let difference = net.simple(&at("difference"), "Sub", &[&h, x]);
    let gated = net.simple(&at("gated"), "Mul", &[&t, &difference]);
    net.simple(&at("add"), "Add", &[x, &gated])
}
