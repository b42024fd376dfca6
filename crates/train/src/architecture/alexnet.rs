//! AlexNet in torchvision's layout (Krizhevsky, 2014).

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::Net;
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[
    Number::factor("width multiplier", 1.0, [0.01, 4.0]),
    Number::factor("dropout", 0.5, [0.0, 0.9]),
]);

/// AlexNet in torchvision's layout; from 15×15 pixels.
pub(super) const ALEXNET: Architecture = Architecture {
    name: "alexnet",
    about: "AlexNet in torchvision's layout; from 15×15 pixels",
    takes: TAKES,
    task: Some(Task::Classify),
    plan,
};

/// Five convolutions and three fully connected layers. Small images get a 5×5 stem that keeps
/// their size instead of the 11×11 one that quarters it.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    request.at_least(15)?;
    let (mut net, x) = Net::of_image(request);
    let width = request.scaled(64);
    let stem = if request.is_large() { conv(width, 11).stride(4).pad(2) } else { conv(width, 5) };
    let x = net.conv_relu("stage1", 1, &x, stem);
    let x = net.max_pool("stage1.pool", &x, 3, 0);
    let x = net.conv_relu("stage2", 1, &x, conv(request.scaled(192), 5));
    let mut x = net.max_pool("stage2.pool", &x, 3, 0);
    for (n, width) in [(1, 384), (2, 256), (3, 256)] {
        x = net.conv_relu("stage3", n, &x, conv(request.scaled(width), 3));
    }
    x = net.max_pool("stage3.pool", &x, 3, 0);
    x = net.shrink("head.pool", &x, 6);
    x = net.flatten("head.flatten", &x);
    for n in 1..=2 {
        x = net.dropout(&format!("head.dropout{n}"), &x, request.factor(1));
        x = net.linear_relu(&format!("head.fc{n}"), &x, request.scaled(4096));
    }
    let logits = net.linear("head.fc3", &x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}
