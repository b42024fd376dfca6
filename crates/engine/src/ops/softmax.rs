//! `Softmax` and `LogSoftmax` along the last axis.

use super::{Attributes, Local, Op};
use crate::error::Misfit;
use crate::kernels::grid::{Order, Region, Spot};
use crate::kernels::math::exp;
use crate::value::Value;
use std::ops::Range;

struct Softmax {
    axis: i64,
    /// Before opset 13 all axes from `axis` on count as one.
    flattens: bool,
    log: bool,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let flattens = attributes.opset() < 13;
    let axis = attributes.int("axis", if flattens { 1 } else { -1 });
    let log = attributes.op_type() == "LogSoftmax";
    Ok(Some(Box::new(Softmax { axis, flattens, log })))
}

impl Op for Softmax {
    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, Misfit> {
        let Some(floats) = operands[0].and_then(Value::floats) else { return Ok(None) };
        let rank = floats.shape.len();
        let axis = self.axis.rem_euclid(rank.max(1) as i64) as usize;
        let behind = floats.shape.get(axis + 1..).unwrap_or(&[]);
        let last = axis + 1 == rank || (self.flattens && behind.iter().all(|&d| d == 1));
        if !last || rank == 0 || axis + 1 != rank {
            return Ok(None);
        }
        Ok(Some(Box::new(Settled { shape: floats.shape.clone(), log: self.log })))
    }

    /// Other axes: turned to the end, computed, and turned back.
    fn whole(&self, operands: &[Option<&Value>]) -> Result<Option<Vec<Option<Value>>>, Misfit> {
        let Some(floats) = operands[0].and_then(Value::floats) else { return Ok(None) };
        let rank = floats.shape.len();
        let axis = self.axis.rem_euclid(rank.max(1) as i64) as usize;
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
                for (x, y) in row.iter_mut().zip(block[start..].iter().step_by(stride)) {
                    *x = *y;
                }
                normalise(&mut row, self.log);
                for (x, y) in row.iter().zip(block[start..].iter_mut().step_by(stride)) {
                    *y = *x;
                }
            }
        }
        Ok(Some(vec![Some(Value::Floats(result))]))
    }
}

struct Settled {
    shape: Vec<usize>,
    log: bool,
}

impl Local for Settled {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn order(&self) -> Order {
        Order::RowMajor
    }

    fn sources(&self) -> &[usize] {
        &[0]
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        region
    }

    #[expect(unsafe_code, reason = "spots are written through pointers; see kernels")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        for spot in spots {
            let pixel = spot.sources[0].pixel(spot.at);
            // SAFETY: the caller promises room for all channels.
            let out = unsafe { std::slice::from_raw_parts_mut(spot.out, pixel.len()) };
            out.copy_from_slice(pixel);
            normalise(out, self.log);
        }
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
