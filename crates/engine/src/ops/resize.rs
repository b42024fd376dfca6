//! `Resize` and `Upsample` of rows and columns, nearest and linear.

use super::{Attributes, Local, Op, Wants};
use crate::error::Misfit;
use crate::kernels::grid::{Order, Region, Spot};
use crate::kernels::resize::{Along, Blend, resize};
use crate::value::Value;
use std::ops::Range;

/// How an output place maps to the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coordinates {
    HalfPixel,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
}

/// How a place between two pixels is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    RoundPreferFloor,
    RoundPreferCeil,
    Floor,
    Ceil,
    /// Down when growing, up when shrinking: the rule before opset 11.
    Simple,
    Linear,
}

struct Resize {
    coordinates: Coordinates,
    mode: Mode,
    /// Scales given as an attribute (`Upsample` before opset 9).
    scales: Option<Vec<f32>>,
    /// Operands that hold scales and sizes.
    operands: (usize, usize),
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    let old = attributes.op_type() == "Upsample" || attributes.opset() < 11;
    let default = if old { "asymmetric" } else { "half_pixel" };
    let coordinates = match attributes.string("coordinate_transformation_mode", default).as_str() {
        "half_pixel" => Coordinates::HalfPixel,
        "pytorch_half_pixel" => Coordinates::PytorchHalfPixel,
        "align_corners" => Coordinates::AlignCorners,
        "asymmetric" => Coordinates::Asymmetric,
        _ => return Ok(None),
    };
    let nearest = attributes.string("nearest_mode", "round_prefer_floor");
    let mode = match (attributes.string("mode", "nearest").as_str(), nearest.as_str()) {
        ("linear" | "bilinear", _) => Mode::Linear,
        ("nearest", _) if old => Mode::Simple,
        ("nearest", "round_prefer_floor") => Mode::RoundPreferFloor,
        ("nearest", "round_prefer_ceil") => Mode::RoundPreferCeil,
        ("nearest", "floor") => Mode::Floor,
        ("nearest", "ceil") => Mode::Ceil,
        _ => return Ok(None),
    };
    if attributes.has("axes") || attributes.int("antialias", 0) != 0 {
        return Ok(None);
    }
    let scales = attributes.floats("scales").map(<[f32]>::to_vec);
    let operands = if old { (1, usize::MAX) } else { (2, 3) };
    Ok(Some(Box::new(Resize { coordinates, mode, scales, operands })))
}

impl Resize {
    /// Output length and scale per axis.
    fn target(&self, shape: &[usize], operands: &[Option<&Value>]) -> Option<Vec<(usize, f32)>> {
        let operand = |at: usize| operands.get(at).copied().flatten();
        let sizes = operand(self.operands.1).and_then(Value::integers).filter(|s| !s.is_empty());
        if let Some(sizes) = sizes {
            let pair = |(&from, &to): (&usize, &i64)| (to as usize, to as f32 / from as f32);
            return (sizes.len() == shape.len()).then(|| shape.iter().zip(&sizes).map(pair).collect());
        }
        let given = operand(self.operands.0).and_then(Value::floats).map(|f| &f.data);
        let scales = given.filter(|s| !s.is_empty()).or(self.scales.as_ref())?;
        let pair = |(&from, &scale): (&usize, &f32)| ((from as f32 * scale).floor() as usize, scale);
        (scales.len() == shape.len()).then(|| shape.iter().zip(scales).map(pair).collect())
    }

    fn along(&self, from: usize, to: usize, scale: f32) -> Along {
        let place = |out: usize| {
            let x = out as f32;
            match self.coordinates {
                Coordinates::Asymmetric => x / scale,
                Coordinates::HalfPixel => (x + 0.5) / scale - 0.5,
                Coordinates::PytorchHalfPixel if to > 1 => (x + 0.5) / scale - 0.5,
                Coordinates::PytorchHalfPixel => 0.0,
                Coordinates::AlignCorners if to == 1 => 0.0,
                Coordinates::AlignCorners => x * (from - 1) as f32 / (to - 1) as f32,
            }
        };
        let last = from - 1;
        let nearest = |x: f32| {
            let settled = match self.mode {
                Mode::RoundPreferFloor => (x - 0.5).ceil(),
                Mode::RoundPreferCeil => (x + 0.5).floor(),
                Mode::Ceil => x.ceil(),
                Mode::Simple if scale < 1.0 => x.ceil(),
                _ => x.floor(),
            };
            (settled.max(0.0) as usize).min(last)
        };
        let blends = (0..to).map(|out| match self.mode {
            Mode::Linear if from == to => Blend::only(out),
            Mode::Linear => Blend::between(place(out), last),
            _ if from == to => Blend::only(out),
            _ => Blend::only(nearest(place(out))),
        });
        Along::new(blends.collect(), from)
    }
}

impl Op for Resize {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, Misfit> {
        let Some(floats) = operands[0].and_then(Value::floats) else { return Ok(None) };
        let &[n, channels, height, width] = floats.shape.as_slice() else { return Ok(None) };
        let Some(target) = self.target(&floats.shape, operands) else { return Ok(None) };
        let plane_only = target[0].0 == n && target[1].0 == channels;
        if !plane_only || n * channels * height * width * target[2].0 * target[3].0 == 0 {
            return Ok(None);
        }
        let limit = 1usize << 30;
        if target[2].0.saturating_mul(target[3].0).saturating_mul(channels * n) > limit {
            return Err(Misfit::new("the resized value would hold over a billion elements"));
        }
        Ok(Some(Box::new(Settled {
            shape: [n, channels, target[2].0, target[3].0],
            rows: self.along(height, target[2].0, target[2].1),
            columns: self.along(width, target[3].0, target[3].1),
        })))
    }
}

struct Settled {
    shape: [usize; 4],
    rows: Along,
    columns: Along,
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
        let (top, bottom) = self.rows.reach(region.low[1], region.high[1]);
        let (left, right) = self.columns.reach(region.low[2], region.high[2]);
        Region { low: [region.low[0], top, left], high: [region.high[0], bottom, right] }
    }

    #[expect(unsafe_code, reason = "passes the caller's promise on")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        // SAFETY: the caller's promise is the kernel's.
        unsafe { resize(spots, &self.rows, &self.columns) }
    }
}
