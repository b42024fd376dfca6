//! A plain convolutional network of any depth and width.

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::Net;
use super::request::{Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes =
    Takes::Widths { of: "channels and convolutions of each stage", default: "16,32,64" };

/// A plain convolutional network of any depth and width.
pub(super) const CONVNET: Architecture = Architecture {
    name: "convnet",
    about: "a plain convolutional network of any depth and width",
    takes: TAKES,
    task: Some(Task::Classify),
    plan,
};

/// Stages of 3×3 convolutions, each ended by a pooling, until a mean of each channel.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    let (mut net, mut x) = Net::of_image(request);
    for (stage, w) in (1..).zip(&request.widths) {
        let scope = format!("stage{stage}");
        for n in 1..=w.times {
            x = net.conv_bn_relu(&scope, n, &x, conv(w.width, 3));
        }
        x = net.halve(&format!("{scope}.pool"), &x);
    }
    let logits = net.pooled_linear(&x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}
