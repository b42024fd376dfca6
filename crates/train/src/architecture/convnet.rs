//! A plain convolutional network of any depth and width.

use super::ArchitectureError;
use super::conv::conv;
use super::net::Net;
use super::request::{Request, Takes};
use super::weights::Blueprint;

pub(super) const TAKES: Takes =
    Takes::Widths { of: "channels and convolutions of each stage", default: "16,32,64" };

/// Stages of 3×3 convolutions, each ended by a pooling, until a mean of each channel.
pub(super) fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
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
