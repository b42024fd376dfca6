//! Pools.

use super::differences::{Probe, check, check_threads};

/// Axes of the plane, and the window over it: kernel, strides, pads and whether the last one may
/// hang over.
type Case = (&'static [usize], [&'static [i64]; 3], bool);

const WINDOWS: [Case; 7] = [
    (&[4, 6], [&[2, 2], &[2, 2], &[0; 4]], false),
    (&[5, 7], [&[3, 3], &[2, 2], &[1; 4]], false),
    (&[4, 5], [&[2, 3], &[1, 2], &[0, 1, 1, 0]], false),
    (&[6, 5], [&[3, 2], &[2, 2], &[1, 0, 0, 1]], true),
    (&[9], [&[3], &[2], &[1, 1]], false),
    (&[9], [&[4], &[3], &[0, 2]], true),
    (&[3, 4, 3], [&[2, 2, 3], &[1, 2, 1], &[0, 1, 0, 1, 0, 1]], false),
];

/// Two images of three channels under a window.
fn windowed(op_type: &'static str, (plane, window, ceil): Case, include_pads: bool) -> Probe {
    let shape: Vec<usize> = [2, 3].iter().chain(plane).copied().collect();
    Probe::new(op_type).apart(&shape).with(move |node| {
        let [kernel, strides, pads] = window;
        let node = node.attr_ints("kernel_shape", kernel).attr_ints("strides", strides);
        let node = node.attr_ints("pads", pads).attr_i("ceil_mode", ceil.into());
        if include_pads {
            node.attr_i("count_include_pad", 1);
        }
    })
}

/// Pads that the operator finds itself.
fn padded_by_itself(op_type: &'static str) {
    for auto in ["SAME_UPPER", "SAME_LOWER", "VALID"] {
        check(Probe::new(op_type).apart(&[1, 17, 5, 4]).with(move |n| {
            n.attr_ints("kernel_shape", &[3, 2])
                .attr_ints("strides", &[2, 1])
                .attr_s("auto_pad", auto);
        }));
    }
}

#[test]
fn maxima_go_to_where_they_were() {
    WINDOWS.into_iter().for_each(|case| check(windowed("MaxPool", case, false)));
    padded_by_itself("MaxPool");
    check(Probe::new("MaxPool").apart(&[1, 2, 7, 8]).with(|n| {
        n.attr_ints("kernel_shape", &[2, 3])
            .attr_ints("dilations", &[3, 2])
            .attr_ints("pads", &[1; 4]);
    }));
    check(Probe::new("MaxPool").results(2).apart(&[1, 2, 5, 4]).with(|n| {
        n.attr_ints("kernel_shape", &[2, 2]);
    }));
}

#[test]
fn means_are_shared_out() {
    for case in WINDOWS {
        check(windowed("AveragePool", case, false));
        check(windowed("AveragePool", case, true));
    }
    padded_by_itself("AveragePool");
}

#[test]
fn whole_planes() {
    for op_type in ["GlobalAveragePool", "GlobalMaxPool"] {
        for shape in [&[2usize, 5, 3, 4][..], &[2, 3, 7], &[1, 2, 2, 3, 2]] {
            check(Probe::new(op_type).apart(shape));
            check(Probe::new(op_type).apart(shape).flat());
        }
    }
}

/// The first of equals takes all, in row-major order of the window; NaN is a maximum.
#[test]
fn ties_and_nan() {
    let cases = [
        ([1.0, 2.0, 2.0, 2.0], 1),
        ([3.0; 4], 0),
        ([-0.0, 0.0, -1.0, 0.0], 0),
        ([f32::NEG_INFINITY; 4], 0),
        ([5.0, f32::NAN, 7.0, f32::NAN], 1),
    ];
    for (values, wanted) in cases {
        for shape in [&[1, 1, 2, 2][..], &[1, 1, 4], &[1, 1, 1, 2, 2]] {
            let probe = Probe::new("GlobalMaxPool").values(shape, values.to_vec());
            let gradients = probe.gradients(&probe.feeds()).unwrap();
            let found = gradients[0].as_f32().unwrap().iter().map(|&g| g != 0.0);
            let wanted: Vec<bool> = (0..4).map(|at| at == wanted).collect();
            assert_eq!(found.collect::<Vec<_>>(), wanted, "{values:?} as {shape:?}");
        }
    }
}

#[test]
fn threads_change_nothing() {
    check_threads(|| {
        Probe::new("MaxPool").apart(&[5, 24, 30, 31]).with(|n| {
            n.attr_ints("kernel_shape", &[3, 3])
                .attr_ints("strides", &[2, 2])
                .attr_ints("pads", &[1; 4]);
        })
    });
    check_threads(|| {
        let probe = Probe::new("AveragePool").operand(&[5, 24, 30, 31]);
        probe.with(|n| {
            n.attr_ints("kernel_shape", &[3, 3]);
        })
    });
    check_threads(|| Probe::new("GlobalAveragePool").operand(&[5, 24, 30, 31]));
}
