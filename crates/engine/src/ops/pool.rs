//! Pools over windows and over whole planes.

use super::conv::windows;
use super::{Attributes, Local, Op, Wants};
use crate::error::Misfit;
use crate::kernels::grid::{Order, Region, Spot};
use crate::kernels::pool::{Pool, pool};
use crate::kernels::window::{AxisSpec, Pads, Window};
use crate::value::Value;
use std::ops::Range;

struct Windowed {
    kind: Pool,
    /// `None` pools the whole plane.
    windows: Option<[AxisSpec; 2]>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let axes = attributes.ints("kernel_shape").map_or(0, <[i64]>::len);
    if axes == 0 {
        return Err(Misfit::new("attribute kernel_shape is missing"));
    }
    if axes != 2 || attributes.arity().1 > 1 || attributes.int("storage_order", 0) != 0 {
        return Ok(None);
    }
    let kind = match attributes.op_type() {
        "MaxPool" => Pool::Max,
        _ if attributes.int("count_include_pad", 0) != 0 => Pool::AverageWithPadding,
        _ => Pool::Average,
    };
    let windows = windows(attributes)?;
    Ok(windows.map(|w| Box::new(Windowed { kind, windows: Some(w) }) as Box<dyn Op>))
}

pub(super) fn parse_global(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let kind = if attributes.op_type() == "GlobalMaxPool" { Pool::Max } else { Pool::Average };
    Ok(Some(Box::new(Windowed { kind, windows: None })))
}

impl Windowed {
    fn settle(&self, shape: &[usize]) -> Result<Option<Settled>, Misfit> {
        let &[n, channels, height, width] = shape else { return Ok(None) };
        if n * channels * height * width == 0 {
            return Ok(None);
        }
        let whole = |length| AxisSpec {
            kernel: length,
            stride: 1,
            dilation: 1,
            pads: Pads::Explicit(0, 0),
            ceil: false,
        };
        let [rows, columns] = self.windows.unwrap_or([whole(height), whole(width)]);
        let window = Window { rows: rows.settle(height)?, columns: columns.settle(width)? };
        let shape = [n, channels, window.rows.output, window.columns.output];
        Ok(Some(Settled { shape, window, kind: self.kind }))
    }
}

impl Op for Windowed {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::ChannelsLast
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, Misfit> {
        let Some(input) = operands[0].filter(|v| v.floats().is_some()) else { return Ok(None) };
        Ok(self.settle(input.shape())?.map(|s| Box::new(s) as Box<dyn Local>))
    }
}

struct Settled {
    shape: [usize; 4],
    window: Window,
    kind: Pool,
}

impl Local for Settled {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn order(&self) -> Order {
        Order::ChannelsLast
    }

    fn sources(&self) -> &[usize] {
        &[0]
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        self.window.reach(region)
    }

    #[expect(unsafe_code, reason = "passes the caller's promise on")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        // SAFETY: the caller's promise is the kernel's.
        unsafe { pool(spots, &self.window, self.kind) }
    }
}

/// `ReduceMean` over rows and columns, which is what networks use it for: a pool of the plane.
struct ReduceMean {
    keep: bool,
    axes: Option<Vec<i64>>,
}

pub(super) fn parse_reduce_mean(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let keep = attributes.int("keepdims", 1) != 0;
    let axes = attributes.ints("axes").map(<[i64]>::to_vec);
    Ok(Some(Box::new(ReduceMean { keep, axes })))
}

impl ReduceMean {
    fn over_plane(&self) -> bool {
        self.axes.as_ref().is_some_and(|axes| {
            let mut axes: Vec<i64> = axes.iter().map(|a| a.rem_euclid(4)).collect();
            axes.sort_unstable();
            axes == [2, 3]
        })
    }
}

impl Op for ReduceMean {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 && self.over_plane() { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn bake(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, Misfit> {
        let axes = constants.get(1).copied().flatten().and_then(Value::integers);
        Ok(axes.map(|axes| {
            let axes = Some(axes).filter(|axes| !axes.is_empty());
            Box::new(Self { keep: self.keep, axes }) as Box<dyn Op>
        }))
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, Misfit> {
        let Some(input) = operands[0].filter(|v| v.floats().is_some()) else { return Ok(None) };
        if !self.over_plane() || input.shape().len() != 4 {
            return Ok(None);
        }
        let settled = Windowed { kind: Pool::Average, windows: None }.settle(input.shape())?;
        Ok(match settled {
            Some(settled) if self.keep => Some(Box::new(settled)),
            Some(settled) => {
                let shape = [settled.shape[0], settled.shape[1]];
                Some(Box::new(Flat { shape, settled }))
            }
            None => None,
        })
    }
}

/// A pooled plane without its axes of length one. Row `n` is image `n`.
struct Flat {
    shape: [usize; 2],
    settled: Settled,
}

impl Local for Flat {
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
        Region { low: [0, 0, region.low[0]], high: [1, 1, region.high[0]] }
    }

    #[expect(unsafe_code, reason = "passes the caller's promise on")]
    unsafe fn compute(&self, spots: &[Spot<'_>], channels: Range<usize>) {
        let images: Vec<Spot<'_>> = spots
            .iter()
            .map(|s| Spot { sources: s.sources, at: [s.at[2], 0, 0], out: s.out })
            .collect();
        // SAFETY: the same outputs as the caller's spots.
        unsafe { self.settled.compute(&images, channels) }
    }
}
