//! Empty inputs and sizes that a fault has made: an answer or an error, never a panic.

use faultlens_core::{DType, Tensor};
use faultlens_engine::onnx::{ModelBuilder, NodeBuilder};
use faultlens_engine::{EngineError, Model};

type Attributes = fn(NodeBuilder<'_>) -> NodeBuilder<'_>;

/// Feeds one input to an operator, behind it constant operands of whole numbers or floats.
fn run(
    operator: &str,
    input: Tensor,
    constants: &[Tensor],
    attributes: Attributes,
) -> Result<Tensor, EngineError> {
    let mut builder = ModelBuilder::new(operator).opset(13);
    let dims: Vec<_> = input.shape().iter().map(|&n| n.into()).collect();
    builder.input("x", input.dtype(), &dims);
    let mut inputs = vec!["x".to_owned()];
    for (at, constant) in constants.iter().enumerate() {
        inputs.push(builder.initializer(&format!("c{at}"), constant.clone()));
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    attributes(builder.node(operator, &inputs, &["y"]));
    builder.output("y", DType::F32, &[]);
    Ok(Model::from_proto(&builder.build())?.run(&[("x", input)])?.remove(0))
}

fn floats(shape: &[usize]) -> Tensor {
    Tensor::new(shape.to_vec(), vec![0.5f32; shape.iter().product()]).unwrap()
}

fn wholes(numbers: &[i64]) -> Tensor {
    Tensor::vector(numbers.to_vec())
}

const EMPTY: [[usize; 4]; 4] = [[0, 2, 4, 4], [1, 0, 4, 4], [1, 2, 0, 4], [0, 0, 0, 0]];

#[test]
fn empty_inputs_have_empty_answers() {
    for shape in EMPTY {
        for operator in ["Relu", "Sigmoid", "Identity", "Softmax", "Sign", "IsNaN"] {
            let answer = run(operator, floats(&shape), &[], |n| n).unwrap();
            assert_eq!(answer.shape(), shape, "{operator}");
        }
        let answer = run("Transpose", floats(&shape), &[], |n| n.attr_ints("perm", &[0, 2, 3, 1]));
        let [n, c, h, w] = shape;
        assert_eq!(answer.unwrap().shape(), [n, h, w, c]);
    }
}

#[test]
fn empty_inputs_never_panic() {
    let pool: Attributes = |n| n.attr_ints("kernel_shape", &[2, 2]);
    for shape in EMPTY {
        let channels = [shape[1]];
        let cases: [(&str, Vec<Tensor>, Attributes); 9] = [
            ("MaxPool", vec![], pool),
            ("AveragePool", vec![], pool),
            ("GlobalAveragePool", vec![], |n| n),
            ("Conv", vec![floats(&[3, 2, 3, 3])], |n| n),
            ("ConvTranspose", vec![floats(&[2, 3, 3, 3])], |n| n),
            ("InstanceNormalization", vec![floats(&channels), floats(&channels)], |n| n),
            ("ReduceMax", vec![], |n| n.attr_ints("axes", &[1])),
            ("ArgMax", vec![], |n| n.attr_i("axis", 2)),
            ("Pad", vec![wholes(&[0, 0, 1, 1, 0, 0, 1, 1])], |n| n),
        ];
        for (operator, constants, attributes) in cases {
            // What matters is that it comes back.
            let _ = run(operator, floats(&shape), &constants, attributes);
        }
    }
}

#[test]
fn sizes_that_a_fault_has_made_are_refused() {
    let huge = 1 << 40;
    let x = || floats(&[1, 2, 4, 4]);
    let cases: [(&str, Tensor, Vec<Tensor>); 6] = [
        ("ConstantOfShape", wholes(&[3, huge]), vec![]),
        ("Expand", x(), vec![wholes(&[huge, 2, 4, 4])]),
        ("Pad", x(), vec![wholes(&[0, 0, huge, 0, 0, 0, 0, 0])]),
        ("Reshape", x(), vec![wholes(&[huge, huge])]),
        ("Tile", x(), vec![wholes(&[1, 1, huge, 1])]),
        ("Resize", x(), vec![floats(&[0]), floats(&[0]), wholes(&[1, 2, huge, huge])]),
    ];
    for (operator, input, constants) in cases {
        assert!(run(operator, input, &constants, |n| n).is_err(), "{operator}");
    }
    let kept = run("Expand", floats(&[1, 2, 40, 40]), &[wholes(&[1, 2, 40, 40])], |n| n);
    assert_eq!(kept.unwrap().shape(), [1, 2, 40, 40]);
}
