//! Normalisations by a value's own mean and variance, or by its neighbours.

use super::differences::{Probe, check};

#[test]
fn layers() {
    let shapes: [(&[usize], i64, &[usize]); 6] = [
        (&[2, 3, 7], -1, &[7]),
        (&[2, 3, 7], 1, &[3, 7]),
        (&[2, 3, 4, 5], -1, &[5]),
        (&[2, 3, 4, 5], -3, &[3, 4, 5]),
        (&[2, 3, 2, 2], 0, &[2, 3, 2, 2]),
        (&[9], 0, &[1]),
    ];
    for (x, axis, own) in shapes {
        let probe = || {
            let probe = Probe::new("LayerNormalization").operand(x).operand(own);
            probe.with(move |n| {
                n.attr_i("axis", axis).attr_f("epsilon", 1e-2);
            })
        };
        check(probe());
        check(probe().operand(own));
    }
}

#[test]
fn groups_of_channels() {
    for x in [&[2, 4, 3, 5][..], &[2, 4, 7], &[1, 4, 2, 3, 2]] {
        let instance = Probe::new("InstanceNormalization").operand(x).operand(&[4]).operand(&[4]);
        check(instance.with(|n| {
            n.attr_f("epsilon", 1e-2);
        }));
        for (opset, groups, own) in [(21, 1, 4), (21, 2, 4), (21, 4, 4), (18, 2, 2), (18, 1, 1)] {
            let probe = Probe::new("GroupNormalization").opset(opset).operand(x);
            let probe = probe.operand(&[own]).operand(&[own]);
            check(probe.with(move |n| {
                n.attr_i("num_groups", groups);
            }));
        }
    }
}

#[test]
fn neighbouring_channels() {
    for size in [1, 2, 3, 4, 5, 9] {
        let probe = Probe::new("LRN").operand(&[2, 6, 3, 2]);
        check(probe.with(move |n| {
            let n = n.attr_i("size", size).attr_f("alpha", 0.7);
            n.attr_f("beta", 0.6).attr_f("bias", 1.5);
        }));
    }
}

#[test]
fn statistics_have_no_gradients() {
    let probe = Probe::new("LayerNormalization").results(3).operand(&[2, 5]).operand(&[5]);
    let error = probe.gradients(&probe.feeds()).unwrap_err().to_string();
    assert!(error.contains("mean and deviation"), "{error}");
}
