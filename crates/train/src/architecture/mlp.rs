//! Fully connected networks of any depth and width.

use super::ArchitectureError;
use super::net::Net;
use super::request::{Request, Takes};
use super::weights::Blueprint;

pub(super) const TAKES: Takes =
    Takes::Widths { of: "the width of each hidden layer", default: "128x2" };

/// Every pixel to every neuron, layer upon layer.
pub(super) fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    let (mut net, x) = Net::of_image(request);
    let mut x = net.flatten("flatten", &x);
    let layers = request.widths.iter().flat_map(|w| std::iter::repeat_n(w.width, w.times));
    for (n, width) in (1..).zip(layers) {
        x = net.linear_relu(&format!("fc{n}"), &x, width);
    }
    let logits = net.linear("head.fc", &x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}
