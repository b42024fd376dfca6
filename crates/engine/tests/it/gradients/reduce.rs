//! Axes that fold into one number, and softmax.

use super::differences::{Probe, check};

const AXES: [&[i64]; 6] = [&[2, 3], &[1], &[-1], &[0, -2], &[0, 1, 2, 3], &[-3, -4]];

const KINDS: [&str; 9] = [
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceSum",
    "ReduceSumSquare",
];

/// Positive, and a tenth away from each other within every row.
fn apart(shape: &[usize]) -> Vec<f32> {
    let count: usize = shape.iter().product();
    (0..count).map(|i| 0.3 + (i * 37 % 101) as f32 * 0.1).collect()
}

#[test]
fn folded_axes() {
    for op_type in KINDS {
        let shape: &[usize] = &[2, 3, 4, 3];
        let probe = || Probe::new(op_type).values(shape, apart(shape));
        for axes in AXES {
            for keep in [0, 1] {
                let list = axes.to_vec();
                let by_operand = probe().opset(18).constant(&[axes.len()], list.clone());
                check(by_operand.with(move |n| {
                    n.attr_i("keepdims", keep);
                }));
                let set = move |n: faultlens_engine::onnx::NodeBuilder<'_>| {
                    n.attr_i("keepdims", keep).attr_ints("axes", &list);
                };
                check(probe().opset(11).with(set));
            }
        }
        check(probe().opset(18));
        check(probe().opset(18).with(|n| {
            n.attr_i("noop_with_empty_axes", 1);
        }));
        let odd: &[usize] = &[2, 1, 3, 1, 2];
        let odd = Probe::new(op_type).opset(18).values(odd, apart(odd));
        check(odd.constant(&[1], vec![2i64]).with(|n| {
            n.attr_i("keepdims", 0);
        }));
    }
}

#[test]
fn softmax() {
    for op_type in ["Softmax", "LogSoftmax"] {
        for opset in [11, 13] {
            for axis in [0, 1, 2, 3, -1, -2, -3] {
                let probe = Probe::new(op_type).opset(opset).operand(&[2, 3, 4, 5]);
                check(probe.with(move |n| {
                    n.attr_i("axis", axis);
                }));
            }
            check(Probe::new(op_type).opset(opset).operand(&[3, 5, 2]));
            check(Probe::new(op_type).opset(opset).operand(&[4, 7]));
        }
        check(Probe::new(op_type).operand(&[5]));
    }
}
