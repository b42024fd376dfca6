//! VGG (Simonyan and Zisserman, 2015) with batch normalisation and a single layer as its head.

use super::ArchitectureError;
use super::conv::conv;
use super::net::Net;
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;

pub(super) const TAKES: Takes = Takes::Numbers(&[
    Number::factor("width multiplier", 1.0, [0.01, 4.0]),
    Number::factor("dropout", 0.0, [0.0, 0.9]),
]);

const WIDTHS: [usize; 5] = [64, 128, 256, 512, 512];

/// A plain chain of 3×3 convolutions: so many in each of five stages.
pub(super) fn plan(request: &Request, convs: [usize; 5]) -> Result<Blueprint, ArchitectureError> {
    let (mut net, mut x) = Net::of_image(request);
    for (stage, (width, convs)) in (1..).zip(WIDTHS.into_iter().zip(convs)) {
        let scope = format!("stage{stage}");
        for n in 1..=convs {
            x = net.conv_bn_relu(&scope, n, &x, conv(request.scaled(width), 3));
        }
        x = net.halve(&format!("{scope}.pool"), &x);
    }
    x = net.pooled_row(&x);
    x = net.dropout("head.dropout", &x, request.factor(1));
    let logits = net.linear("head.fc", &x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}
