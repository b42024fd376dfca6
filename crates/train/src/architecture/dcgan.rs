//! The generator of a DCGAN (Radford et al., 2016).

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::Net;
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;

const TAKES: Takes = Takes::Numbers(&[Number::whole("channels before the image", 32, [1, 1024])]);

/// The generator of a DCGAN: `z` in, `image` between -1 and 1 out.
pub(super) const DCGAN: Architecture = Architecture {
    name: "dcgan",
    about: "the generator of a DCGAN: `z` in, `image` between -1 and 1 out",
    takes: TAKES,
    task: None,
    plan,
};

/// A plane whose shorter side is no longer than this is small enough to start from.
const FIRST_SIDE: usize = 7;

/// From the latent vector `z`, as long as the outputs asked for, to an `image` between −1 and 1:
/// a small plane with many channels, doubled until it has the image's size.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    request.multiple_of(4)?;
    let spec = request.spec;
    let (mut net, z) = Net::new(request.name(), "z", &[spec.outputs]);
    let doublings = doublings(spec.height, spec.width);
    let base = request.whole(0);
    let first = [base << (doublings - 1), spec.height >> doublings, spec.width >> doublings];
    let x = net.linear("project", &z, first.iter().product());
    let x = net.reshape("project.plane", &x, &first);
    let x = net.batch_norm("project.bn", &x);
    let mut x = net.relu("project.relu", &x);
    let double = |to: usize| conv(to, 4).stride(2).pad(1);
    for left in (1..doublings).rev() {
        let n = doublings - left;
        x = net.up_bn_relu(&format!("stage{n}"), 1, &x, double(base << (left - 1)));
    }
    let x = net.conv_transpose("head.conv1", &x, double(spec.channels).linear());
    let image = net.simple("head.tanh", "Tanh", &[&x]);
    Ok(net.finish_with(&image, "image"))
}

/// How often both sides can be halved until the plane is small.
pub(super) fn doublings(height: usize, width: usize) -> usize {
    2.max(
        (0..)
            .take_while(|&n: &usize| {
                let h = height >> n;
                let w = width >> n;
                h.is_multiple_of(2) && w.is_multiple_of(2) && h.min(w) > FIRST_SIDE
            })
            .count(),
    )
}
