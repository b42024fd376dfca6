//! From ONNX operators to kernels: one file per family, one line per operator in [`OPERATORS`].
//! What is not listed runs on rten.

mod arg;
mod arithmetic;
mod attributes;
mod batch_norm;
pub(crate) mod cast;
mod concat;
mod conv;
mod conv_nd;
mod conv_transpose;
mod dropout;
mod elements;
pub(crate) mod elementwise;
pub(crate) mod layout;
mod logic;
pub(crate) mod lrn;
mod matmul;
mod matmul_batched;
mod nms;
pub(crate) mod normalise;
mod operands;
pub(crate) mod pad;
mod pixelwise;
pub(crate) mod places;
mod plane;
pub(crate) mod pool;
pub(crate) mod pool_nd;
mod quantised;
pub(crate) mod recurrent;
pub(crate) mod reduce;
pub(crate) mod resize;
mod roi_align;
pub(crate) mod slice;
pub(crate) mod softmax;
mod windows;

use crate::error::OperandError;
use crate::graph::Operator;
use crate::kernels::gemm::LANE;
use crate::op::{Edit, Elementwise, Function, Local, Op, Repacked, Wants};
pub(crate) use attributes::Attributes;
pub(crate) use batch_norm::TRAINING as TRAINING_BATCH_NORM;
pub(crate) use cast::cast as cast_value;
pub(crate) use conv::bound_conv;
pub(crate) use conv_transpose::reversed_conv;
pub(crate) use dropout::{Dropout, RANDOM_DROPOUT};
pub(crate) use elements::{joined, pick};
pub(crate) use elementwise::{broadcast_shape, spread};
pub(crate) use matmul_batched::Shapes as ProductShapes;
use std::ops::Range;

/// The channels from the first to the last of `outputs`, starting where kernels may.
fn channels_around(outputs: impl Iterator<Item = usize>) -> Range<usize> {
    let (low, high) = outputs.fold((usize::MAX, 0), |(l, h), o| (l.min(o), h.max(o + 1)));
    if low < high { low / LANE * LANE..high } else { 0..0 }
}

/// The domain of operators that only this project knows; they never reach a file.
pub(crate) const OWN_DOMAIN: &str = "faultlens";

type Parse = fn(&Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError>;

/// Every operator with a kernel of its own, in alphabetical order. Add yours here.
const OPERATORS: &[(&str, Parse)] = &[
    ("Abs", elementwise::parse),
    ("Add", elementwise::parse),
    ("ArgMax", arg::parse),
    ("ArgMin", arg::parse),
    ("AveragePool", pool::parse),
    ("BatchNormalization", batch_norm::parse),
    ("Cast", cast::parse),
    ("CastLike", cast::parse),
    ("Ceil", elementwise::parse),
    ("Celu", elementwise::parse),
    ("Clip", elementwise::parse),
    ("Concat", concat::parse),
    ("Constant", layout::parse_constant),
    ("Conv", conv::parse),
    ("ConvInteger", quantised::parse_conv_integer),
    ("ConvTranspose", conv_transpose::parse),
    ("DepthToSpace", layout::parse_blocks),
    ("DequantizeLinear", quantised::parse_dequantise),
    ("Div", elementwise::parse),
    ("Dropout", layout::parse_identity),
    ("DynamicQuantizeLinear", quantised::parse_dynamic),
    ("Elu", elementwise::parse),
    ("Equal", logic::parse),
    ("Erf", elementwise::parse),
    ("Exp", elementwise::parse),
    ("Flatten", layout::parse_reshape),
    ("Floor", elementwise::parse),
    ("GRU", recurrent::parse),
    ("Gelu", elementwise::parse),
    ("Gemm", matmul::parse_gemm),
    ("GlobalAveragePool", pool::parse_global),
    ("GlobalLpPool", pool::parse_global),
    ("GlobalMaxPool", pool::parse_global),
    ("Greater", logic::parse),
    ("GreaterOrEqual", logic::parse),
    ("GroupNormalization", normalise::parse_grouped),
    ("HardSigmoid", elementwise::parse),
    ("HardSwish", elementwise::parse),
    ("Identity", layout::parse_identity),
    ("InstanceNormalization", normalise::parse_grouped),
    ("IsInf", logic::parse_float_class),
    ("IsNaN", logic::parse_float_class),
    ("LRN", lrn::parse),
    ("LSTM", recurrent::parse),
    ("LayerNormalization", normalise::parse_layer),
    ("LeakyRelu", elementwise::parse),
    ("Less", logic::parse),
    ("LessOrEqual", logic::parse),
    ("Log", elementwise::parse),
    ("LogSoftmax", softmax::parse),
    ("LpPool", pool::parse),
    ("MatMul", matmul::parse),
    ("MatMulInteger", quantised::parse_product),
    ("Max", elementwise::parse),
    ("MaxPool", pool::parse),
    ("MeanVarianceNormalization", normalise::parse_mean_variance),
    ("Min", elementwise::parse),
    ("Mish", elementwise::parse),
    ("Mod", arithmetic::parse_mod),
    ("Mul", elementwise::parse),
    ("Neg", elementwise::parse),
    ("NonMaxSuppression", nms::parse),
    ("PRelu", elementwise::parse),
    ("Pad", pad::parse),
    ("Pow", elementwise::parse),
    ("QLinearConv", quantised::parse_conv),
    ("QLinearMatMul", quantised::parse_product),
    ("QuantizeLinear", quantised::parse_quantise),
    ("RNN", recurrent::parse),
    ("Reciprocal", elementwise::parse),
    ("ReduceL1", reduce::parse),
    ("ReduceL2", reduce::parse),
    ("ReduceLogSum", reduce::parse),
    ("ReduceLogSumExp", reduce::parse),
    ("ReduceMax", reduce::parse),
    ("ReduceMean", reduce::parse),
    ("ReduceMin", reduce::parse),
    ("ReduceProd", reduce::parse),
    ("ReduceSum", reduce::parse),
    ("ReduceSumSquare", reduce::parse),
    ("Relu", elementwise::parse),
    ("Reshape", layout::parse_reshape),
    ("Resize", resize::parse),
    ("RoiAlign", roi_align::parse),
    ("Selu", elementwise::parse),
    ("Sigmoid", elementwise::parse),
    ("Sign", elementwise::parse),
    ("Slice", slice::parse),
    ("Softmax", softmax::parse),
    ("Softplus", elementwise::parse),
    ("Softsign", elementwise::parse),
    ("SpaceToDepth", layout::parse_blocks),
    ("Sqrt", elementwise::parse),
    ("Squeeze", layout::parse_reshape),
    ("Sub", elementwise::parse),
    ("Sum", elementwise::parse),
    ("Tanh", elementwise::parse),
    ("ThresholdedRelu", elementwise::parse),
    ("Transpose", layout::parse_transpose),
    ("Unsqueeze", layout::parse_reshape),
    ("Upsample", resize::parse),
];

/// The operators of domain `com.microsoft`, which ONNX Runtime's quantiser writes. Add yours here.
const MICROSOFT_OPERATORS: &[(&str, Parse)] = &[
    ("DequantizeLinear", quantised::parse_dequantise),
    ("DynamicQuantizeMatMul", quantised::parse_product),
    ("MatMulIntegerToFloat", quantised::parse_product),
    ("QGemm", quantised::parse_product),
    ("QLinearAdd", quantised::parse_pair),
    ("QLinearAveragePool", quantised::parse_pool),
    ("QLinearConcat", quantised::parse_concat),
    ("QLinearGlobalAveragePool", quantised::parse_global_pool),
    ("QLinearLeakyRelu", quantised::parse_table),
    ("QLinearMul", quantised::parse_pair),
    ("QLinearSigmoid", quantised::parse_table),
    ("QLinearSoftmax", quantised::parse_softmax),
    ("QuantizeLinear", quantised::parse_quantise),
];

/// The operators of [`OWN_DOMAIN`].
const OWN_OPERATORS: &[(&str, Parse)] =
    &[(RANDOM_DROPOUT, dropout::parse), (TRAINING_BATCH_NORM, batch_norm::parse_training)];

/// The operator's kernel, or `None` where rten computes it.
pub(crate) fn parse(operator: &Operator, opset: i64) -> Result<Option<Box<dyn Op>>, OperandError> {
    let operators = match operator.domain.as_str() {
        "" => OPERATORS,
        "com.microsoft" => MICROSOFT_OPERATORS,
        OWN_DOMAIN => OWN_OPERATORS,
        _ => return Ok(None),
    };
    let found = operators.binary_search_by_key(&operator.op_type.as_str(), |&(name, _)| name);
    let Ok(at) = found else { return Ok(None) };
    let needed = fewest_operands(&operator.op_type);
    if operator.inputs.iter().take(needed).flatten().count() < needed {
        return Err(OperandError::new(format!("it needs {needed} operands")));
    }
    operators[at].1(&Attributes::new(operator, opset))
}

/// Operands that kernels take for granted.
fn fewest_operands(op_type: &str) -> usize {
    match op_type {
        "Constant" => 0,
        "Add" | "Conv" | "ConvInteger" | "ConvTranspose" | "Div" | "Gemm" | "MatMul"
        | "MatMulInteger" | "Mul" | "PRelu" | "Pow" | "Sub" => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_sorted() {
        assert!(OPERATORS.is_sorted_by_key(|&(name, _)| name));
        assert!(MICROSOFT_OPERATORS.is_sorted_by_key(|&(name, _)| name));
    }
}
