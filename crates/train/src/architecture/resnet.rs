//! ResNet (He et al., 2016): with ImageNet's widths and with the paper's own for CIFAR-10.

use super::conv::conv;
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::{Net, Value};
use super::request::{Number, Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Numbers(&[Number::factor("width multiplier", 1.0, [0.01, 4.0])]);

/// ResNet-101: bottlenecks in four stages of 3, 4, 23 and 3.
pub(super) const RESNET101: Architecture = Architecture {
    name: "resnet101",
    about: "ResNet-101: bottlenecks in four stages of 3, 4, 23 and 3",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, Block::Bottleneck, [3, 4, 23, 3]),
};

/// ResNet-152: bottlenecks in four stages of 3, 8, 36 and 3.
pub(super) const RESNET152: Architecture = Architecture {
    name: "resnet152",
    about: "ResNet-152: bottlenecks in four stages of 3, 8, 36 and 3",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, Block::Bottleneck, [3, 8, 36, 3]),
};

/// ResNet-18: four stages of 2 blocks.
pub(super) const RESNET18: Architecture = Architecture {
    name: "resnet18",
    about: "ResNet-18: four stages of 2 blocks",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, Block::Basic, [2, 2, 2, 2]),
};

/// ResNet-20 for CIFAR-10: three stages of 3 blocks, 16 to 64 channels.
pub(super) const RESNET20: Architecture = Architecture {
    name: "resnet20",
    about: "ResNet-20 for CIFAR-10: three stages of 3 blocks, 16 to 64 channels",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: plan_for_cifar,
};

/// ResNet-34: four stages of 3, 4, 6 and 3 blocks.
pub(super) const RESNET34: Architecture = Architecture {
    name: "resnet34",
    about: "ResNet-34: four stages of 3, 4, 6 and 3 blocks",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, Block::Basic, [3, 4, 6, 3]),
};

/// ResNet-50: bottlenecks in four stages of 3, 4, 6 and 3.
pub(super) const RESNET50: Architecture = Architecture {
    name: "resnet50",
    about: "ResNet-50: bottlenecks in four stages of 3, 4, 6 and 3",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, Block::Bottleneck, [3, 4, 6, 3]),
};

/// What a block computes beside its shortcut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Two 3×3 convolutions.
    Basic,
    /// 1×1, 3×3 with the stride (v1.5), and 1×1 to four times as many channels.
    Bottleneck,
}

/// ResNet-18 to -152: four stages from 64 channels. Small images keep their size in the stem;
/// large ones are quartered as on ImageNet.
fn plan(
    request: &Request,
    block: Block,
    blocks: [usize; 4],
) -> Result<Blueprint, ArchitectureError> {
    let (mut net, x) = Net::of_image(request);
    let width = request.scaled(64);
    let x = if request.is_large() {
        let x = net.conv_bn_relu("stem", 1, &x, conv(width, 7).stride(2));
        net.max_pool("stem.pool", &x, 3, 1)
    } else {
        net.conv_bn_relu("stem", 1, &x, conv(width, 3))
    };
    let stages = (0..).zip(blocks).map(|(stage, count)| (request.scaled(64 << stage), count));
    Ok(finish(request, net, x, block, stages))
}

/// ResNet-20 of the paper's section 4.2: three stages of three blocks from 16 channels. Where the
/// shape changes, its shortcuts are convolutions (option B), not padded with zeros (option A).
fn plan_for_cifar(request: &Request) -> Result<Blueprint, ArchitectureError> {
    let (mut net, x) = Net::of_image(request);
    let x = net.conv_bn_relu("stem", 1, &x, conv(request.scaled(16), 3));
    let stages = [16, 32, 64].map(|width| (request.scaled(width), 3));
    Ok(finish(request, net, x, Block::Basic, stages))
}

/// Stages of a width and so many blocks each, and the head.
fn finish(
    request: &Request,
    mut net: Net,
    mut x: Value,
    block: Block,
    stages: impl IntoIterator<Item = (usize, usize)>,
) -> Blueprint {
    for (stage, (width, count)) in (1..).zip(stages) {
        for n in 1..=count {
            let stride = if stage > 1 && n == 1 { 2 } else { 1 };
            x = residual(&mut net, &format!("stage{stage}.block{n}"), &x, block, width, stride);
        }
    }
    let logits = net.pooled_linear(&x, request.spec.outputs);
    net.finish_with(&logits, "logits")
}

fn residual(
    net: &mut Net,
    scope: &str,
    x: &Value,
    block: Block,
    width: usize,
    stride: usize,
) -> Value {
    let convs = match block {
        Block::Basic => vec![conv(width, 3).stride(stride), conv(width, 3)],
        Block::Bottleneck => {
            vec![conv(width, 1), conv(width, 3).stride(stride), conv(4 * width, 1)]
        }
    };
    let last = convs.len();
    let mut y = x.clone();
    for (n, c) in (1..).zip(convs) {
        y = if n < last { net.conv_bn_relu(scope, n, &y, c) } else { net.conv_bn(scope, n, &y, c) };
    }
    let shortcut = if stride > 1 || x.channels() != y.channels() {
        let c = conv(y.channels(), 1).stride(stride);
        net.conv_bn(&format!("{scope}.shortcut"), 1, x, c)
    } else {
        x.clone()
    };
    let sum = net.simple(&format!("{scope}.add"), "Add", &[&y, &shortcut]);
    net.relu(&format!("{scope}.relu{last}"), &sum)
}
