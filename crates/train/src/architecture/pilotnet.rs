//! PilotNet (Bojarski et al., 2016): a camera image in, a steering angle out.

use super::conv::{Conv, conv};
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::Net;
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[Number::factor("width multiplier", 1.0, [0.05, 4.0])]);

/// NVIDIA's PilotNet: steering `angle` between -1 and 1; from 61×61 pixels.
pub(super) const PILOTNET: Architecture = Architecture {
    name: "pilotnet",
    about: "NVIDIA's PilotNet: steering `angle` between -1 and 1; from 61×61 pixels",
    takes: TAKES,
    task: Some(Task::Regress),
    plan,
};

/// Five convolutions and four fully connected layers; `angle` lies between −1 and 1.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    request.at_least(61)?;
    let (mut net, mut x) = Net::of_image(request);
    let large = |width: usize| conv(request.scaled(width), 5).stride(2).pad(0);
    let small = |width: usize| conv(request.scaled(width), 3).pad(0);
    let convs: [Conv; 5] = [large(24), large(36), large(48), small(64), small(64)];
    for (n, c) in (1..).zip(convs) {
        x = net.conv_relu("features", n, &x, c);
    }
    x = net.flatten("head.flatten", &x);
    for (n, width) in [(1, 100), (2, 50), (3, 10)] {
        x = net.linear_relu(&format!("head.fc{n}"), &x, request.scaled(width));
    }
    x = net.linear("head.fc4", &x, request.spec.outputs);
    let angle = net.simple("head.tanh", "Tanh", &[&x]);
    Ok(net.finish_with(&angle, "angle"))
}
