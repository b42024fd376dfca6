//! Pools over windows and over whole planes.

use super::operands::Answers;
use super::pool_nd::{PoolKind, PoolNd};
use super::windows::window_specs;
use super::windows::windows;
use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::{Order, Region, Spot};
use crate::kernels::pool::{Pool, pool};
use crate::kernels::window::{AxisSpec, Window};
use crate::value::Value;
use std::ops::Range;

struct Windowed {
    kind: Pool,
    /// `None` pools the whole plane.
    windows: Option<[AxisSpec; 2]>,
    /// The same pool for what has no pixels.
    other: PoolNd,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let other = general(attributes)?;
    let windows = windows(attributes)?.filter(|_| !other.indices);
    Ok(Some(match (other.keep, windows) {
        (PoolKind::Pool(kind), Some(windows)) => {
            Box::new(Windowed { kind, windows: Some(windows), other })
        }
        _ => Box::new(other),
    }))
}

pub(super) fn parse_global(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let other = general(attributes)?;
    Ok(Some(match other.keep {
        PoolKind::Pool(kind) => Box::new(Windowed { kind, windows: None, other }),
        PoolKind::Norm(_) => Box::new(other),
    }))
}

/// The pool as its attributes describe it, along any number of axes.
pub(crate) fn general(attributes: &Attributes<'_>) -> Result<PoolNd, OperandError> {
    let keep = match attributes.op_type() {
        "GlobalMaxPool" | "MaxPool" => PoolKind::Pool(Pool::Max),
        "GlobalLpPool" | "LpPool" => PoolKind::Norm(attributes.int("p", 2) as i32),
        _ if attributes.int("count_include_pad", 0) != 0 => {
            PoolKind::Pool(Pool::AverageWithPadding)
        }
        _ => PoolKind::Pool(Pool::Average),
    };
    if attributes.op_type().starts_with("Global") {
        return Ok(PoolNd { keep, specs: None, indices: false, by_columns: false });
    }
    let axes = attributes.ints("kernel_shape").map_or(0, <[i64]>::len);
    if axes == 0 {
        return Err(OperandError::new("attribute kernel_shape is missing"));
    }
    Ok(PoolNd {
        keep,
        specs: Some(window_specs(attributes, axes)?),
        indices: attributes.arity().1 > 1,
        by_columns: attributes.int("storage_order", 0) != 0,
    })
}

/// What a pool keeps of which pixels; `None` where the value has no pixels.
pub(crate) fn of_pixels(
    attributes: &Attributes<'_>,
    shape: &[usize],
) -> Result<Option<(Pool, Window)>, OperandError> {
    let PoolNd { keep, specs, .. } = general(attributes)?;
    let windows = specs.map(<[AxisSpec; 2]>::try_from).transpose();
    let (PoolKind::Pool(kind), Ok(windows)) = (keep, windows) else { return Ok(None) };
    Ok(bind(kind, windows, shape)?.map(|bound| (kind, bound.window)))
}

/// The pool of pixels for these shapes; `None` where there are none.
fn bind(
    kind: Pool,
    windows: Option<[AxisSpec; 2]>,
    shape: &[usize],
) -> Result<Option<BoundPool>, OperandError> {
    let &[n, channels, height, width] = shape else { return Ok(None) };
    if height * width == 0 {
        return Ok(None);
    }
    let [rows, columns] = windows.unwrap_or([AxisSpec::whole(height), AxisSpec::whole(width)]);
    let window = Window { rows: rows.bind(height)?, columns: columns.bind(width)? };
    let shape = [n, channels, window.rows.output, window.columns.output];
    Ok(Some(BoundPool { shape, window, kind }))
}

impl Op for Windowed {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::ChannelsLast
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let Some(input) = operands[0].filter(|v| v.floats().is_some()) else { return Ok(None) };
        let bound = bind(self.kind, self.windows, input.shape())?;
        Ok(bound.map(|s| Box::new(s) as Box<dyn Local>))
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        self.other.whole(operands)
    }
}

struct BoundPool {
    shape: [usize; 4],
    window: Window,
    kind: Pool,
}

impl Local for BoundPool {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        self.window.reach(region)
    }

    #[expect(unsafe_code, reason = "passes the caller's promise on")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        // SAFETY: the caller's promise is the kernel's.
        unsafe { pool(spots, &self.window, self.kind, self.shape[1]) }
    }
}

/// The mean over rows and columns, with or without their axes of length one.
pub(super) fn plane_mean(
    shape: &[usize],
    keep: bool,
) -> Result<Option<Box<dyn Local>>, OperandError> {
    let bound = bind(Pool::Average, None, shape)?;
    Ok(bound.map(|bound| {
        if keep {
            return Box::new(bound) as Box<dyn Local>;
        }
        let shape = [bound.shape[0], bound.shape[1]];
        Box::new(Flat { shape, bound })
    }))
}

/// A pooled plane without its axes of length one. Row `n` is image `n`.
struct Flat {
    shape: [usize; 2],
    bound: BoundPool,
}

impl Local for Flat {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn order(&self) -> Order {
        Order::RowMajor
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
        // SAFETY: the same outputs as those of the caller's spots, and as many channels.
        unsafe { self.bound.compute(&images, channels) }
    }
}
