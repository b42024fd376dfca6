//! An image's answer has the same bits alone, in any batch, and on any number of threads.

use faultlens_core::{DType, Tensor};
use faultlens_engine::Model;
use faultlens_engine::onnx::{Dim, ModelBuilder, ModelProto, NodeBuilder};

/// One operator with its constant operands.
struct Case {
    operator: &'static str,
    /// The input's shape for a batch of one.
    input: &'static [usize],
    constants: &'static [&'static [usize]],
    /// The axes of input and output that count the batch.
    axes: [usize; 2],
    attributes: fn(NodeBuilder<'_>) -> NodeBuilder<'_>,
}

const BATCH: usize = 5;

const fn images(
    operator: &'static str,
    input: &'static [usize],
    constants: &'static [&'static [usize]],
    attributes: fn(NodeBuilder<'_>) -> NodeBuilder<'_>,
) -> Case {
    Case { operator, input, constants, axes: [0, 0], attributes }
}

const fn sequences(
    operator: &'static str,
    constants: &'static [&'static [usize]],
    attributes: fn(NodeBuilder<'_>) -> NodeBuilder<'_>,
) -> Case {
    Case { operator, input: &[6, 1, 19], constants, axes: [1, 2], attributes }
}

/// Lengths that are no multiples of a vector, and some long enough to be shared out.
const CASES: &[Case] = &[
    images("AveragePool", &[1, 3, 9, 8, 7], &[], |n| n.attr_ints("kernel_shape", &[3, 2, 2])),
    images("Conv", &[1, 6, 301], &[&[20, 3, 5], &[20]], |n| n.attr_i("group", 2)),
    images("Conv", &[1, 3, 9, 8, 7], &[&[5, 3, 2, 3, 2], &[5]], |n| n.attr_ints("pads", &[1; 6])),
    images("ConvTranspose", &[1, 20, 9, 11], &[&[20, 7, 3, 3], &[7]], |n| {
        n.attr_ints("strides", &[2, 2]).attr_ints("pads", &[1, 0, 0, 1])
    }),
    images("GlobalAveragePool", &[1, 5, 7, 9, 3], &[], |n| n),
    images("GroupNormalization", &[1, 6, 31, 33], &[&[6], &[6]], |n| n.attr_i("num_groups", 3)),
    images("InstanceNormalization", &[1, 5, 31, 33], &[&[5], &[5]], |n| n),
    images("LRN", &[1, 17, 9, 11], &[], |n| n.attr_i("size", 5)),
    images("LayerNormalization", &[1, 37, 131], &[&[131], &[131]], |n| n),
    images("LayerNormalization", &[1, 37, 131], &[&[37, 131], &[37, 131]], |n| n.attr_i("axis", 1)),
    images("LpPool", &[1, 3, 40], &[], |n| n.attr_ints("kernel_shape", &[5]).attr_i("p", 3)),
    images("MatMul", &[1, 7, 45], &[&[45, 33]], |n| n),
    images("MaxPool", &[1, 3, 40], &[], |n| n.attr_ints("kernel_shape", &[5])),
    images("ReduceL2", &[1, 37, 131], &[], |n| n.attr_ints("axes", &[1])),
    images("ReduceLogSumExp", &[1, 37, 131], &[], |n| n.attr_ints("axes", &[-1])),
    images("ReduceMean", &[1, 37, 131], &[], |n| n.attr_ints("axes", &[1, 2])),
    images("ReduceMean", &[1, 37, 31, 33], &[], |n| n.attr_ints("axes", &[2, 3])),
    images("ReduceSumSquare", &[1, 37, 131], &[], |n| {
        n.attr_ints("axes", &[2]).attr_i("keepdims", 0)
    }),
    images("Softmax", &[1, 37, 31, 33], &[], |n| n.attr_i("axis", 1)),
    sequences("GRU", &[&[1, 51, 19], &[1, 51, 17], &[1, 102]], |n| n.attr_i("hidden_size", 17)),
    sequences("LSTM", &[&[2, 68, 19], &[2, 68, 17], &[2, 136]], |n| {
        n.attr_i("hidden_size", 17).attr_s("direction", "bidirectional")
    }),
    sequences("RNN", &[&[1, 17, 19], &[1, 17, 17]], |n| n.attr_i("hidden_size", 17)),
];

/// Numbers that look random and are the same every time.
fn floats(shape: &[usize], seed: usize) -> Tensor {
    let count = shape.iter().product::<usize>();
    let number = |i: usize| (((i + 1) * (seed * 2 + 37)) as f32 * 0.618_034).sin() * 1.5;
    Tensor::new(shape.to_vec(), (0..count).map(number).collect::<Vec<_>>()).unwrap()
}

fn model(case: &Case) -> ModelProto {
    // ReduceL2 and kin take their axes as an attribute up to opset 17, GroupNormalization is newer.
    let opset = if case.operator == "GroupNormalization" { 21 } else { 17 };
    let mut builder = ModelBuilder::new(case.operator).opset(opset);
    let axis = |a: usize| if a == case.axes[0] { "N".into() } else { Dim::Fixed(case.input[a]) };
    let axes: Vec<Dim> = (0..case.input.len()).map(axis).collect();
    builder.input("x", DType::F32, &axes);
    let mut inputs = vec!["x".to_owned()];
    for (at, shape) in case.constants.iter().enumerate() {
        inputs.push(builder.initializer(&format!("c{at}"), floats(shape, at + 1)));
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    (case.attributes)(builder.node(case.operator, &inputs, &["y"]));
    builder.output("y", DType::F32, &[]);
    builder.build()
}

/// One entry of an axis.
fn entry(tensor: &Tensor, axis: usize, at: usize) -> Tensor {
    let mut shape = tensor.shape().to_vec();
    let inner: usize = shape[axis + 1..].iter().product();
    let length = std::mem::replace(&mut shape[axis], 1);
    let blocks = tensor.as_f32().unwrap().chunks_exact(length * inner);
    let data: Vec<f32> = blocks.flat_map(|b| b[at * inner..][..inner].to_vec()).collect();
    Tensor::new(shape, data).unwrap()
}

#[test]
fn answers_depend_on_neither_batch_nor_threads() {
    for case in CASES {
        let mut shape = case.input.to_vec();
        shape[case.axes[0]] = BATCH;
        let input = floats(&shape, 0);
        let proto = model(case);
        let model = Model::from_proto(&proto).unwrap();
        let together = model.run(&[("x", input.clone())]).unwrap().remove(0);
        let threaded = Model::from_proto(&proto).unwrap().with_threads(3).unwrap();
        let name = format!("{} {:?}", case.operator, case.input);
        assert_eq!(threaded.run(&[("x", input.clone())]).unwrap()[0], together, "{name}");
        for at in 0..BATCH {
            let alone = model.run(&[("x", entry(&input, case.axes[0], at))]).unwrap().remove(0);
            assert_eq!(alone, entry(&together, case.axes[1], at), "{name}, entry {at}");
        }
    }
}
