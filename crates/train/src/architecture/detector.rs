//! A small one-stage detector without anchors: every cell of 8×8 pixels says what it sees and how
//! far the object reaches from the cell's centre to all four sides, as FCOS does (Tian et al.,
//! 2019).

use super::conv::{Conv, conv};
use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::{Net, Value};
use super::request::{Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

const TAKES: Takes = Takes::Widths {
    of: "channels and convolutions of the stages that end at a half, a quarter and an eighth",
    default: "16,32x2,64x3",
};

/// A one-stage detector without anchors: `scores` and `boxes` per cell of 8×8 pixels.
pub(super) const DETECTOR: Architecture = Architecture {
    name: "detector",
    about: "a one-stage detector without anchors: `scores` and `boxes` per cell of 8×8 pixels",
    takes: TAKES,
    task: Some(Task::Detect),
    plan,
};

/// Pixels along one side of a cell; losses count cells by it too.
pub(crate) const CELL: usize = 8;

/// What class logits start at: at first nearly every cell rightly says that it is background.
const PRIOR_BIAS: f32 = -4.0;

/// Gives `scores` \[N, cells, classes\] and `boxes` \[N, cells, 4\] as left, top, right and bottom
/// in pixels, cells row by row. Losses take the values in front of them: `logits` for the scores
/// and `distances`, logarithms of cells from the centre, for the boxes.
fn plan(request: &Request) -> Result<Blueprint, ArchitectureError> {
    request.multiple_of(CELL)?;
    let stages = request.exactly::<3>()?;
    let (mut net, mut x) = Net::of_image(request);
    for (stage, w) in (1..).zip(stages) {
        for n in 1..=w.times {
            let stride = if n == 1 { 2 } else { 1 };
            x = net.conv_bn_relu(&format!("stage{stage}"), n, &x, conv(w.width, 3).stride(stride));
        }
    }
    let seen = net.conv_bn_relu("scores.head", 1, &x, conv(x.channels(), 3));
    let logits = conv(request.spec.outputs, 3).deviation(0.01).bias(PRIOR_BIAS);
    let logits = per_cell(&mut net, "scores.head", &seen, request.spec.outputs, logits);
    net.label(&logits, "logits");
    let scores = net.simple("scores.sigmoid", "Sigmoid", &[&logits]);
    net.output(&scores, "scores");

    let reach = net.conv_bn_relu("boxes.head", 1, &x, conv(x.channels(), 3));
    let distances = per_cell(&mut net, "boxes.head", &reach, 4, conv(4, 3).deviation(0.01));
    net.label(&distances, "distances");
    let boxes = around_centres(&mut net, &distances, [x.height(), x.width()]);
    net.output(&boxes, "boxes");
    Ok(net.finish())
}

/// The head's last convolution, with its channels behind the cells.
fn per_cell(net: &mut Net, scope: &str, x: &Value, channels: usize, c: Conv) -> Value {
    let y = net.conv(&format!("{scope}.conv2"), x, c);
    let dims = [y.height(), y.width(), channels];
    let (last, node) = net.node(&format!("{scope}.last"), "Transpose", &[&y.name], &dims);
    node.attr_ints("perm", &[0, 2, 3, 1]);
    net.reshape(&format!("{scope}.cells"), &last, &[dims[0] * dims[1], channels])
}

/// Boxes that reach `exp(distance)` cells from each cell's centre to their four sides.
fn around_centres(net: &mut Net, distances: &Value, [rows, columns]: [usize; 2]) -> Value {
    let cell = CELL as f32;
    let middle = |n: usize| (n as f32 + 0.5) * cell;
    let centres = (0..rows * columns).flat_map(|at| {
        let x = middle(at % columns);
        let y = middle(at / columns);
        [x, y, x, y]
    });
    let centres = net.constant("boxes.centres", &[rows * columns, 4], centres.collect());
    let sides = net.constant("boxes.sides", &[4], vec![-cell, -cell, cell, cell]);
    let cells = net.simple("boxes.exp", "Exp", &[distances]);
    let (pixels, _) = net.node("boxes.reach", "Mul", &[&cells.name, &sides], &cells.dims);
    net.node("boxes.add", "Add", &[&pixels.name, &centres], &pixels.dims).0
}
