//! An autoencoder: the picture through a bottleneck, and back.

use super::conv::conv;
use super::dcgan::doublings;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::Net;
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[
    Number::whole("channels at half size", 16, [1, 1024]),
    Number::whole("length of the bottleneck", 64, [1, 65536]),
]);

/// The picture through a bottleneck and back: `picture` between 0 and 1.
pub(super) const AUTOENCODER: Architecture = Architecture {
    name: "autoencoder",
    about: "the picture through a bottleneck and back: `picture` between 0 and 1",
    takes: TAKES,
    task: Some(Task::Reconstruct),
    plan,
};

/// Halves the image and doubles the channels until the plane is small, squeezes it into the
/// vector `code`, and goes the same way back, to a `picture` between 0 and 1 with as many channels
/// as outputs are asked for.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    request.multiple_of(4)?;
    let spec = request.spec;
    let (mut net, mut x) = Net::of_image(request);
    let halvings = doublings(spec.height, spec.width);
    let base = request.whole(0);
    for n in 1..=halvings {
        x = net.conv_bn_relu(&format!("down{n}"), 1, &x, conv(base << (n - 1), 3).stride(2));
    }
    let plane = x.dims.clone();
    let row = net.flatten("flatten", &x);
    let code = net.linear("code", &row, request.whole(1));
    let x = net.linear("project", &code, row.len());
    let x = net.reshape("project.plane", &x, &plane);
    let x = net.batch_norm("project.bn", &x);
    let mut x = net.relu("project.relu", &x);
    let double = |to: usize| conv(to, 4).stride(2).pad(1);
    for n in (1..halvings).rev() {
        x = net.up_bn_relu(&format!("up{n}"), 1, &x, double(base << (n - 1)));
    }
    let x = net.conv_transpose("head.conv1", &x, double(spec.outputs).linear());
    let picture = net.simple("head.sigmoid", "Sigmoid", &[&x]);
    Ok(net.finish_with(&picture, "picture"))
}
