//! Gradients, backwards through the graph from the values that a run kept: one file per family of
//! operators, one line per operator in [`RULES`].
//!
//! A rule answers how the results' gradients become gradients of the operands (a vector-Jacobian
//! product). It works on whole values and sums in one fixed order, so gradients have the same bits
//! on any number of threads.

mod along;
mod arithmetic;
mod backward;
mod batch_norm;
mod broadcast;
mod concat;
mod conv;
mod dropout;
mod elementwise;
mod layout;
mod lrn;
mod matmul;
mod normalise;
mod pass;
mod pool;
mod rearrange;
mod recurrent;
mod reduce;
mod softmax;

use crate::error::OperandError;
use crate::graph::Operator;
use crate::kernels::grid::Floats;
pub(crate) use backward::{Backward, ordered};
pub(crate) use pass::{Values, gradients, seed};

/// The gradient of each operand; `None` where it is zero or nobody wants it.
type Gradients = Result<Vec<Option<Floats>>, OperandError>;

/// How an operator hands gradients on from its results to its operands.
pub(crate) type Rule = fn(&mut Backward<'_>) -> Gradients;

/// Every operator that hands gradients on, in alphabetical order. Add yours here.
const RULES: &[(&str, Rule)] = &[
    ("Abs", elementwise::unary),
    ("Add", arithmetic::sum),
    ("AveragePool", pool::pool),
    ("BatchNormalization", batch_norm::stored_statistics),
    ("Cast", elementwise::pass),
    ("CastLike", elementwise::pass),
    ("Celu", elementwise::unary),
    ("Clip", elementwise::clip),
    ("Concat", concat::concat),
    ("Conv", conv::conv),
    ("ConvTranspose", conv::conv_transpose),
    ("DepthToSpace", layout::blocks),
    ("Div", arithmetic::div),
    ("Dropout", elementwise::pass),
    ("Elu", elementwise::unary),
    ("Erf", elementwise::unary),
    ("Exp", elementwise::unary),
    ("Expand", rearrange::expand),
    ("Flatten", layout::reshape),
    ("GRU", recurrent::recurrent),
    ("Gather", rearrange::gather),
    ("Gelu", elementwise::unary),
    ("Gemm", matmul::gemm),
    ("GlobalAveragePool", pool::pool),
    ("GlobalMaxPool", pool::pool),
    ("GroupNormalization", normalise::grouped),
    ("HardSigmoid", elementwise::unary),
    ("HardSwish", elementwise::unary),
    ("Identity", elementwise::pass),
    ("InstanceNormalization", normalise::grouped),
    ("LRN", lrn::lrn),
    ("LSTM", recurrent::recurrent),
    ("LayerNormalization", normalise::layer),
    ("LeakyRelu", elementwise::unary),
    ("Log", elementwise::unary),
    ("LogSoftmax", softmax::softmax),
    ("MatMul", matmul::matmul),
    ("Max", arithmetic::extreme),
    ("MaxPool", pool::pool),
    ("Min", arithmetic::extreme),
    ("Mish", elementwise::unary),
    ("Mul", arithmetic::mul),
    ("Neg", elementwise::unary),
    ("PRelu", arithmetic::prelu),
    ("Pad", rearrange::pad),
    ("Pow", arithmetic::pow),
    ("RNN", recurrent::recurrent),
    ("RandomDropout", dropout::random_dropout),
    ("Reciprocal", elementwise::unary),
    ("ReduceL1", reduce::reduce),
    ("ReduceL2", reduce::reduce),
    ("ReduceLogSum", reduce::reduce),
    ("ReduceLogSumExp", reduce::reduce),
    ("ReduceMax", reduce::reduce),
    ("ReduceMean", reduce::reduce),
    ("ReduceMin", reduce::reduce),
    ("ReduceSum", reduce::reduce),
    ("ReduceSumSquare", reduce::reduce),
    ("Relu", elementwise::unary),
    ("Reshape", layout::reshape),
    ("Resize", rearrange::resize),
    ("Selu", elementwise::unary),
    ("Sigmoid", elementwise::unary),
    ("Slice", rearrange::slice),
    ("Softmax", softmax::softmax),
    ("Softplus", elementwise::unary),
    ("Softsign", elementwise::unary),
    ("SpaceToDepth", layout::blocks),
    ("Split", concat::split),
    ("Sqrt", elementwise::unary),
    ("Squeeze", layout::reshape),
    ("Sub", arithmetic::sub),
    ("Sum", arithmetic::sum),
    ("Tanh", elementwise::unary),
    ("ThresholdedRelu", elementwise::unary),
    ("Tile", rearrange::tile),
    ("TrainingBatchNormalization", batch_norm::batch_statistics),
    ("Transpose", layout::transpose),
    ("Unsqueeze", layout::reshape),
    ("Upsample", rearrange::resize),
    ("Where", arithmetic::select),
];

/// The operator's rule.
fn rule(operator: &Operator) -> Result<Rule, OperandError> {
    let own = operator.domain.is_empty() || operator.domain == crate::ops::OWN_DOMAIN;
    let found = RULES.binary_search_by_key(&operator.op_type.as_str(), |&(name, _)| name);
    found.ok().filter(|_| own).map(|at| RULES[at].1).ok_or_else(|| {
        OperandError::new(
            "no rule hands gradients back through it; add one to RULES in \
             crates/engine/src/gradient/mod.rs, or ask for gradients that do not pass it",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted() {
        assert!(RULES.is_sorted_by_key(|&(name, _)| name));
    }
}
