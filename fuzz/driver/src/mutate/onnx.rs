//! Changes of ONNX models that leave them models: attributes, operators, constants, shapes.

use super::{bytes, tempting};
use faultlens_core::Stream;
use faultlens_engine::onnx::{self, AttributeProto, GraphProto, NodeProto, TensorProto};

/// Operators that take another's place: those that make, move and repeat.
const OPERATORS: &[&str] = &[
    "Add",
    "ArgMax",
    "AveragePool",
    "Cast",
    "Concat",
    "ConstantOfShape",
    "Conv",
    "ConvTranspose",
    "CumSum",
    "DepthToSpace",
    "Einsum",
    "Expand",
    "Flatten",
    "GRU",
    "Gather",
    "GatherElements",
    "GatherND",
    "Gemm",
    "GridSample",
    "LRN",
    "LSTM",
    "LayerNormalization",
    "MatMul",
    "MaxPool",
    "Mod",
    "NonMaxSuppression",
    "NonZero",
    "OneHot",
    "Pad",
    "Range",
    "ReduceSum",
    "Reshape",
    "Resize",
    "ReverseSequence",
    "RoiAlign",
    "ScatterElements",
    "ScatterND",
    "Shape",
    "Slice",
    "Softmax",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Sum",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Where",
];

/// One change of the model; sometimes only of its bytes.
pub fn onnx(input: &mut Vec<u8>, others: &[&[u8]], stream: &mut Stream) {
    let decoded = onnx::decode(input.clone().into()).ok();
    let Some(mut model) = decoded.filter(|_| stream.chance(0.85)) else {
        return bytes(input, others, stream);
    };
    if let Some(graph) = &mut model.graph {
        change_graph(graph, others, stream);
    }
    if stream.chance(0.03)
        && let Some(opset) = model.opset_import.first_mut()
    {
        opset.version = tempting(stream);
    }
    *input = onnx::encode(&model);
    input.truncate(super::MAX_BYTES);
}

fn change_graph(graph: &mut GraphProto, others: &[&[u8]], stream: &mut Stream) {
    let nodes = graph.node.len();
    let tensors = graph.initializer.len();
    match stream.below(10) {
        0..5 if nodes > 0 => {
            let at = stream.below(nodes);
            change_node(&mut graph.node[at], others, stream);
        }
        5..8 if tensors > 0 => {
            let at = stream.below(tensors);
            change_tensor(&mut graph.initializer[at], stream);
        }
        8 if nodes > 0 => append(graph, stream),
        _ => {
            let inputs = graph.input.len();
            if inputs == 0 {
                return;
            }
            let at = stream.below(inputs);
            let of = graph.input[at].r#type.as_mut().and_then(|t| t.tensor_type.as_mut());
            if let Some(dims) = of.and_then(|t| t.shape.as_mut()).map(|shape| &mut shape.dim)
                && !dims.is_empty()
            {
                let axis = stream.below(dims.len());
                dims[axis].dim_value = Some(tempting(stream));
            }
        }
    }
}

/// An operator behind the last one, so that what one makes meets another.
fn append(graph: &mut GraphProto, stream: &mut Stream) {
    let names: Vec<String> = graph
        .node
        .iter()
        .flat_map(|node| node.output.iter().cloned())
        .chain(graph.initializer.iter().map(|tensor| tensor.name.clone()))
        .chain(graph.input.iter().map(|input| input.name.clone()))
        .filter(|name| !name.is_empty())
        .collect();
    let mut node = graph.node[stream.below(graph.node.len())].clone();
    node.name = format!("added{}", graph.node.len());
    if stream.chance(0.7) {
        node.op_type = stream.pick(OPERATORS).copied().unwrap_or("Add").to_owned();
    }
    let operands = node.input.len().max(1 + stream.below(3));
    node.input = (0..operands).filter_map(|_| stream.pick(&names).cloned()).collect();
    let made = format!("made{}", graph.node.len());
    node.output = vec![made.clone()];
    graph.node.push(node);
    if let Some(output) = graph.output.first_mut() {
        output.name = made;
        output.r#type = None;
    }
}

fn change_node(node: &mut NodeProto, others: &[&[u8]], stream: &mut Stream) {
    match stream.below(8) {
        0 => node.op_type = stream.pick(OPERATORS).copied().unwrap_or("Add").to_owned(),
        1 if !node.input.is_empty() => {
            let at = stream.below(node.input.len());
            let from = stream.below(node.input.len());
            node.input[at] = node.input[from].clone();
        }
        2 if !node.input.is_empty() => {
            let at = stream.below(node.input.len());
            node.input[at].clear();
        }
        3 => drop(node.input.pop()),
        _ if !node.attribute.is_empty() => {
            let at = stream.below(node.attribute.len());
            change_attribute(&mut node.attribute[at], others, stream);
        }
        _ => node.attribute.push(AttributeProto {
            name: ["axis", "pads", "strides", "group", "dilations", "auto_pad"][stream.below(6)]
                .to_owned(),
            r#type: onnx::attribute_type::INT,
            i: tempting(stream),
            ints: (0..4).map(|_| tempting(stream)).collect(),
            ..Default::default()
        }),
    }
}

fn change_attribute(attribute: &mut AttributeProto, others: &[&[u8]], stream: &mut Stream) {
    if let Some(graph) = &mut attribute.g {
        return change_graph(graph, others, stream);
    }
    if let Some(tensor) = &mut attribute.t {
        return change_tensor(tensor, stream);
    }
    attribute.i = tempting(stream);
    attribute.f =
        stream.pick(&[0.0, -1.0, 1e30, f32::NAN, f32::INFINITY, 0.1]).copied().unwrap_or(0.0);
    match stream.below(4) {
        0 => drop(attribute.ints.pop()),
        1 => attribute.ints.push(tempting(stream)),
        _ if !attribute.ints.is_empty() => {
            let at = stream.below(attribute.ints.len());
            attribute.ints[at] = tempting(stream);
        }
        _ => {}
    }
}

fn change_tensor(tensor: &mut TensorProto, stream: &mut Stream) {
    match stream.below(6) {
        0 if !tensor.dims.is_empty() => {
            let at = stream.below(tensor.dims.len());
            tensor.dims[at] = tempting(stream);
        }
        1 => tensor.dims.push(1),
        2 if tensor.dims.len() > 1 => {
            // The same elements in another shape.
            let at = stream.below(tensor.dims.len());
            let to = stream.below(tensor.dims.len());
            tensor.dims.swap(at, to);
        }
        3 if !tensor.int64_data.is_empty() => {
            let at = stream.below(tensor.int64_data.len());
            tensor.int64_data[at] = tempting(stream);
        }
        _ => {
            let width = if tensor.data_type == 7 { 8 } else { 4 };
            let mut raw = tensor.raw_data.to_vec();
            let places = raw.len() / width;
            if places == 0 {
                return;
            }
            let at = width * stream.below(places);
            raw[at..at + width].copy_from_slice(&tempting(stream).to_le_bytes()[..width]);
            tensor.raw_data = raw.into();
        }
    }
}
