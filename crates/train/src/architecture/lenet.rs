//! LeNet-5 (LeCun et al., 1998), with rectifiers and maximum pooling.

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::Net;
use super::request::{Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[]);

/// LeNet-5 with rectifiers and maximum pooling; from 12×12 pixels.
pub(super) const LENET: Architecture = Architecture {
    name: "lenet",
    about: "LeNet-5 with rectifiers and maximum pooling; from 12×12 pixels",
    takes: TAKES,
    task: Some(Task::Classify),
    plan,
};

/// The size that the paper pads its 28×28 digits to; smaller images are padded by as much here.
const PAPER_SIDE: usize = 32;

/// Two 5×5 convolutions with pooling, then layers of 120 and 84.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    request.at_least(12)?;
    let (mut net, x) = Net::of_image(request);
    let pad = if request.spec.side() < PAPER_SIDE { 2 } else { 0 };
    let x = net.conv_relu("stage1", 1, &x, conv(6, 5).pad(pad));
    let x = net.halve("stage1.pool", &x);
    let x = net.conv_relu("stage2", 1, &x, conv(16, 5).pad(0));
    let x = net.halve("stage2.pool", &x);
    let x = net.flatten("head.flatten", &x);
    let x = net.linear_relu("head.fc1", &x, 120);
    let x = net.linear_relu("head.fc2", &x, 84);
    let logits = net.linear("head.fc3", &x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}
