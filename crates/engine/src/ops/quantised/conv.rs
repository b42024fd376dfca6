//! `QLinearConv` and `ConvInteger` in two dimensions.

use super::super::{Attributes, Op};
use super::pass::{ConvPass, ConvSpec, Filters};
use super::{
    Answers, Bytes, QuantParams, answer, integers, operand, required, scales, whole_value, zeros,
};
use crate::error::OperandError;
use crate::kernels::quantised::{IntegerRange, narrow};
use crate::value::Value;
use faultlens_core::DType;
use std::sync::Arc;

/// `ConvInteger`: input, weights, and zero points of both.
struct Integer(ConvSpec);

pub(in crate::ops) fn parse_integer(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(ConvSpec::parse(attributes)?.map(|spec| Box::new(Integer(spec)) as Box<dyn Op>))
}

impl Op for Integer {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let input = required(operands, 0)?;
        let filters = Filters::new(&self.0, required(operands, 1)?, &zeros(operand(operands, 3))?)?;
        let &[zero] = zeros(operand(operands, 2))?.as_slice() else {
            return Err(OperandError::new("the input must have one zero point"));
        };
        let pass = ConvPass::new(&self.0, &filters, input.shape(), zero)?;
        let sums = pass.run(Bytes::of(input)?, |sums, rows| rows.copy_from_slice(sums));
        Ok(Some(vec![Some(whole_value(pass.shape(), sums)?)]))
    }
}

/// `QLinearConv`: elements, scale and zero point of the input and of the weights, scale and zero
/// point of the answer, then the bias.
struct Conv {
    spec: ConvSpec,
    prepacked: Option<Arc<Prepacked>>,
}

/// All that does not depend on the input's elements.
struct Prepacked {
    filters: Filters,
    bias: Vec<i32>,
    /// From sums to steps of the answer, per output.
    factors: Vec<f32>,
    zero: i32,
    range: IntegerRange,
    dtype: DType,
}

pub(in crate::ops) fn parse(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let spec = ConvSpec::parse(attributes)?;
    Ok(spec.map(|spec| Box::new(Conv { spec, prepacked: None }) as Box<dyn Op>))
}

impl Prepacked {
    fn new(spec: &ConvSpec, operands: &[Option<&Value>]) -> Result<Self, OperandError> {
        let weights = required(operands, 3)?;
        let filters = Filters::new(spec, weights, &zeros(operand(operands, 5))?)?;
        let outputs = filters.outputs;
        let from = QuantParams::of(operands, 1, weights)?;
        let to = QuantParams::of(operands, 6, weights)?;
        let factors = match scales(required(operands, 4)?)? {
            [one] => vec![from.scale * one / to.scale; outputs],
            many => many.iter().map(|scale| from.scale * scale / to.scale).collect(),
        };
        let bias = operand(operands, 8).map_or_else(|| Ok(vec![0; outputs]), integers)?;
        if factors.len() != outputs || bias.len() != outputs {
            let scales = factors.len();
            let biases = bias.len();
            let why = format!("{scales} scales and {biases} biases for {outputs} outputs");
            return Err(OperandError::new(why));
        }
        let zero = from.zero;
        let range = to.range()?;
        let dtype = to.dtype;
        Ok(Self { filters, bias, factors, zero, range, dtype })
    }
}

impl Op for Conv {
    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        let prepacked = Some(Arc::new(Prepacked::new(&self.spec, constants)?));
        Ok(Some(Box::new(Self { spec: self.spec, prepacked })))
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let input = required(operands, 0)?;
        let prepacked = match &self.prepacked {
            Some(prepacked) => prepacked.clone(),
            None => Arc::new(Prepacked::new(&self.spec, operands)?),
        };
        let pass = ConvPass::new(&self.spec, &prepacked.filters, input.shape(), prepacked.zero)?;
        let bits = pass.run(Bytes::of(input)?, |sums, rows| {
            narrow(sums, &prepacked.bias, &prepacked.factors, prepacked.range, rows);
        });
        answer(pass.shape(), prepacked.dtype, bits)
    }
}
