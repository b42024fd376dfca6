//! Functions of one element, or of several at the same place.

use super::differences::{Probe, check};
use faultlens_engine::onnx::NodeBuilder;

/// Shapes that lie channels last, and that do not.
const SHAPES: [&[usize]; 4] = [&[2, 3, 4, 5], &[7], &[3, 1, 5], &[]];

#[test]
fn functions_of_one_element() {
    let anywhere = [
        "Abs",
        "Celu",
        "Elu",
        "Erf",
        "Exp",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "Identity",
        "LeakyRelu",
        "Mish",
        "Neg",
        "Relu",
        "Selu",
        "Sigmoid",
        "Softplus",
        "Softsign",
        "Tanh",
        "ThresholdedRelu",
    ];
    for op_type in anywhere {
        for shape in SHAPES {
            // Beyond the kinks of the hard functions, and of the threshold at one.
            check(Probe::new(op_type).opset(20).between(shape, 3.1, 5.0));
            check(Probe::new(op_type).opset(20).between(shape, -5.0, -3.1));
            check(Probe::new(op_type).opset(20).between(shape, 0.1, 0.9));
            check(Probe::new(op_type).opset(20).between(shape, -0.9, -0.1));
        }
    }
    for op_type in ["Log", "Reciprocal", "Sqrt"] {
        check(Probe::new(op_type).between(&[2, 3, 4, 5], 0.5, 2.5));
    }
}

#[test]
fn attributes_of_functions() {
    type Set = fn(NodeBuilder<'_>);
    let cases: [(&str, Set); 8] = [
        ("Celu", |n| {
            n.attr_f("alpha", 0.6);
        }),
        ("Elu", |n| {
            n.attr_f("alpha", 0.6);
        }),
        ("Gelu", |n| {
            n.attr_s("approximate", "tanh");
        }),
        ("HardSigmoid", |n| {
            n.attr_f("alpha", 0.3).attr_f("beta", 0.4);
        }),
        ("LeakyRelu", |n| {
            n.attr_f("alpha", 0.3);
        }),
        ("Selu", |n| {
            n.attr_f("alpha", 0.8).attr_f("gamma", 1.7);
        }),
        ("ThresholdedRelu", |n| {
            n.attr_f("alpha", 0.0);
        }),
        ("Cast", |n| {
            n.attr_i("to", 1);
        }),
    ];
    for (op_type, attributes) in cases {
        check(Probe::new(op_type).opset(20).with(attributes).between(&[2, 3, 4], 0.1, 1.2));
        check(Probe::new(op_type).opset(20).with(attributes).between(&[2, 3, 4], -1.2, -0.1));
    }
}

#[test]
fn limits_and_dropout() {
    let away = || vec![-2.0, -1.5, -0.5, 0.2, 0.4, 1.8];
    let clip = || Probe::new("Clip").values(&[2, 3], away());
    check(clip().constant(&[], vec![-1.0f32]).constant(&[], vec![1.0f32]));
    check(clip().constant(&[], vec![-1.0f32]));
    check(clip().absent().constant(&[], vec![1.0f32]));
    check(clip());
    check(clip().opset(6).with(|n| {
        n.attr_f("min", -1.0).attr_f("max", 1.0);
    }));
    check(Probe::new("Dropout").operand(&[2, 3, 4, 5]));
    check(Probe::new("Dropout").operand(&[2, 3]).constant(&[], vec![0.3f32]));
    check(Probe::new("Dropout").opset(6).operand(&[2, 3]).with(|n| {
        n.attr_i("is_test", 1);
    }));
}

/// Pairs that broadcast, in either direction.
const PAIRS: [(&[usize], &[usize]); 14] = [
    (&[2, 3, 4, 5], &[2, 3, 4, 5]),
    (&[2, 3, 4, 5], &[2, 3, 1, 1]),
    (&[2, 3, 4, 5], &[3, 1, 1]),
    (&[2, 3, 4, 5], &[5]),
    (&[2, 3, 4, 5], &[3, 4, 5]),
    (&[2, 3, 4, 5], &[4, 1]),
    (&[1, 3, 4, 5], &[2, 1, 1, 5]),
    (&[3, 4, 5], &[2, 1, 4, 1]),
    (&[1, 3, 4, 5], &[3, 4, 5]),
    (&[3, 1], &[1, 4]),
    (&[], &[2, 3]),
    (&[2, 3, 4], &[2, 3, 4]),
    (&[2, 1, 3, 1, 2], &[3, 1, 2]),
    (&[1], &[1, 1]),
];

#[test]
fn functions_of_two_elements() {
    for op_type in ["Add", "Div", "Mul", "Pow", "Sub", "Sum"] {
        for (a, b) in PAIRS {
            for (first, second) in [(a, b), (b, a)] {
                check(Probe::new(op_type).between(first, 0.5, 1.5).between(second, 0.7, 2.0));
            }
        }
    }
    for (x, slope) in PAIRS {
        check(Probe::new("PRelu").operand(x).operand(slope));
    }
}

/// Values a tenth away from all others, of this operand and those with another `offset`.
fn apart(shape: &[usize], offset: f32) -> Vec<f32> {
    let count: usize = shape.iter().product();
    (0..count).map(|i| (i * 7 % 11) as f32 * 0.3 - 1.5 + offset).collect()
}

#[test]
fn extremes_and_choices() {
    for op_type in ["Max", "Min"] {
        for (a, b) in PAIRS {
            check(Probe::new(op_type).values(a, apart(a, 0.0)).values(b, apart(b, 0.1)));
        }
        let three = Probe::new(op_type).values(&[2, 3], apart(&[2, 3], 0.0));
        check(three.values(&[3], apart(&[3], 0.1)).values(&[2, 1], apart(&[2, 1], 0.2)));
        check(Probe::new(op_type).operand(&[2, 3, 4, 5]));
    }
    let bools = |count: usize| (0..count).map(|i| i % 3 == 0).collect::<Vec<_>>();
    for (a, b) in PAIRS {
        check(Probe::new("Where").constant(&[1], bools(1)).operand(a).operand(b));
    }
    let planes = Probe::new("Where").constant(&[2, 3, 4, 5], bools(120));
    check(planes.operand(&[2, 3, 4, 5]).operand(&[3, 1, 1]));
    let rows = Probe::new("Where").constant(&[4, 5], bools(20));
    check(rows.operand(&[2, 3, 4, 5]).operand(&[]));
}

#[test]
fn planes_as_onnx_counts() {
    for op_type in ["Sigmoid", "Relu", "Softsign"] {
        check(Probe::new(op_type).row_major().operand(&[2, 3, 4, 5]));
    }
    for op_type in ["Add", "Mul", "Sub"] {
        for (a, b) in PAIRS {
            check(Probe::new(op_type).row_major().operand(a).operand(b));
        }
    }
    let rows = || Probe::new("ReduceSumSquare").row_major().operand(&[2, 3, 4, 5]);
    check(rows().with(|n| {
        n.attr_ints("axes", &[1]);
    }));
    check(rows().with(|n| {
        n.attr_ints("axes", &[2, 3]);
    }));
    let channels = Probe::new("Softmax").row_major().operand(&[2, 3, 4, 5]);
    check(channels.with(|n| {
        n.attr_i("axis", 1);
    }));
}

#[test]
fn sums_of_several() {
    check(Probe::new("Sum").operand(&[2, 3, 4, 5]).operand(&[3, 1, 1]).operand(&[5]));
    check(Probe::new("Sum").operand(&[2, 3, 4, 5]));
    let constant = Probe::new("Mul").operand(&[2, 3, 4, 5]);
    check(constant.constant(&[3, 1, 1], vec![0.5f32, -2.0, 3.0]));
    check(Probe::new("Pow").operand(&[2, 3]).constant(&[], vec![3i64]));
}
