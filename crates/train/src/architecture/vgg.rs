//! VGG (Simonyan and Zisserman, 2015) with batch normalisation and a single layer as its head.

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::Net;
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[
    Number::factor("width multiplier", 1.0, [0.01, 4.0]),
    Number::factor("dropout", 0.0, [0.0, 0.9]),
]);

/// VGG-11 with batch normalisation and one layer as its head.
pub(super) const VGG11: Architecture = Architecture {
    name: "vgg11",
    about: "VGG-11 with batch normalisation and one layer as its head",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, [1, 1, 2, 2, 2]),
};

/// VGG-16 with batch normalisation and one layer as its head.
pub(super) const VGG16: Architecture = Architecture {
    name: "vgg16",
    about: "VGG-16 with batch normalisation and one layer as its head",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, [2, 2, 3, 3, 3]),
};

const WIDTHS: [usize; 5] = [64, 128, 256, 512, 512];

/// A plain chain of 3×3 convolutions: so many in each of five stages.
fn plan(request: &Request, convs: [usize; 5]) -> Result<Blueprint, ArchitectureError> {
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
