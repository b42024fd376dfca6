//! How many elements an operator makes at most, told from its operands and attributes before it
//! runs. One line per operator whose answer can be larger than its operands together.

use crate::graph::Operator;
use crate::ops::Attributes;
use crate::value::Value;
use faultlens_core::TensorData;
use rten_tensor::prelude::*;

/// An operator and what it is called with.
pub(crate) struct Call<'a> {
    pub(crate) operator: &'a Operator,
    pub(crate) opset: i64,
    pub(crate) operands: &'a [Option<&'a Value>],
}

/// How large the answers of one operator can become.
#[derive(Clone, Copy)]
pub(crate) struct Growth(Rule);

/// Elements of all answers together, at most.
type Rule = fn(&Call<'_>) -> f64;

/// Operators whose answers can be larger than all operands together, in alphabetical order.
const RULES: &[(&str, Rule)] = &[
    ("Add", broadcast),
    ("And", broadcast),
    ("Attention", attention),
    ("AveragePool", window),
    ("BiasGelu", broadcast),
    ("BitwiseAnd", broadcast),
    ("BitwiseOr", broadcast),
    ("BitwiseXor", broadcast),
    ("ConstantOfShape", constant_of_shape),
    ("Conv", convolution),
    ("ConvInteger", convolution),
    ("ConvTranspose", transposed_convolution),
    ("DFT", fourier),
    ("Div", broadcast),
    ("DynamicQuantizeLSTM", recurrent),
    ("DynamicQuantizeMatMul", product),
    ("Einsum", einsum),
    ("Equal", broadcast),
    ("Expand", expand),
    ("GRU", recurrent),
    ("Gather", gather),
    ("GatherND", gather_nd),
    ("Gemm", gemm),
    ("Greater", broadcast),
    ("GreaterOrEqual", broadcast),
    ("GridSample", grid_sample),
    ("GroupQueryAttention", attention),
    ("LSTM", recurrent),
    ("Less", broadcast),
    ("LessOrEqual", broadcast),
    ("LpPool", window),
    ("MatMul", product),
    ("MatMulInteger", product),
    ("MatMulIntegerToFloat", product),
    ("MatMulNBits", narrow_product),
    ("Max", broadcast),
    ("MaxPool", window),
    ("Mean", broadcast),
    ("Min", broadcast),
    ("Mod", broadcast),
    ("Mul", broadcast),
    ("MultiHeadAttention", attention),
    ("NonZero", non_zero),
    ("OneHot", one_hot),
    ("Or", broadcast),
    ("PRelu", broadcast),
    ("Pad", pad),
    ("Pow", broadcast),
    ("QGemm", gemm),
    ("QLinearAdd", broadcast_pair),
    ("QLinearAveragePool", window),
    ("QLinearConv", quantised_convolution),
    ("QLinearMatMul", quantised_product),
    ("QLinearMul", broadcast_pair),
    ("RNN", recurrent),
    ("Range", range),
    ("Resize", resize),
    ("RoiAlign", roi_align),
    ("STFT", short_fourier),
    ("Split", split),
    ("SplitToSequence", split_to_sequence),
    ("Sub", broadcast),
    ("Sum", broadcast),
    ("Tile", tile),
    ("TopK", top),
    ("Unsqueeze", unsqueeze),
    ("Upsample", resize),
    ("Where", broadcast),
    ("Xor", broadcast),
];

impl Growth {
    /// The rule of an operator, if its answers can be larger than its operands.
    pub(crate) fn of(op_type: &str) -> Option<Self> {
        let found = RULES.binary_search_by_key(&op_type, |&(name, _)| name);
        found.ok().map(|at| Self(RULES[at].1))
    }

    /// Elements of all answers together, at most.
    pub(crate) fn elements(&self, call: &Call<'_>) -> f64 {
        (self.0)(call)
    }
}

/// Longer lists of sizes are none: no value has so many axes.
const LONGEST_LIST: usize = 256;

impl Call<'_> {
    fn attributes(&self) -> Attributes<'_> {
        Attributes::new(self.operator, self.opset)
    }

    fn operand(&self, at: usize) -> Option<&Value> {
        self.operands.get(at).copied().flatten()
    }

    fn shape(&self, at: usize) -> &[usize] {
        self.operand(at).map_or(&[], Value::shape)
    }

    fn count(&self, at: usize) -> f64 {
        self.operand(at).map_or(0.0, elements)
    }

    /// Elements of all operands together; at least one.
    pub(crate) fn given(&self) -> f64 {
        self.operands.iter().flatten().map(|value| elements(value)).sum::<f64>().max(1.0)
    }

    /// The numbers of an operand that is a list of sizes or a number.
    fn numbers(&self, at: usize) -> Option<Vec<f64>> {
        let value = self.operand(at)?;
        if let Some(floats) = value.floats() {
            let few = floats.data.len() <= LONGEST_LIST;
            return Some(if few {
                floats.data.iter().map(|&x| x.into()).collect()
            } else {
                vec![f64::INFINITY]
            });
        }
        let tensor = value.tensor()?;
        if tensor.len() > LONGEST_LIST {
            return Some(vec![f64::INFINITY]);
        }
        Some(match tensor.data() {
            TensorData::I64(v) => v.iter().map(|&x| x as f64).collect(),
            TensorData::I32(v) => v.iter().map(|&x| x.into()).collect(),
            TensorData::F64(v) => v.clone(),
            _ => return None,
        })
    }

    fn number(&self, at: usize) -> Option<f64> {
        self.numbers(at)?.first().copied()
    }

    /// The first axis of an operand that an attribute names.
    fn axis(&self, name: &str, default: i64, rank: usize) -> usize {
        let axis = self.attributes().int(name, default);
        let from_end = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        usize::try_from(from_end).unwrap_or(0).min(rank.saturating_sub(1))
    }
}

/// Elements of a value; an empty axis counts as one, since its length costs, too.
fn elements(value: &Value) -> f64 {
    match value {
        Value::Sequence(list) => listed(list),
        value => of(value.shape()),
    }
}

/// Elements of all tensors of a list.
pub(super) fn listed(list: &rten::Sequence) -> f64 {
    // A tensor takes some memory even if it is empty.
    const EMPTY: f64 = 32.0;
    let mut total = 0.0;
    for at in 0..list.len() {
        let elements = list.at(at).map_or(0, |tensor| tensor.len());
        total += EMPTY + elements as f64;
    }
    total
}

fn of(shape: &[usize]) -> f64 {
    shape.iter().map(|&length| length.max(1) as f64).product()
}

fn multiplied(sizes: &[f64]) -> f64 {
    sizes.iter().map(|size| size.max(1.0)).product()
}

/// The product of the lengths to which shapes broadcast; those that do not fit are refused later.
fn spread<'a>(shapes: impl Iterator<Item = &'a [usize]>) -> f64 {
    let mut longest: Vec<usize> = Vec::new();
    for shape in shapes {
        for (from_end, &length) in shape.iter().rev().enumerate() {
            match longest.get_mut(from_end) {
                Some(own) => *own = length.max(*own),
                None => longest.push(length),
            }
        }
    }
    of(&longest)
}

fn broadcast(call: &Call<'_>) -> f64 {
    spread(call.operands.iter().flatten().map(|value| value.shape()))
}

fn broadcast_pair(call: &Call<'_>) -> f64 {
    spread([call.shape(0), call.shape(3)].into_iter())
}

/// Queries times keys, for every head and image: the largest value on the way.
fn attention(call: &Call<'_>) -> f64 {
    let attributes = call.attributes();
    let length = |shape: &[usize]| shape.iter().rev().nth(1).copied().unwrap_or(1).max(1) as f64;
    let given = attributes.int("num_heads", 0).max(attributes.int("q_num_heads", 0));
    let outer = call.shape(0).first().copied().unwrap_or(1).max(1) as f64;
    let heads = match call.shape(0) {
        &[_, heads, _, _] => heads as f64,
        _ => given as f64,
    };
    let past: f64 = (3..call.operands.len()).map(|at| length(call.shape(at))).fold(0.0, f64::max);
    let keys = length(call.shape(1)) + past;
    outer * heads.max(1.0) * length(call.shape(0)) * keys + call.given()
}

fn constant_of_shape(call: &Call<'_>) -> f64 {
    multiplied(&call.numbers(0).unwrap_or_default())
}

fn expand(call: &Call<'_>) -> f64 {
    let Some(sizes) = call.numbers(1) else { return 0.0 };
    let own = call.shape(0);
    let rank = sizes.len().max(own.len());
    let along = |from_end: usize| {
        let wanted = sizes.iter().rev().nth(from_end).copied().unwrap_or(1.0);
        let length = own.iter().rev().nth(from_end).copied().unwrap_or(1) as f64;
        wanted.max(length)
    };
    multiplied(&(0..rank).map(along).collect::<Vec<_>>())
}

fn tile(call: &Call<'_>) -> f64 {
    call.count(0) * multiplied(&call.numbers(1).unwrap_or_default())
}

fn one_hot(call: &Call<'_>) -> f64 {
    call.count(0) * call.number(1).unwrap_or(1.0).max(1.0)
}

fn range(call: &Call<'_>) -> f64 {
    let [start, limit, step] = [0, 1, 2].map(|at| call.number(at).unwrap_or(0.0));
    let count = (limit - start) / step;
    // A range of NaN is empty, one with a step of 0 is refused where it runs.
    if count.is_nan() || step == 0.0 { 0.0 } else { count.max(0.0) }
}

/// The largest values and their places.
fn top(call: &Call<'_>) -> f64 {
    let shape = call.shape(0);
    let axis = call.axis("axis", -1, shape.len());
    let length = shape.get(axis).copied().unwrap_or(1).max(1) as f64;
    let wanted = match call.numbers(1) {
        Some(numbers) => numbers.first().copied().unwrap_or(0.0),
        None => call.attributes().int("k", 0) as f64,
    };
    2.0 * call.count(0) / length * wanted.max(1.0)
}

fn gather(call: &Call<'_>) -> f64 {
    let shape = call.shape(0);
    let axis = call.axis("axis", 0, shape.len());
    let length = shape.get(axis).copied().unwrap_or(1).max(1) as f64;
    call.count(0) / length * call.count(1)
}

fn gather_nd(call: &Call<'_>) -> f64 {
    let depth = call.shape(1).last().copied().unwrap_or(1).max(1);
    let batch = usize::try_from(call.attributes().int("batch_dims", 0)).unwrap_or(0);
    let rest = call.shape(0).get(batch.saturating_add(depth)..).unwrap_or(&[]);
    call.count(1) / depth as f64 * of(rest)
}

/// The places of all elements.
fn non_zero(call: &Call<'_>) -> f64 {
    call.count(0) * call.shape(0).len().max(1) as f64
}

fn pad(call: &Call<'_>) -> f64 {
    let shape = call.shape(0);
    let widths = match call.attributes().ints("pads") {
        Some(widths) => widths.iter().map(|&width| width as f64).collect(),
        None => call.numbers(1).unwrap_or_default(),
    };
    let ends = (widths.len() / 2).max(1);
    let named = call.numbers(3);
    let mut lengths: Vec<f64> = shape.iter().map(|&length| length as f64).collect();
    for (at, width) in widths.iter().enumerate() {
        let axis = match named.as_ref().and_then(|axes| axes.get(at % ends)) {
            Some(&axis) if axis < 0.0 => (axis + shape.len() as f64) as usize,
            Some(&axis) => axis as usize,
            None => at % ends,
        };
        if let Some(length) = lengths.get_mut(axis) {
            *length += width.max(0.0);
        }
    }
    // On the way every axis has a table of places.
    multiplied(&lengths).max(lengths.iter().sum())
}

fn resize(call: &Call<'_>) -> f64 {
    let shape = call.shape(0);
    let attributes = call.attributes();
    // Scales, then sizes, are the last operands, wherever the region of interest stands.
    let mut targets = vec![of(shape)];
    for at in 1..call.operands.len() {
        let Some(numbers) = call.numbers(at).filter(|numbers| !numbers.is_empty()) else {
            continue;
        };
        let is_sizes = call.operand(at).is_some_and(|value| value.floats().is_none());
        let all = multiplied(&numbers);
        // A list for some axes leaves the others as they are.
        targets.push(if is_sizes && numbers.len() == shape.len() { all } else { of(shape) * all });
    }
    if let Some(scales) = attributes.floats("scales") {
        targets.push(of(shape) * multiplied(&scales.iter().map(|&s| s.into()).collect::<Vec<_>>()));
    }
    targets.into_iter().fold(0.0, f64::max)
}

/// Pixels of a plane over which a window slides: no more than the plane has with its padding.
fn padded_plane(call: &Call<'_>, plane: &[usize]) -> f64 {
    let pads = call.attributes().ints("pads").unwrap_or(&[]);
    let axes = plane.len();
    let along = |axis: usize| {
        let ends = [pads.get(axis), pads.get(axis + axes)];
        let added: f64 = ends.into_iter().flatten().map(|&pad| (pad as f64).max(0.0)).sum();
        plane[axis] as f64 + added + 1.0
    };
    multiplied(&(0..axes).map(along).collect::<Vec<_>>())
}

fn window(call: &Call<'_>) -> f64 {
    let &[n, c, ref plane @ ..] = call.shape(0) else { return 0.0 };
    // Some pools answer with places beside the values.
    let answers = call.operator.outputs.len().max(1) as f64;
    of(&[n, c]) * padded_plane(call, plane) * answers
}

fn convolved(call: &Call<'_>, weights: usize) -> f64 {
    let &[n, _, ref plane @ ..] = call.shape(0) else { return 0.0 };
    let filters = call.shape(weights).first().copied().unwrap_or(1);
    of(&[n, filters]) * padded_plane(call, plane)
}

fn convolution(call: &Call<'_>) -> f64 {
    convolved(call, 1)
}

fn quantised_convolution(call: &Call<'_>) -> f64 {
    convolved(call, 3)
}

fn transposed_convolution(call: &Call<'_>) -> f64 {
    let &[n, _, ref plane @ ..] = call.shape(0) else { return 0.0 };
    let &[_, group_outputs, ref kernel @ ..] = call.shape(1) else { return 0.0 };
    let attributes = call.attributes();
    let entry = |name: &str, axis: usize, default: i64| {
        attributes.ints(name).and_then(|list| list.get(axis)).copied().unwrap_or(default) as f64
    };
    let groups = (attributes.int("group", 1) as f64).max(1.0);
    let mut elements = n.max(1) as f64 * group_outputs.max(1) as f64 * groups;
    for (axis, &length) in plane.iter().enumerate() {
        let taps = kernel.get(axis).copied().unwrap_or(1).max(1) as f64;
        let reach = (taps - 1.0) * entry("dilations", axis, 1).max(1.0) + 1.0;
        let own = length as f64 * entry("strides", axis, 1).max(1.0) + reach;
        let padded = own + entry("output_padding", axis, 0).max(0.0);
        elements *= padded.max(entry("output_shape", axis, 0));
    }
    elements
}

/// Rows times columns, for all that stands in front of both.
fn matrices(rows: &[usize], columns: &[usize]) -> f64 {
    let split = |shape: &[usize]| shape.len().saturating_sub(2);
    let outer = spread([&rows[..split(rows)], &columns[..split(columns)]].into_iter());
    let height = if rows.len() > 1 { rows[rows.len() - 2] } else { 1 };
    let width = if columns.len() > 1 { columns[columns.len() - 1] } else { 1 };
    outer * of(&[height, width])
}

fn product(call: &Call<'_>) -> f64 {
    matrices(call.shape(0), call.shape(1))
}

fn quantised_product(call: &Call<'_>) -> f64 {
    matrices(call.shape(0), call.shape(3))
}

fn narrow_product(call: &Call<'_>) -> f64 {
    let shape = call.shape(0);
    let rows = &shape[..shape.len().saturating_sub(1)];
    let attributes = call.attributes();
    let [depth, width] = ["K", "N"].map(|name| (attributes.int(name, 1) as f64).max(1.0));
    // The matrix is unpacked on the way.
    (of(rows) * width).max(depth * width)
}

fn gemm(call: &Call<'_>) -> f64 {
    let attributes = call.attributes();
    let matrix = if call.operator.op_type == "QGemm" { 3 } else { 1 };
    let side = |shape: &[usize], name: &str, plain: usize| {
        let at = if attributes.flag(name) { 1 - plain } else { plain };
        shape.get(at).copied().unwrap_or(1)
    };
    of(&[side(call.shape(0), "transA", 0), side(call.shape(matrix), "transB", 1)])
}

/// The answer's labels, and with more than two operands all labels, since the product of two of
/// them may be larger than the answer.
fn einsum(call: &Call<'_>) -> f64 {
    let equation = call.attributes().string("equation", "");
    let (inputs, output) = equation.split_once("->").unwrap_or((equation.as_str(), ""));
    let mut lengths: Vec<(char, usize)> = Vec::new();
    for (at, labels) in inputs.split(',').enumerate() {
        let labels = labels.chars().filter(|c| c.is_alphabetic());
        for (label, &length) in labels.zip(call.shape(at)) {
            match lengths.iter_mut().find(|(own, _)| *own == label) {
                Some((_, own)) => *own = length.max(*own),
                None => lengths.push((label, length)),
            }
        }
    }
    // Without an arrow, and with an ellipsis, the labels do not tell all.
    let all = output.is_empty() || output.contains('.') || call.operands.len() > 2;
    lengths.retain(|(label, _)| all || output.contains(*label));
    let wide = if output.contains('.') { call.given() } else { 1.0 };
    wide * of(&lengths.iter().map(|&(_, length)| length).collect::<Vec<_>>())
}

/// Gates of all steps, for all directions.
fn recurrent(call: &Call<'_>) -> f64 {
    let shape = call.shape(0);
    let steps = of(&shape[..shape.len().min(2)]);
    let named = (call.attributes().int("hidden_size", 0) as f64).max(0.0);
    let hidden = call.shape(2).last().copied().unwrap_or(1) as f64;
    // Four gates and two directions at most.
    8.0 * steps * hidden.max(named).max(1.0)
}

fn grid_sample(call: &Call<'_>) -> f64 {
    let outer = of(call.shape(0).get(..2).unwrap_or(&[]));
    let grid = call.shape(1);
    outer * of(grid.get(1..grid.len().saturating_sub(1)).unwrap_or(&[]))
}

fn roi_align(call: &Call<'_>) -> f64 {
    let attributes = call.attributes();
    let [rows, columns] =
        ["output_height", "output_width"].map(|name| (attributes.int(name, 1) as f64).max(1.0));
    let regions = call.shape(1).first().copied().unwrap_or(1);
    let channels = call.shape(0).get(1).copied().unwrap_or(1);
    of(&[regions, channels]) * rows * columns
}

fn fourier(call: &Call<'_>) -> f64 {
    2.0 * call.count(0) * call.number(1).unwrap_or(1.0).max(1.0)
}

fn short_fourier(call: &Call<'_>) -> f64 {
    let step = call.number(1).unwrap_or(1.0).max(1.0);
    let frame = call.number(3).unwrap_or(0.0).max(call.count(2)).max(1.0);
    2.0 * (call.count(0) / step + 1.0) * frame
}

/// An answer for each part, however small.
fn split(call: &Call<'_>) -> f64 {
    let parts = call.attributes().int("num_outputs", 0).max(0) as f64;
    call.count(0) + parts
}

fn split_to_sequence(call: &Call<'_>) -> f64 {
    let shape = call.shape(0);
    let axis = call.axis("axis", 0, shape.len());
    // Parts of one row each.
    call.count(0) + 64.0 * shape.get(axis).copied().unwrap_or(1) as f64
}

/// As many elements as before, unless there are more axes than any value has.
fn unsqueeze(call: &Call<'_>) -> f64 {
    if call.count(1) > LONGEST_LIST as f64 { f64::INFINITY } else { call.count(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted() {
        assert!(RULES.is_sorted_by_key(|&(name, _)| name));
    }
}
