//! `Pad`: elements added before and after, or cut off, along any axes and of any type.

use super::elements::pick;
use super::operands::{Answers, one, operand, required, rounded};
use super::places::{axis, strides};
use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::{Order, Region, Spot};
use crate::value::Value;
use faultlens_core::DType;
use std::ops::Range;

/// What the added elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Constant,
    Edge,
    Reflect,
    Wrap,
}

pub(crate) struct Pad {
    mode: Mode,
    /// Widths and constant where they are attributes (before opset 11).
    attributes: Option<(Vec<i64>, f32)>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Pad::new(attributes)?)))
}

impl Pad {
    pub(crate) fn new(attributes: &Attributes<'_>) -> Result<Self, OperandError> {
        let name = attributes.string("mode", "constant");
        let mode = match name.as_str() {
            "constant" => Mode::Constant,
            "edge" => Mode::Edge,
            "reflect" => Mode::Reflect,
            "wrap" => Mode::Wrap,
            _ => return Err(OperandError::new(format!("mode {name} is not supported"))),
        };
        let widths = attributes.ints("pads").map(<[i64]>::to_vec);
        let attributes = widths.map(|widths| (widths, attributes.float("value", 0.0)));
        Ok(Self { mode, attributes })
    }

    /// For every axis, the places that its elements come from; `None` for the constant.
    pub(crate) fn places(
        &self,
        shape: &[usize],
        operands: &[Option<&Value>],
    ) -> Result<Vec<Vec<Option<usize>>>, OperandError> {
        let widths = self.widths(shape.len(), operands)?;
        shape.iter().zip(widths).map(|(&length, widths)| self.along(length, widths)).collect()
    }

    /// Elements to add before and after, for every axis.
    fn widths(
        &self,
        rank: usize,
        operands: &[Option<&Value>],
    ) -> Result<Vec<(i64, i64)>, OperandError> {
        let given = match &self.attributes {
            Some((widths, _)) => Some(widths.clone()),
            None => required(operands, 1)?.integers(),
        };
        let given = given.ok_or_else(|| OperandError::new("pads must be whole numbers"))?;
        let named = operand(operands, 3).and_then(Value::integers);
        let axes = named.unwrap_or_else(|| (0..rank as i64).collect());
        if given.len() != 2 * axes.len() {
            return Err(OperandError::new(format!("{} pads for {} axes", given.len(), axes.len())));
        }
        let mut widths = vec![(0, 0); rank];
        for (i, &named) in axes.iter().enumerate() {
            widths[axis(named, rank)?] = (given[i], given[axes.len() + i]);
        }
        Ok(widths)
    }

    /// For every place along a padded axis, the place it takes its elements from; `None` for the
    /// constant. What is cut off is gone before the rest is repeated.
    fn along(
        &self,
        length: usize,
        (before, after): (i64, i64),
    ) -> Result<Vec<Option<usize>>, OperandError> {
        let cut = before.saturating_neg().max(0);
        let rest = (length as i64).saturating_add(before.min(0)).saturating_add(after.min(0));
        if rest < 0 {
            return Err(OperandError::new(format!(
                "pads {before} and {after} do not fit {length} elements"
            )));
        }
        let inside = |at: i64| (0..rest).contains(&at).then_some((at + cut) as usize);
        (-before.max(0)..rest + after.max(0))
            .map(|at| match self.mode {
                Mode::Constant => Ok(inside(at)),
                _ if rest == 0 => Err(OperandError::new("there is nothing to repeat")),
                Mode::Edge => Ok(inside(at.clamp(0, rest - 1))),
                Mode::Wrap => Ok(inside(at.rem_euclid(rest))),
                // Back and forth without repeating the ends: a period of 2 (n - 1).
                Mode::Reflect => {
                    let period = (2 * (rest - 1)).max(1);
                    let at = at.rem_euclid(period);
                    Ok(inside(at.min(period - at)))
                }
            })
            .collect()
    }

    /// The constant that fills, in the type of the padded value.
    fn constant(&self, value: &Value, operands: &[Option<&Value>]) -> Result<Value, OperandError> {
        match (operand(operands, 2), &self.attributes) {
            (Some(constant), None) => Ok(constant.clone()),
            (_, attributes) => {
                let fill = attributes.as_ref().map_or(0.0, |(_, fill)| *fill);
                let fill = rounded(vec![1], DType::F32, vec![fill]);
                super::cast::cast(&fill, value.dtype().unwrap_or(DType::F32))
            }
        }
    }
}

impl Op for Pad {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    /// Rows and columns added to a plane, which is what networks pad.
    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let value = required(operands, 0)?;
        let (Some(floats), &[n, channels, height, width]) = (value.floats(), value.shape()) else {
            return Ok(None);
        };
        let widths = self.widths(4, operands)?;
        let constant = self.constant(value, operands)?;
        let fill = constant.floats().and_then(|f| f.data.first().copied());
        let (Some(fill), [(0, 0), (0, 0), rows, columns]) = (fill, widths.as_slice()) else {
            return Ok(None);
        };
        let added: i64 = [rows.0, rows.1, columns.0, columns.1].iter().map(|w| w.abs()).sum();
        if n * channels * height * width == 0 || added > 1 << 16 {
            return Ok(None);
        }
        let rows = self.along(height, *rows)?;
        let columns = self.along(width, *columns)?;
        let shape = [n, channels, rows.len(), columns.len()];
        let order = floats.order;
        Ok((order == Order::ChannelsLast)
            .then(|| Box::new(Plane { shape, rows, columns, fill }) as Box<dyn Local>))
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = &row_major(required(operands, 0)?);
        let shape = value.shape();
        let widths = self.widths(shape.len(), operands)?;
        let mut places: Vec<Option<usize>> = vec![Some(0)];
        let mut padded = Vec::with_capacity(shape.len());
        for ((&length, stride), widths) in shape.iter().zip(strides(shape)).zip(widths) {
            let along = self.along(length, widths)?;
            padded.push(along.len());
            places = places
                .iter()
                .flat_map(|&start| {
                    along.iter().map(move |at| Some(start? + (*at)? * stride)).collect::<Vec<_>>()
                })
                .collect();
        }
        let fill = shape.iter().product();
        let at: Vec<usize> = places.into_iter().map(|at| at.unwrap_or(fill)).collect();
        one(pick(&[value, &self.constant(value, operands)?], &at, padded)?)
    }
}

fn row_major(value: &Value) -> Value {
    match value {
        Value::Floats(floats) => Value::Floats(floats.in_order(Order::RowMajor)),
        other => other.clone(),
    }
}

/// A padded plane: for every output row and column, where it comes from.
struct Plane {
    shape: [usize; 4],
    rows: Vec<Option<usize>>,
    columns: Vec<Option<usize>>,
    fill: f32,
}

/// The places from the first to the last that come from `low..high`.
fn from_within(along: &[Option<usize>], low: usize, high: usize) -> (usize, usize) {
    let inside = |at: &Option<usize>| at.is_some_and(|at| (low..high).contains(&at));
    let first = along.iter().position(inside).unwrap_or(0);
    let last = along.iter().rposition(inside).map_or(0, |at| at + 1);
    (first, last)
}

impl Local for Plane {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        let (top, bottom) = from_within(&self.rows, region.low[1], region.high[1]);
        let (left, right) = from_within(&self.columns, region.low[2], region.high[2]);
        Region { low: [region.low[0], top, left], high: [region.high[0], bottom, right] }
    }

    #[expect(unsafe_code, reason = "spots are written through pointers; see kernels")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        for spot in spots {
            let [n, h, w] = spot.at;
            // SAFETY: the caller promises room for all channels.
            let out = unsafe { std::slice::from_raw_parts_mut(spot.out, self.shape[1]) };
            match (self.rows[h], self.columns[w]) {
                (Some(row), Some(column)) => {
                    out.copy_from_slice(spot.sources[0].pixel([n, row, column]));
                }
                _ => out.fill(self.fill),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Tensor;

    fn padded(mode: Mode, widths: [i64; 2]) -> Option<Vec<i64>> {
        let value = Value::from_tensor(Tensor::vector(vec![1i64, 2, 3]));
        let pad = Pad { mode, attributes: Some((widths.to_vec(), 9.0)) };
        pad.whole(&[Some(&value)]).ok()??[0].as_ref()?.integers()
    }

    #[test]
    fn every_mode_with_whole_numbers() {
        assert_eq!(padded(Mode::Constant, [1, 2]), Some(vec![9, 1, 2, 3, 9, 9]));
        assert_eq!(padded(Mode::Edge, [1, 2]), Some(vec![1, 1, 2, 3, 3, 3]));
        assert_eq!(padded(Mode::Reflect, [2, 1]), Some(vec![3, 2, 1, 2, 3, 2]));
        assert_eq!(padded(Mode::Wrap, [1, 2]), Some(vec![3, 1, 2, 3, 1, 2]));
        assert_eq!(padded(Mode::Constant, [-1, 1]), Some(vec![2, 3, 9]));
        assert_eq!(padded(Mode::Wrap, [-1, 2]), Some(vec![2, 3, 2, 3]));
        assert_eq!(padded(Mode::Constant, [-2, -2]), None);
    }
}
