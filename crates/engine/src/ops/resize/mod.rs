//! `Resize` and `Upsample`: rows and columns pixel by pixel, other axes as a whole.

mod blend;

use super::cast::cast;
use super::elements::pick;
use super::operands::{Answers, one, operand, required, rounded, row_major};
use super::places::{axis, strides};
use super::plane::Plane;
use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::resize::{AxisBlends, Blend};
use crate::value::Value;
use blend::{Axis, Coordinates, Mode};
use faultlens_core::DType;

/// What happens to sizes that would change the proportions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proportions {
    Change,
    KeepInside,
    KeepAround,
}

pub(crate) struct Resize {
    coordinates: Coordinates,
    mode: Mode,
    antialias: bool,
    proportions: Proportions,
    /// The axes that scales, sizes and parts are about; all of them by default.
    axes: Option<Vec<i64>>,
    /// What lies outside of the input.
    outside: f32,
    /// Scales given as an attribute (`Upsample` before opset 9).
    scales: Option<Vec<f32>>,
    /// Operands that hold parts, scales and sizes.
    operands: [usize; 3],
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Resize::new(attributes)?)))
}

impl Resize {
    pub(crate) fn new(attributes: &Attributes<'_>) -> Result<Self, OperandError> {
        let old = attributes.op_type() == "Upsample" || attributes.opset() < 11;
        let policy = attributes.string("keep_aspect_ratio_policy", "stretch");
        let proportions = match policy.as_str() {
            "stretch" => Proportions::Change,
            "not_larger" => Proportions::KeepInside,
            "not_smaller" => Proportions::KeepAround,
            _ => {
                return Err(OperandError::new(format!(
                    "keep_aspect_ratio_policy {policy} is not supported"
                )));
            }
        };
        Ok(Self {
            coordinates: Coordinates::parse(attributes, old)?,
            mode: Mode::parse(attributes, old)?,
            antialias: attributes.int("antialias", 0) != 0,
            proportions,
            axes: attributes.ints("axes").map(<[i64]>::to_vec),
            outside: attributes.float("extrapolation_value", 0.0),
            scales: attributes.floats("scales").map(<[f32]>::to_vec),
            operands: if old { [usize::MAX, 1, usize::MAX] } else { [1, 2, 3] },
        })
    }

    /// For every axis, what each place of the result blends; `None` where the axis stays.
    pub(crate) fn along(
        &self,
        shape: &[usize],
        operands: &[Option<&Value>],
    ) -> Result<Vec<Option<AxisBlends>>, OperandError> {
        let axes = self.axes(shape, operands)?;
        let copies = self.copies(&axes);
        Ok(axes.iter().map(|a| (!copies && !a.is_kept()).then(|| a.along())).collect())
    }

    /// Every axis with its lengths, scale and part.
    fn axes(
        &self,
        shape: &[usize],
        operands: &[Option<&Value>],
    ) -> Result<Vec<Axis>, OperandError> {
        let named: Vec<usize> = match &self.axes {
            Some(axes) => axes.iter().map(|&a| axis(a, shape.len())).collect::<Result<_, _>>()?,
            None => (0..shape.len()).collect(),
        };
        let mut axes: Vec<Axis> = shape
            .iter()
            .map(|&from| Axis {
                from,
                to: from,
                scale: 1.0,
                part: (0.0, 1.0),
                coordinates: self.coordinates,
                mode: self.mode,
                antialias: self.antialias,
            })
            .collect();
        let lengths: Vec<usize> = named.iter().map(|&a| shape[a]).collect();
        for (&a, (to, scale)) in named.iter().zip(self.targets(&lengths, operands)?) {
            (axes[a].to, axes[a].scale) = (to, scale);
        }
        let parts = operand(operands, self.operands[0]).and_then(Value::floats).map(|f| &*f.data);
        if let Some(parts) = parts.filter(|parts| parts.len() == 2 * named.len()) {
            for (i, &a) in named.iter().enumerate() {
                axes[a].part = (parts[i], parts[named.len() + i]);
            }
        }
        Ok(axes)
    }

    /// Whether no length changes, in which case ONNX Runtime copies whatever the scales.
    fn copies(&self, axes: &[Axis]) -> bool {
        let crops = self.coordinates == Coordinates::CropAndResize;
        axes.iter().all(|a| a.is_kept() || (a.from == a.to && !crops))
    }

    /// Output length and scale of each of these axes.
    fn targets(
        &self,
        lengths: &[usize],
        operands: &[Option<&Value>],
    ) -> Result<Vec<(usize, f32)>, OperandError> {
        let wrong = |given: usize| {
            let wanted = lengths.len();
            OperandError::new(format!("{given} scales or sizes where {wanted} are wanted"))
        };
        let sizes = operand(operands, self.operands[2]).and_then(Value::integers);
        if let Some(sizes) = sizes.filter(|sizes| !sizes.is_empty()) {
            let sizes: Vec<usize> =
                sizes.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
            let fits = sizes.len() == lengths.len();
            return if fits { Ok(self.sized(lengths, &sizes)) } else { Err(wrong(sizes.len())) };
        }
        let given = operand(operands, self.operands[1]).and_then(Value::floats).map(|f| &f.data);
        let scales = given.filter(|s| !s.is_empty()).or(self.scales.as_ref());
        let scales = scales
            .filter(|s| s.len() == lengths.len())
            .ok_or_else(|| wrong(scales.map_or(0, Vec::len)))?;
        let targets = lengths.iter().zip(scales);
        Ok(targets.map(|(&from, &scale)| ((from as f32 * scale).floor() as usize, scale)).collect())
    }

    fn sized(&self, lengths: &[usize], sizes: &[usize]) -> Vec<(usize, f32)> {
        let scales = lengths.iter().zip(sizes).map(|(&from, &to)| to as f32 / from as f32);
        let common = match self.proportions {
            Proportions::Change => return sizes.iter().copied().zip(scales).collect(),
            Proportions::KeepInside => scales.fold(f32::INFINITY, f32::min),
            Proportions::KeepAround => scales.fold(0.0, f32::max),
        };
        lengths.iter().map(|&from| ((common * from as f32).round() as usize, common)).collect()
    }
}

impl Op for Resize {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let Some(floats) = required(operands, 0)?.floats() else { return Ok(None) };
        let axes = self.axes(&floats.shape, operands)?;
        let [images, channels, rows, columns] = axes.as_slice() else { return Ok(None) };
        let plane_only = images.is_kept() && channels.is_kept();
        if !plane_only || self.copies(&axes) || floats.data.is_empty() || rows.to * columns.to == 0
        {
            return Ok(None);
        }
        let shape = [images.to, channels.to, rows.to, columns.to];
        let rows = rows.along();
        let columns = columns.along();
        Ok(Some(Box::new(Plane { shape, rows, columns, outside: self.outside })))
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        let axes = self.axes(value.shape(), operands)?;
        if self.copies(&axes) {
            return one(value.clone());
        }
        let to: Vec<usize> = axes.iter().map(|a| a.to).collect();
        if to.contains(&0) {
            return one(pick(&[&row_major(value)], &[], to)?);
        }
        if value.shape().contains(&0) {
            return Err(OperandError::new(format!(
                "{:?} cannot be resized to {to:?}",
                value.shape()
            )));
        }
        if self.mode.is_nearest() && self.coordinates != Coordinates::CropAndResize {
            return one(pick(&[&row_major(value)], &nearest(&axes), to)?);
        }
        let dtype = value.dtype().unwrap_or(DType::F32);
        let floats = row_major(&cast(value, DType::F32)?);
        let Some(floats) = floats.floats() else { return Ok(None) };
        let mut data = floats.data.clone();
        for (at, axis) in axes.iter().enumerate().filter(|(_, a)| !a.is_kept()) {
            let inner = axes[at + 1..].iter().map(|a| a.from).product();
            data = along_axis(&data, inner, axis, self.outside);
        }
        one(cast(&rounded(to, DType::F32, data), dtype)?)
    }
}

/// For each output element, the input element that is nearest.
fn nearest(axes: &[Axis]) -> Vec<usize> {
    let from: Vec<usize> = axes.iter().map(|a| a.from).collect();
    let mut places = vec![0];
    for (axis, stride) in axes.iter().zip(strides(&from)) {
        let along = axis.along();
        let chosen: Vec<usize> = along
            .blends()
            .iter()
            .map(|blend| if let Blend::Only(at) = blend { at * stride } else { 0 })
            .collect();
        places = places
            .iter()
            .flat_map(|start| chosen.iter().map(move |at| start + at).collect::<Vec<_>>())
            .collect();
    }
    places
}

/// Resizes one axis of a row-major value, with `inner` elements behind each of its places.
fn along_axis(data: &[f32], inner: usize, axis: &Axis, outside: f32) -> Vec<f32> {
    let along = axis.along();
    let mut answers = Vec::with_capacity(data.len() / axis.from * axis.to);
    for block in data.chunks_exact(axis.from * inner) {
        for blend in along.blends() {
            let shares = blend.shares();
            answers.extend((0..inner).map(|i| match blend {
                Blend::Outside => outside,
                _ => shares.iter().map(|&(at, share)| share * block[at * inner + i]).sum(),
            }));
        }
    }
    answers
}
