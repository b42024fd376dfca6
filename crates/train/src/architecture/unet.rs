//! A small U-Net for segmentation (Ronneberger et al., 2015).

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::{Net, Value};
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[
    Number::whole("channels at full size", 16, [1, 1024]),
    Number::whole("halvings", 3, [1, 6]),
]);

/// A small U-Net: `logits` for every class and pixel.
pub(super) const UNET: Architecture = Architecture {
    name: "unet",
    about: "a small U-Net: `logits` for every class and pixel",
    takes: TAKES,
    task: Some(Task::Segment),
    plan,
};

/// Halves the image and doubles the channels, then goes back up with the planes of the way down
/// beside; gives `logits` for every class and pixel.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    let base = request.whole(0);
    let depth = request.whole(1);
    request.multiple_of(1 << depth)?;
    let (mut net, mut x) = Net::of_image(request);
    let mut kept = Vec::new();
    for level in 1..=depth {
        let scope = format!("down{level}");
        x = twice(&mut net, &scope, &x, base << (level - 1));
        kept.push(x.clone());
        x = net.halve(&format!("{scope}.pool"), &x);
    }
    x = twice(&mut net, "bottom", &x, base << depth);
    for (level, skip) in kept.iter().enumerate().rev() {
        let scope = format!("up{}", level + 1);
        let grow = conv(skip.channels(), 2).stride(2).pad(0).linear();
        let grown = net.conv_transpose(&format!("{scope}.grow"), &x, grow);
        let joined = net.concat(&format!("{scope}.concat"), skip, &grown);
        x = twice(&mut net, &scope, &joined, skip.channels());
    }
    let logits = net.conv("head.conv1", &x, conv(request.spec.outputs, 1).linear());
    Ok(net.finish_with(&logits, "logits"))
}

fn twice(net: &mut Net, scope: &str, x: &Value, width: usize) -> Value {
    let y = net.conv_bn_relu(scope, 1, x, conv(width, 3));
    net.conv_bn_relu(scope, 2, &y, conv(width, 3))
}
