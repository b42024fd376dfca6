//! `Concat`, along the channels pixel by pixel, along other axes as a whole.

use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::{Grid, Order, Region, Spot};
use crate::value::Value;
use std::ops::Range;

struct Concat {
    axis: i64,
    sources: Vec<usize>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let sources = (0..attributes.arity().0).collect();
    Ok(Some(Box::new(Concat { axis: attributes.int("axis", 0), sources })))
}

impl Op for Concat {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::Alike
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let floats: Option<Vec<_>> = operands.iter().map(|v| v.and_then(Value::floats)).collect();
        let Some(floats) = floats.filter(|f| !f.is_empty()) else { return Ok(None) };
        let first = &floats[0].shape;
        let order = floats[0].order;
        let rank = first.len();
        let axis = self.axis.rem_euclid(rank.max(1) as i64) as usize;
        let innermost = if order == Order::ChannelsLast { 1 } else { rank.saturating_sub(1) };
        if axis != innermost || rank == 0 {
            return Ok(None);
        }
        let mut shape = first.clone();
        shape[axis] = 0;
        for floats in &floats {
            let fits = floats.shape.len() == rank
                && (0..rank).all(|a| a == axis || floats.shape[a] == first[a]);
            if !fits {
                let why = format!("shapes {first:?} and {:?} do not join", floats.shape);
                return Err(OperandError::new(why));
            }
            shape[axis] += floats.shape[axis];
        }
        Ok(Some(Box::new(BoundConcat { shape, order, sources: &self.sources })))
    }
}

struct BoundConcat<'a> {
    shape: Vec<usize>,
    order: Order,
    sources: &'a [usize],
}

impl Local for BoundConcat<'_> {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn order(&self) -> Order {
        self.order
    }

    fn sources(&self) -> &[usize] {
        self.sources
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        region
    }

    #[expect(unsafe_code, reason = "spots are written through pointers; see kernels")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        let width = Grid::of(&self.shape, self.order).width;
        for spot in spots {
            // SAFETY: the caller promises room for all channels.
            let mut rest = unsafe { std::slice::from_raw_parts_mut(spot.out, width) };
            for source in &spot.sources[..self.sources.len()] {
                let pixel = source.pixel(spot.at);
                let (slots, behind) = rest.split_at_mut(pixel.len());
                slots.copy_from_slice(pixel);
                rest = behind;
            }
        }
    }
}
