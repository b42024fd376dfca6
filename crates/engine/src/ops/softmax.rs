//! `Softmax` and `LogSoftmax`: pixel by pixel along the innermost axis, as a whole along others.

use super::operands::{Answers, one};
use super::pixelwise::Pixelwise;
use super::places::axis;
use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::Order;
use crate::kernels::math::exp;
use crate::value::Value;

/// The parsed operator, which gradients ask for too.
pub(crate) struct Softmax {
    pub(crate) axis: i64,
    /// Before opset 13 all axes from `axis` on count as one.
    pub(crate) flattens: bool,
    pub(crate) log: bool,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Softmax::of(attributes))))
}

impl Softmax {
    pub(crate) fn of(attributes: &Attributes<'_>) -> Self {
        let flattens = attributes.opset() < 13;
        let axis = attributes.int("axis", if flattens { 1 } else { -1 });
        Self { axis, flattens, log: attributes.op_type() == "LogSoftmax" }
    }
}

impl Op for Softmax {
    fn wants(&self, _operand: usize) -> Wants {
        let channels = matches!(self.axis, 1 | -3) && !self.flattens;
        if channels { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let Some(floats) = operands[0].and_then(Value::floats) else { return Ok(None) };
        let axis = axis(self.axis, floats.shape.len())?;
        let innermost = match floats.order {
            Order::ChannelsLast => 1,
            Order::RowMajor => floats.shape.len() - 1,
        };
        if axis != innermost {
            return Ok(None);
        }
        let log = self.log;
        let function = move |row: &[f32], out: &mut [f32]| {
            out.copy_from_slice(row);
            normalise(out, log);
        };
        Ok(Some(Box::new(Pixelwise::new(floats.shape.clone(), floats.order, function))))
    }

    /// Other axes: turned to the end, computed, and turned back.
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(floats) = operands[0].and_then(Value::floats) else { return Ok(None) };
        let axis = axis(self.axis, floats.shape.len())?;
        let inner: usize = floats.shape[axis + 1..].iter().product();
        let (length, stride) = if self.flattens {
            (floats.shape[axis] * inner, 1)
        } else {
            (floats.shape[axis], inner)
        };
        let mut result = floats.clone();
        let mut row = vec![0.0; length];
        for block in result.data.chunks_exact_mut((length * stride).max(1)) {
            for start in 0..stride {
                // Rows along another axis lie apart in memory; they are gathered, computed and
                // put back.
                for (x, y) in row.iter_mut().zip(block[start..].iter().step_by(stride)) {
                    *x = *y;
                }
                normalise(&mut row, self.log);
                for (x, y) in row.iter().zip(block[start..].iter_mut().step_by(stride)) {
                    *y = *x;
                }
            }
        }
        crate::step::round(&mut result);
        one(Value::Floats(result))
    }
}

fn normalise(row: &mut [f32], log: bool) {
    let top = row.iter().fold(f32::NEG_INFINITY, |a, &b| if b > a || b.is_nan() { b } else { a });
    if log {
        row.iter_mut().for_each(|x| *x -= top);
        let sum: f32 = row.iter().map(|&x| exp(x)).sum();
        let log_sum = libm::logf(sum);
        row.iter_mut().for_each(|x| *x -= log_sum);
    } else {
        row.iter_mut().for_each(|x| *x = exp(*x - top));
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|x| *x /= sum);
    }
}
