//! Operators that pick, repeat, join, cut or reorder elements.

use super::differences::{Probe, check, check_threads};

/// Checks with the gradients in either order.
fn both_orders(probe: impl Fn() -> Probe) {
    check(probe());
    check(probe().flat());
}

#[test]
fn concat() {
    for (axis, other) in
        [(1, [2, 5, 2, 3]), (-3, [2, 1, 2, 3]), (0, [1, 3, 2, 3]), (3, [2, 3, 2, 4])]
    {
        both_orders(|| {
            let probe = Probe::new("Concat").operand(&[2, 3, 2, 3]).operand(&other);
            probe.with(move |n| {
                n.attr_i("axis", axis);
            })
        });
    }
    let shapes: [&[usize]; 3] = [&[2, 3, 4], &[2, 1, 4], &[2, 2, 4]];
    let probe = shapes.iter().fold(Probe::new("Concat"), |probe, shape| probe.operand(shape));
    check(probe.with(|n| {
        n.attr_i("axis", 1);
    }));
    let with_weight = Probe::new("Concat").constant(&[2, 2], vec![1.0f32; 4]).operand(&[2, 3]);
    check(with_weight.with(|n| {
        n.attr_i("axis", -1);
    }));
}

#[test]
fn split() {
    for (shape, axis) in [(&[2usize, 6, 2, 3][..], 1i64), (&[2, 3, 6, 1], -2), (&[6, 4], 0)] {
        both_orders(|| {
            let probe = Probe::new("Split").opset(11).results(2).operand(shape);
            probe.with(move |n| {
                n.attr_i("axis", axis).attr_ints("split", &[4, 2]);
            })
        });
        both_orders(|| {
            let probe = Probe::new("Split").results(3).operand(shape);
            let probe = probe.constant(&[3], vec![1i64, 3, 2]);
            probe.with(move |n| {
                n.attr_i("axis", axis);
            })
        });
        check(Probe::new("Split").opset(18).results(3).operand(shape).with(move |n| {
            n.attr_i("axis", axis).attr_i("num_outputs", 3);
        }));
    }
}

#[test]
fn slice() {
    let cuts: [(&[usize], [Vec<i64>; 4]); 6] = [
        (&[2, 3], [vec![2], vec![2], vec![1], vec![1]]),
        (&[2, 5, 4, 6], [vec![1], vec![4], vec![1], vec![1]]),
        (&[2, 5, 4, 6], [vec![0, 1], vec![99, 6], vec![2, 3], vec![2, 2]]),
        (&[2, 5, 4, 6], [vec![-1, 3], vec![-99, 0], vec![1, -2], vec![-2, -1]]),
        (&[7, 3], [vec![5, -3], vec![0, 3], vec![0, 1], vec![-2, 1]]),
        (&[1, 2, 3, 2, 4], [vec![1], vec![3], vec![2], vec![1]]),
    ];
    for (shape, lists) in cuts {
        both_orders(|| {
            let probe = Probe::new("Slice").operand(shape);
            let add = |probe: Probe, list: &Vec<i64>| probe.constant(&[list.len()], list.clone());
            lists.iter().fold(probe, add)
        });
    }
    check(Probe::new("Slice").opset(9).operand(&[2, 3, 4, 4]).with(|n| {
        n.attr_ints("starts", &[1, -3]).attr_ints("ends", &[3, 4]).attr_ints("axes", &[1, 3]);
    }));
}

#[test]
fn pad() {
    let widths: [(&[usize], Vec<i64>); 4] = [
        (&[1, 2, 4, 3], vec![0, 0, 1, 2, 0, 0, 2, 1]),
        (&[2, 3, 3, 4], vec![1, 0, 0, -1, 0, 2, -1, 1]),
        (&[5], vec![2, 3]),
        (&[1, 2, 3, 2, 3], vec![0, 0, 1, 0, 2, 0, 1, 0, 1, 1]),
    ];
    for mode in ["constant", "reflect", "edge", "wrap"] {
        for (shape, widths) in &widths {
            if mode != "constant" && widths.contains(&-1) {
                continue;
            }
            both_orders(|| {
                let probe = Probe::new("Pad").opset(19).operand(shape);
                let probe = probe.constant(&[widths.len()], widths.clone());
                probe.with(move |n| {
                    n.attr_s("mode", mode);
                })
            });
        }
    }
    check(Probe::new("Pad").opset(9).operand(&[1, 2, 3, 3]).with(|n| {
        n.attr_ints("pads", &[0, 0, 1, 2, 0, 0, 0, 1]).attr_f("value", 2.0);
    }));
    let filled = Probe::new("Pad").operand(&[3, 2]).constant(&[4], vec![1i64, 0, 0, 1]);
    check(filled.constant(&[], vec![0.5f32]));
}

#[test]
fn shapes() {
    let probe = |op_type, shape: &[usize]| Probe::new(op_type).operand(shape);
    let to = |probe: Probe, shape: Vec<i64>| probe.constant(&[shape.len()], shape);
    both_orders(|| to(probe("Reshape", &[2, 3, 4, 5]), vec![0, -1]));
    both_orders(|| to(probe("Reshape", &[2, 3, 4, 5]), vec![2, 5, 2, 6]));
    both_orders(|| to(probe("Reshape", &[2, 12]), vec![2, 3, 2, 2]));
    both_orders(|| to(probe("Reshape", &[2, 3, 1, 1]), vec![1, 6, 1, 1]));
    both_orders(|| to(probe("Reshape", &[2, 1, 2, 3]), vec![3, 4, 1, 1]));
    both_orders(|| probe("Flatten", &[2, 3, 4, 5]));
    both_orders(|| probe("Flatten", &[2, 5, 1, 1]));
    check(probe("Flatten", &[2, 3, 4]).with(|n| {
        n.attr_i("axis", -1);
    }));
    both_orders(|| to(probe("Squeeze", &[2, 1, 3, 1]), vec![1, -1]));
    check(probe("Squeeze", &[2, 3, 1, 1]).opset(11).with(|n| {
        n.attr_ints("axes", &[3]);
    }));
    both_orders(|| to(probe("Unsqueeze", &[2, 3]), vec![0, 2]));
    check(probe("Unsqueeze", &[2, 3]).opset(11).with(|n| {
        n.attr_ints("axes", &[2, 3]);
    }));
}

#[test]
fn transpose() {
    let permutations: [(&[usize], &[i64]); 6] = [
        (&[2, 3, 4, 5], &[0, 2, 3, 1]),
        (&[2, 3, 4, 5], &[0, 3, 1, 2]),
        (&[2, 3, 4, 5], &[2, 0, 1, 3]),
        (&[2, 3, 4], &[1, 2, 0]),
        (&[2, 3, 4, 2, 3], &[0, 1, 4, 2, 3]),
        (&[3, 4], &[1, 0]),
    ];
    for (shape, permutation) in permutations {
        both_orders(|| {
            let probe = Probe::new("Transpose").operand(shape);
            probe.with(move |n| {
                n.attr_ints("perm", permutation);
            })
        });
    }
    check(Probe::new("Transpose").operand(&[2, 3, 4]));
}

#[test]
fn repeated() {
    let expanded: [(&[usize], Vec<i64>); 5] = [
        (&[3, 1], vec![2, 3, 4]),
        (&[2, 1, 3, 1], vec![2, 4, 1, 5]),
        (&[1, 3, 1, 1], vec![2, 1, 2, 3]),
        (&[2, 3], vec![1, 1]),
        (&[], vec![2, 2, 1, 3]),
    ];
    for (shape, to) in expanded {
        both_orders(|| Probe::new("Expand").operand(shape).constant(&[to.len()], to.clone()));
    }
    let tiled: [(&[usize], Vec<i64>); 3] =
        [(&[2, 3], vec![2, 3]), (&[1, 2, 3, 2], vec![2, 2, 1, 3]), (&[4], vec![1])];
    for (shape, repeats) in tiled {
        both_orders(|| {
            Probe::new("Tile").operand(shape).constant(&[repeats.len()], repeats.clone())
        });
    }
}

#[test]
fn gather() {
    let gather = |shape: &[usize], axis: i64, indices: &[usize], numbers: Vec<i64>| {
        both_orders(|| {
            let probe = Probe::new("Gather").operand(shape).constant(indices, numbers.clone());
            probe.with(move |n| {
                n.attr_i("axis", axis);
            })
        });
    };
    gather(&[5, 3], 0, &[4], vec![1, -1, 1, 0]);
    gather(&[2, 4, 3], 1, &[2, 2], vec![3, 0, 3, -2]);
    gather(&[2, 4, 3, 2], -1, &[3], vec![0, 0, 1]);
    gather(&[2, 4, 3, 2], 1, &[], vec![2]);
    gather(&[6], 0, &[2, 1, 2], vec![5, 5, -6, 2]);
}

#[test]
fn blocks() {
    both_orders(|| {
        Probe::new("SpaceToDepth").operand(&[2, 3, 4, 6]).with(|n| {
            n.attr_i("blocksize", 2);
        })
    });
    for mode in ["DCR", "CRD"] {
        both_orders(|| {
            let probe = Probe::new("DepthToSpace").operand(&[1, 18, 2, 3]);
            probe.with(move |n| {
                n.attr_i("blocksize", 3).attr_s("mode", mode);
            })
        });
    }
}

#[test]
fn threads_change_nothing() {
    check_threads(|| {
        let probe = Probe::new("Concat").operand(&[3, 24, 30, 31]).operand(&[3, 9, 30, 31]);
        probe.with(|n| {
            n.attr_i("axis", 1);
        })
    });
    check_threads(|| {
        let probe = Probe::new("Split").results(2).operand(&[3, 24, 30, 31]);
        probe.with(|n| {
            n.attr_i("axis", 1);
        })
    });
    check_threads(|| {
        let probe = Probe::new("Pad").operand(&[3, 24, 30, 31]);
        let probe = probe.constant(&[8], vec![0i64, 0, 2, 3, 0, 0, 4, 1]);
        probe.with(|n| {
            n.attr_s("mode", "reflect");
        })
    });
    check_threads(|| {
        Probe::new("Expand").operand(&[24, 1, 31]).constant(&[4], vec![3i64, 1, 30, 1])
    });
}
