//! `RNN`, `GRU` and `LSTM`.

use super::differences::{Probe, check};
use faultlens_core::TensorData;

/// Steps, rows of the batch, inputs and states.
const SIZES: [usize; 4] = [4, 2, 3, 2];

/// A layer with everything it can be given, unless `bare`.
fn layer(op_type: &'static str, direction: &'static str, bare: bool) -> Probe {
    let [steps, batch, input, hidden] = SIZES;
    let (gates, results) = match op_type {
        "RNN" => (1, 2),
        "GRU" => (3, 2),
        _ => (4, 3),
    };
    let directions = if direction == "bidirectional" { 2 } else { 1 };
    let probe = Probe::new(op_type).results(results).operand(&[steps, batch, input]);
    let probe = probe.operand(&[directions, gates * hidden, input]);
    let probe = probe.operand(&[directions, gates * hidden, hidden]);
    let probe = if bare {
        probe
    } else {
        let start = [directions, batch, hidden];
        let probe = probe.operand(&[directions, 2 * gates * hidden]).absent().operand(&start);
        if op_type == "LSTM" { probe.operand(&start) } else { probe }
    };
    probe.with(move |n| {
        n.attr_s("direction", direction).attr_i("hidden_size", hidden as i64);
    })
}

#[test]
fn every_direction() {
    for op_type in ["RNN", "GRU", "LSTM"] {
        for direction in ["forward", "reverse", "bidirectional"] {
            check(layer(op_type, direction, false));
            check(layer(op_type, direction, true));
        }
    }
}

#[test]
fn reset_behind_the_product() {
    for direction in ["forward", "bidirectional"] {
        let hidden = SIZES[3] as i64;
        check(layer("GRU", direction, false).with(move |n| {
            n.attr_s("direction", direction)
                .attr_i("hidden_size", hidden)
                .attr_i("linear_before_reset", 1);
        }));
    }
}

#[test]
fn peepholes_and_coupled_gates() {
    let [_, _, _, hidden] = SIZES;
    for coupled in [0, 1] {
        check(layer("LSTM", "bidirectional", false).operand(&[2, 3 * hidden]).with(move |n| {
            n.attr_s("direction", "bidirectional")
                .attr_i("hidden_size", hidden as i64)
                .attr_i("input_forget", coupled);
        }));
    }
}

/// Rows that end early, one of them before it begins.
#[test]
fn sequences_of_different_lengths() {
    let [steps, _, input, hidden] = SIZES;
    for (op_type, gates) in [("RNN", 1), ("GRU", 3), ("LSTM", 4)] {
        let probe = Probe::new(op_type).results(2).operand(&[steps, 3, input]);
        let probe = probe.operand(&[2, gates * hidden, input]);
        let probe = probe.operand(&[2, gates * hidden, hidden]).operand(&[2, 2 * gates * hidden]);
        let lengths: TensorData = vec![4i32, 2, 0].into();
        let probe = probe.constant(&[3], lengths).operand(&[2, 3, hidden]);
        check(probe.with(move |n| {
            n.attr_s("direction", "bidirectional").attr_i("hidden_size", hidden as i64);
        }));
    }
}

#[test]
fn other_activations_are_refused() {
    let probe = layer("LSTM", "forward", true).with(|n| {
        n.attr_i("hidden_size", 2).attr_f("clip", 1.0);
    });
    let error = probe.gradients(&probe.feeds()).unwrap_err().to_string();
    assert!(error.contains("default activations"), "{error}");
}
