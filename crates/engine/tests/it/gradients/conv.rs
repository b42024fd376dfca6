//! Convolutions: strides, pads, dilations, groups, few and many channels.

use super::differences::{Probe, check};

struct Case {
    input: [usize; 4],
    weights: [usize; 4],
    strides: [i64; 2],
    pads: [i64; 4],
    dilations: [i64; 2],
    group: i64,
}

const PLAIN: Case = Case {
    input: [2, 3, 6, 7],
    weights: [4, 3, 3, 3],
    strides: [1, 1],
    pads: [1, 1, 1, 1],
    dilations: [1, 1],
    group: 1,
};

#[test]
fn conv() {
    let cases = [
        PLAIN,
        Case { strides: [2, 2], ..PLAIN },
        Case { strides: [2, 3], pads: [0, 1, 2, 0], ..PLAIN },
        Case { dilations: [2, 2], pads: [2, 2, 2, 2], ..PLAIN },
        Case { dilations: [2, 1], strides: [2, 2], ..PLAIN },
        Case { input: [1, 6, 5, 5], weights: [4, 3, 3, 3], group: 2, ..PLAIN },
        Case { input: [2, 5, 5, 6], weights: [5, 1, 3, 3], group: 5, ..PLAIN },
        Case { input: [2, 5, 7, 6], weights: [5, 1, 3, 3], group: 5, strides: [2, 2], ..PLAIN },
        Case { input: [1, 4, 5, 5], weights: [8, 1, 3, 3], group: 4, ..PLAIN },
        Case { input: [2, 20, 4, 5], weights: [17, 20, 1, 1], pads: [0; 4], ..PLAIN },
        Case {
            input: [2, 20, 5, 5],
            weights: [9, 20, 1, 1],
            pads: [0; 4],
            strides: [2, 2],
            ..PLAIN
        },
        Case { input: [1, 18, 5, 5], weights: [70, 18, 3, 3], ..PLAIN },
        Case {
            input: [1, 18, 6, 6],
            weights: [7, 18, 5, 5],
            pads: [2; 4],
            strides: [2, 2],
            ..PLAIN
        },
        Case { input: [1, 3, 4, 4], weights: [2, 3, 1, 1], pads: [1; 4], ..PLAIN },
    ];
    for Case { input, weights, strides, pads, dilations, group } in cases {
        let probe = Probe::new("Conv").operand(&input).operand(&weights).operand(&weights[..1]);
        check(probe.with(move |node| {
            node.attr_ints("strides", &strides)
                .attr_ints("pads", &pads)
                .attr_ints("dilations", &dilations)
                .attr_i("group", group);
        }));
    }
}

#[test]
fn conv_transpose() {
    let plain = Case { input: [2, 4, 4, 5], weights: [4, 3, 3, 3], pads: [0; 4], ..PLAIN };
    let cases = [
        Case { ..plain },
        Case { strides: [2, 2], pads: [1; 4], ..plain },
        Case { weights: [4, 3, 2, 2], strides: [2, 2], ..plain },
        Case { strides: [3, 2], dilations: [1, 2], pads: [0, 1, 2, 0], ..plain },
        Case { weights: [4, 2, 3, 3], group: 2, ..plain },
        Case { input: [1, 20, 4, 4], weights: [20, 18, 3, 3], strides: [2, 2], ..plain },
    ];
    for Case { input, weights, strides, pads, dilations, group } in cases {
        let outputs = weights[1] * group as usize;
        let probe = Probe::new("ConvTranspose").operand(&input).operand(&weights);
        check(probe.operand(&[outputs]).with(move |node| {
            node.attr_ints("strides", &strides)
                .attr_ints("pads", &pads)
                .attr_ints("dilations", &dilations)
                .attr_i("group", group);
        }));
    }
}
