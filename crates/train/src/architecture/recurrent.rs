//! Recurrent classifiers: the image's rows, from top to bottom, as a sequence.

use super::definition::Architecture;
use super::error::ArchitectureError;
use super::net::{Net, Value};
use super::request::{Request, Takes};
use super::weights::{Blueprint, Init};
use crate::task::Task;

const TAKES: Takes = Takes::Widths { of: "the width of each recurrent layer", default: "128" };

/// Rows of the image as a sequence into gated recurrent units.
pub(super) const GRU: Architecture = Architecture {
    name: "gru",
    about: "rows of the image as a sequence into gated recurrent units",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, GRU_CELL),
};

/// Rows of the image as a sequence into long short-term memory.
pub(super) const LSTM: Architecture = Architecture {
    name: "lstm",
    about: "rows of the image as a sequence into long short-term memory",
    takes: TAKES,
    task: Some(Task::Classify),
    plan: |request| plan(request, LSTM_CELL),
};

/// A kind of recurrent layer.
#[derive(Debug, Clone, Copy)]
struct Cell {
    op_type: &'static str,
    /// What the bias of each gate on the input starts at, in ONNX's order.
    bias: &'static [f32],
}

/// Long short-term memory; it starts out remembering (Jozefowicz et al., 2015).
const LSTM_CELL: Cell = Cell { op_type: "LSTM", bias: &[0.0, 0.0, 1.0, 0.0] };

/// Gated recurrent units, as PyTorch has them: the reset gate comes behind the product.
const GRU_CELL: Cell = Cell { op_type: "GRU", bias: &[0.0; 3] };

/// Stacked recurrent layers; the final state of the last one is classified.
fn plan(request: &Request, cell: Cell) -> Result<Blueprint, ArchitectureError> {
    let (mut net, image) = Net::of_image(request);
    let (rows, node) = net.node("rows.first", "Transpose", &[&image.name], &image.dims);
    node.attr_ints("perm", &[2, 0, 1, 3]);
    let shape = net.integers("rows.shape", &[0, 0, -1]);
    let features = image.channels() * image.width();
    let (mut x, _) = net.node("rows", "Reshape", &[&rows.name, &shape], &[features]);
    let widths = || request.widths.iter().flat_map(|w| std::iter::repeat_n(w.width, w.times));
    let last = widths().count();
    for (n, width) in (1..).zip(widths()) {
        x = recurrent(&mut net, &format!("layer{n}"), &x, cell, width, n == last);
    }
    let logits = net.linear("head.fc", &x, request.spec.outputs);
    Ok(net.finish_with(&logits, "logits"))
}

/// One layer: all its states, or the last one as a row.
fn recurrent(
    net: &mut Net,
    name: &str,
    x: &Value,
    cell: Cell,
    width: usize,
    is_last: bool,
) -> Value {
    let spread = Init::Uniform(1.0 / (width as f64).sqrt());
    let gates = cell.bias.len();
    let shape = [1, gates * width, x.channels()];
    let weight = net.weight(name, "weight", &shape, spread.clone());
    let back = net.weight(name, "recurrent.weight", &[1, gates * width, width], spread);
    let bias = [cell.bias, &vec![0.0; gates]].concat();
    let bias = net.weight(name, "bias", &[1, 2 * gates * width], Init::Runs(bias));
    let states = format!("{name}.states");
    let outputs = if is_last { vec!["", states.as_str()] } else { vec![states.as_str()] };
    let inputs = [x.name.as_str(), &weight, &back, &bias];
    let node = net.node_with_outputs(name, cell.op_type, &inputs, &outputs);
    let node = node.attr_i("hidden_size", width as i64);
    if cell.op_type == "GRU" {
        node.attr_i("linear_before_reset", 1);
    }
    // One direction only: its axis goes.
    let axis = net.integers(&format!("{name}.axis"), &[if is_last { 0 } else { 1 }]);
    net.node(&format!("{name}.squeeze"), "Squeeze", &[&states, &axis], &[width]).0
}
