//! From an output place to the input places it blends, along one axis, as ONNX Runtime does.

use crate::error::OperandError;
use crate::kernels::resize::{AxisBlends, Blend};
use crate::ops::Attributes;

/// How an output place maps to the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coordinates {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
    /// Into a part of the input, or beyond it.
    CropAndResize,
}

impl Coordinates {
    pub(super) fn parse(attributes: &Attributes<'_>, old: bool) -> Result<Self, OperandError> {
        let default = if old { "asymmetric" } else { "half_pixel" };
        let name = attributes.string("coordinate_transformation_mode", default);
        match name.as_str() {
            "half_pixel" => Ok(Self::HalfPixel),
            "half_pixel_symmetric" => Ok(Self::HalfPixelSymmetric),
            "pytorch_half_pixel" => Ok(Self::PytorchHalfPixel),
            "align_corners" => Ok(Self::AlignCorners),
            "asymmetric" => Ok(Self::Asymmetric),
            "tf_crop_and_resize" => Ok(Self::CropAndResize),
            _ => Err(OperandError::new(format!(
                "coordinate_transformation_mode {name} is not supported"
            ))),
        }
    }
}

/// How a place between two pixels is rounded to one of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Mode {
    RoundPreferFloor,
    RoundPreferCeil,
    Floor,
    Ceil,
    /// Down when growing, up when shrinking: the rule before opset 11.
    Simple,
    Linear,
    /// The coefficient of the cubic, and whether pixels outside count for nothing.
    Cubic {
        a: f32,
        exclude_outside: bool,
    },
}

impl Mode {
    pub(super) fn parse(attributes: &Attributes<'_>, old: bool) -> Result<Self, OperandError> {
        let nearest = attributes.string("nearest_mode", "round_prefer_floor");
        let mode = attributes.string("mode", "nearest");
        Ok(match (mode.as_str(), nearest.as_str()) {
            ("linear" | "bilinear", _) => Self::Linear,
            ("cubic", _) => Self::Cubic {
                a: attributes.float("cubic_coeff_a", -0.75),
                exclude_outside: attributes.int("exclude_outside", 0) != 0,
            },
            ("nearest", _) if old => Self::Simple,
            ("nearest", "round_prefer_floor") => Self::RoundPreferFloor,
            ("nearest", "round_prefer_ceil") => Self::RoundPreferCeil,
            ("nearest", "floor") => Self::Floor,
            ("nearest", "ceil") => Self::Ceil,
            _ => {
                return Err(OperandError::new(format!(
                    "mode {mode} with {nearest} is not supported"
                )));
            }
        })
    }

    pub(super) fn is_nearest(self) -> bool {
        !matches!(self, Self::Linear | Self::Cubic { .. })
    }
}

/// One axis to resize.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) scale: f32,
    /// The part of the input that is looked at, as shares of its length.
    pub(super) part: (f32, f32),
    pub(super) coordinates: Coordinates,
    pub(super) mode: Mode,
    /// Whether shrinking averages over all that falls away.
    pub(super) antialias: bool,
}

impl Axis {
    pub(super) fn along(&self) -> AxisBlends {
        AxisBlends::new((0..self.to).map(|out| self.blend(out)).collect(), self.from)
    }

    fn blend(&self, out: usize) -> Blend {
        let last = (self.from - 1) as f32;
        let place = if self.is_kept() { out as f32 } else { self.place(out as f32) };
        if self.coordinates == Coordinates::CropAndResize && !(0.0..=last).contains(&place) {
            return Blend::Outside;
        }
        match self.mode {
            _ if self.antialias && !self.mode.is_nearest() => self.averaged(place + 0.5),
            Mode::Linear => self.between(place),
            Mode::Cubic { a, exclude_outside } => self.cubic(place, a, exclude_outside),
            _ if self.is_kept() => Blend::Only(out),
            _ => Blend::Only(self.nearest(place)),
        }
    }

    /// Whether the axis stays as it is.
    pub(super) fn is_kept(&self) -> bool {
        let whole = self.coordinates != Coordinates::CropAndResize || self.part == (0.0, 1.0);
        self.from == self.to && self.scale == 1.0 && whole
    }

    /// The output place in input coordinates.
    fn place(&self, x: f32) -> f32 {
        let from = self.from as f32;
        let to = self.to as f32;
        let scale = self.scale;
        match self.coordinates {
            Coordinates::Asymmetric => x / scale,
            Coordinates::HalfPixel => (x + 0.5) / scale - 0.5,
            Coordinates::HalfPixelSymmetric => {
                let offset = from / 2.0 * (1.0 - to / (scale * from));
                offset + (x + 0.5) / scale - 0.5
            }
            Coordinates::PytorchHalfPixel if self.to > 1 => (x + 0.5) / scale - 0.5,
            Coordinates::AlignCorners if self.to > 1 => x * (from - 1.0) / (to - 1.0),
            Coordinates::PytorchHalfPixel | Coordinates::AlignCorners => 0.0,
            Coordinates::CropAndResize => {
                let (start, end) = self.part;
                if self.to > 1 {
                    start * (from - 1.0) + x * (end - start) * (from - 1.0) / (to - 1.0)
                } else {
                    0.5 * (start + end) * (from - 1.0)
                }
            }
        }
    }

    fn nearest(&self, x: f32) -> usize {
        let nearest = match self.mode {
            Mode::RoundPreferFloor => (x - 0.5).ceil(),
            Mode::RoundPreferCeil => (x + 0.5).floor(),
            Mode::Ceil => x.ceil(),
            Mode::Simple if self.scale < 1.0 => x.ceil(),
            _ => x.floor(),
        };
        self.clamped(nearest as i64)
    }

    fn clamped(&self, at: i64) -> usize {
        at.clamp(0, self.from as i64 - 1) as usize
    }

    /// The two places around `x`: both halves at the last pixel.
    fn between(&self, x: f32) -> Blend {
        let last = self.from - 1;
        let x = x.clamp(0.0, last as f32);
        let low = (x as usize).min(last);
        let high = (low + 1).min(last);
        let shares = if low == high { [0.5, 0.5] } else { [high as f32 - x, x - low as f32] };
        Blend::Shares(vec![(low, shares[0]), (high, shares[1])])
    }

    /// The four places around `x`, those outside standing for the border pixel.
    fn cubic(&self, x: f32, a: f32, exclude_outside: bool) -> Blend {
        let low = x.floor();
        let s = x - low;
        // Keys' cubic convolution (1981), with the parameter `a`.
        let mut shares = [
            cubic_outer(s + 1.0, a),
            cubic_inner(s, a),
            cubic_inner(1.0 - s, a),
            cubic_outer(2.0 - s, a),
        ];
        let places: [i64; 4] = std::array::from_fn(|i| low as i64 - 1 + i as i64);
        if exclude_outside {
            for (share, place) in shares.iter_mut().zip(places) {
                if !self.is_inside(place) {
                    *share = 0.0;
                }
            }
            let sum: f32 = shares.iter().sum();
            shares = shares.map(|share| share / sum);
        }
        Blend::Shares(places.into_iter().map(|at| self.clamped(at)).zip(shares).collect())
    }

    /// Whether there is such an input pixel.
    fn is_inside(&self, at: i64) -> bool {
        (0..self.from as i64).contains(&at)
    }

    /// All places that fall onto the output place when shrinking; `centre` counts from the
    /// pixel's edge.
    fn averaged(&self, centre: f32) -> Blend {
        let wide = (1.0 / self.scale).max(1.0);
        let (reach, exclude_outside) = match self.mode {
            Mode::Cubic { exclude_outside, .. } => (2.0 * wide, exclude_outside),
            _ => (wide, false),
        };
        let low = (centre - reach + 0.5).floor() as i64;
        let high = (centre + reach + 0.5).floor() as i64;
        let mut shares = Vec::<(usize, f32)>::new();
        let mut total = 0.0;
        for at in (low..high).filter(|&at| !exclude_outside || self.is_inside(at)) {
            let share = self.weight((at as f32 - centre + 0.5) / wide);
            total += share;
            match (shares.last_mut(), self.clamped(at)) {
                (Some((place, sum)), at) if *place == at => *sum += share,
                (_, at) => shares.push((at, share)),
            }
        }
        let total = if total == 0.0 { 1.0 } else { total };
        Blend::Shares(shares.into_iter().map(|(at, share)| (at, share / total)).collect())
    }

    /// How much a pixel counts at a distance from the centre.
    fn weight(&self, distance: f32) -> f32 {
        let x = distance.abs();
        match self.mode {
            Mode::Cubic { a, .. } if x < 1.0 => cubic_inner(x, a),
            Mode::Cubic { a, .. } if x < 2.0 => cubic_outer(x, a),
            Mode::Cubic { .. } => 0.0,
            _ => (1.0 - x).max(0.0),
        }
    }
}

/// Keys' kernel up to a distance of one pixel.
fn cubic_inner(x: f32, a: f32) -> f32 {
    ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
}

/// Keys' kernel from a distance of one pixel to two.
fn cubic_outer(x: f32, a: f32) -> f32 {
    ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(mode: Mode, coordinates: Coordinates, from: usize, to: usize) -> Axis {
        let scale = to as f32 / from as f32;
        Axis { from, to, scale, part: (0.0, 1.0), coordinates, mode, antialias: false }
    }

    #[test]
    fn shares_sum_to_one() {
        let cubic = |exclude_outside| Mode::Cubic { a: -0.75, exclude_outside };
        for mode in [Mode::Linear, cubic(false), cubic(true)] {
            for (from, to) in [(5, 11), (11, 4), (3, 1), (1, 3)] {
                for antialias in [false, true] {
                    let axis = Axis { antialias, ..axis(mode, Coordinates::HalfPixel, from, to) };
                    for out in 0..to {
                        let shares = axis.blend(out).shares();
                        let sum: f32 = shares.iter().map(|s| s.1).sum();
                        assert!((sum - 1.0).abs() < 1e-5, "{axis:?}: {shares:?}");
                        assert!(shares.iter().all(|s| s.0 < from));
                    }
                }
            }
        }
    }

    #[test]
    fn a_part_of_the_input_and_beyond() {
        let mut axis = axis(Mode::Floor, Coordinates::CropAndResize, 5, 3);
        axis.part = (0.5, 1.5);
        let blends: Vec<Blend> = (0..3).map(|out| axis.blend(out)).collect();
        assert_eq!(blends, [Blend::Only(2), Blend::Only(4), Blend::Outside]);
    }
}
