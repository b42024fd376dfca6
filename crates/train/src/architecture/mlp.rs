//! Fully connected networks of any depth and width.

use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::Net;
use super::request::{Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Widths { of: "the width of each hidden layer", default: "128x2" };

/// Fully connected layers of any depth and width.
pub(super) const MLP: Architecture = Architecture {
    name: "mlp",
    about: "fully connected layers of any depth and width",
    takes: TAKES,
    task: Some(Task::Classify),
    plan,
};

/// Every pixel to every neuron, layer upon layer.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    let (mut net, x) = Net::of_image(request);
    let mut x = net.flatten("flatten", &x);
    let layers = request.widths.iter().flat_map(|w| std::iter::repeat_n(w.width, w.times));
    for (n, width) in (1..).zip(layers) {
        x = net.linear_relu(&format!("fc{n}"), &x, width);
    }
    let logits = net.linear("head.fc", &x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}
