//! `Slice`: every so many pixels or channels of a value.

use super::operands::operand;
use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::{Grid, Order, Region, Spot};
use crate::value::Value;
use std::ops::Range;

pub(crate) struct Slice {
    /// Starts, ends and axes where they are attributes (before opset 10).
    attributes: Option<[Option<Vec<i64>>; 3]>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Slice::new(attributes))))
}

/// What is taken along one axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AxisSlice {
    start: usize,
    step: i64,
    length: usize,
}

impl AxisSlice {
    fn whole(length: usize) -> Self {
        Self { start: 0, step: 1, length }
    }

    /// ONNX's rules: negative places count from the end, and all are clamped to the axis.
    fn new(length: usize, start: i64, end: i64, step: i64) -> Result<Self, OperandError> {
        let n = length as i64;
        let from_end = |at: i64| if at < 0 { at.saturating_add(n) } else { at };
        if step == 0 {
            return Err(OperandError::new("a step of 0 never ends"));
        }
        let (start, end) = if step > 0 {
            (from_end(start).clamp(0, n), from_end(end).clamp(0, n))
        } else {
            (from_end(start).clamp(-1, n - 1), from_end(end).clamp(-1, n - 1))
        };
        let distance = if step > 0 { end - start } else { start - end };
        // The smallest number has no opposite; a step that long goes past the axis anyway.
        let pace = step.saturating_abs();
        let count =
            distance.max(0).div_euclid(pace) + i64::from(distance.max(0).rem_euclid(pace) > 0);
        Ok(Self { start: start.max(0) as usize, step, length: count as usize })
    }

    /// The places that are taken, one after the other.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        (0..self.length).map(|at| self.under(at))
    }

    fn under(&self, at: usize) -> usize {
        (self.start as i64 + at as i64 * self.step) as usize
    }

    /// Output places that read any of `low..high`.
    fn reach(&self, low: usize, high: usize) -> (usize, usize) {
        if self.step < 0 {
            return (0, self.length);
        }
        let step = self.step as usize;
        let first = low.saturating_sub(self.start).div_ceil(step);
        let last = high.saturating_sub(self.start).div_ceil(step);
        (first.min(self.length), last.min(self.length))
    }
}

impl Slice {
    pub(crate) fn new(attributes: &Attributes<'_>) -> Self {
        // Before version 10 the lists were attributes, since then they are operands.
        let lists = ["starts", "ends", "axes"];
        Self {
            attributes: (attributes.opset() < 10)
                .then(|| lists.map(|name| attributes.ints(name).map(<[i64]>::to_vec))),
        }
    }

    /// What is taken along every axis; `None` where the operands do not say.
    pub(crate) fn cuts(
        &self,
        shape: &[usize],
        operands: &[Option<&Value>],
    ) -> Result<Option<Vec<AxisSlice>>, OperandError> {
        let [starts, ends, axes] = match &self.attributes {
            Some(lists) => lists.clone(),
            None => [1, 2, 3].map(|at| operand(operands, at).and_then(Value::integers)),
        };
        let (Some(starts), Some(ends)) = (starts, ends) else { return Ok(None) };
        let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
        let steps = operand(operands, 4).and_then(Value::integers);
        let steps = steps.filter(|_| self.attributes.is_none());
        let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
        if [ends.len(), axes.len(), steps.len()].iter().any(|&n| n != starts.len()) {
            return Err(OperandError::new("starts, ends, axes and steps differ in number"));
        }
        let mut cuts: Vec<AxisSlice> = shape.iter().map(|&d| AxisSlice::whole(d)).collect();
        for i in 0..starts.len() {
            let axis = axes[i].rem_euclid(shape.len().max(1) as i64) as usize;
            let length =
                *shape.get(axis).ok_or_else(|| OperandError::new("there is no axis to cut"))?;
            cuts[axis] = AxisSlice::new(length, starts[i], ends[i], steps[i])?;
        }
        Ok(Some(cuts))
    }
}

impl Op for Slice {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 { Wants::Alike } else { Wants::RowMajor }
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let Some(floats) = operands[0].and_then(Value::floats) else { return Ok(None) };
        let rank = floats.shape.len();
        if rank > 4 || rank == 0 {
            return Ok(None);
        }
        let Some(cuts) = self.cuts(&floats.shape, operands)? else { return Ok(None) };
        let shape: Vec<usize> = cuts.iter().map(|c| c.length).collect();
        if shape.contains(&0) {
            return Ok(None);
        }
        let mut padded = vec![AxisSlice::whole(1); 4 - rank];
        padded.extend(&cuts);
        let (axes, channels) = match floats.order {
            Order::ChannelsLast => ([padded[0], padded[2], padded[3]], padded[1]),
            Order::RowMajor => ([padded[0], padded[1], padded[2]], padded[3]),
        };
        let grid = Grid::of(&shape, floats.order);
        Ok(Some(Box::new(BoundSlice { shape, order: floats.order, grid, axes, channels })))
    }
}

struct BoundSlice {
    shape: Vec<usize>,
    order: Order,
    grid: Grid,
    axes: [AxisSlice; 3],
    channels: AxisSlice,
}

impl Local for BoundSlice {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn order(&self) -> Order {
        self.order
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        let along: [(usize, usize); 3] =
            std::array::from_fn(|a| self.axes[a].reach(region.low[a], region.high[a]));
        Region { low: along.map(|(low, _)| low), high: along.map(|(_, high)| high) }
    }

    #[expect(unsafe_code, reason = "spots are written through pointers; see kernels")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        for spot in spots {
            let pixel =
                spot.sources[0].pixel(std::array::from_fn(|a| self.axes[a].under(spot.at[a])));
            // SAFETY: the caller promises room for all channels.
            let out = unsafe { std::slice::from_raw_parts_mut(spot.out, self.grid.width) };
            if self.channels.step == 1 {
                out.copy_from_slice(&pixel[self.channels.start..][..self.grid.width]);
            } else {
                for (i, x) in out.iter_mut().enumerate() {
                    *x = pixel[self.channels.under(i)];
                }
            }
        }
    }
}
