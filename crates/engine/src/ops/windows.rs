//! What convolutions and pools have in common: windows along any number of axes, groups, weights and
//! biases, as attributes and operands describe them.

use super::Attributes;
use super::places::strides;
use crate::error::OperandError;
use crate::kernels::grid::Order;
use crate::kernels::window::{Axis, AxisSpec, Pads};
use crate::value::Value;

/// How many axes the window slides along, as far as the attributes tell.
pub(super) fn window_axes(attributes: &Attributes<'_>) -> Option<usize> {
    // All lists have an entry per axis, except pads, which have one for each end.
    let lists = ["kernel_shape", "strides", "dilations", "output_padding", "output_shape", "pads"];
    lists.into_iter().find_map(|name| {
        let entries = attributes.ints(name).map(<[i64]>::len).filter(|&n| n > 0)?;
        Some(if name == "pads" { entries / 2 } else { entries })
    })
}

/// The window along each of `axes` axes. Without `kernel_shape` it has one tap, until the weights
/// say how many.
pub(super) fn window_specs(
    attributes: &Attributes<'_>,
    axes: usize,
) -> Result<Vec<AxisSpec>, OperandError> {
    let kernel = attributes.sizes("kernel_shape", axes, 1)?;
    let stride = attributes.sizes("strides", axes, 1)?;
    let dilation = attributes.sizes("dilations", axes, 1)?;
    let explicit = attributes.sizes("pads", 2 * axes, 0)?;
    let ceil = attributes.int("ceil_mode", 0) != 0;
    let auto = attributes.string("auto_pad", "NOTSET");
    Ok((0..axes)
        .map(|axis| AxisSpec {
            kernel: kernel[axis],
            stride: stride[axis],
            dilation: dilation[axis],
            pads: match auto.as_str() {
                "SAME_UPPER" => Pads::SameUpper,
                "SAME_LOWER" => Pads::SameLower,
                "VALID" => Pads::Explicit(0, 0),
                // Beginnings of all axes, then their ends.
                _ => Pads::Explicit(explicit[axis], explicit[axis + axes]),
            },
            ceil,
        })
        .collect())
}

/// Into how many groups the channels split.
pub(super) fn groups(attributes: &Attributes<'_>) -> Result<usize, OperandError> {
    let groups = usize::try_from(attributes.int("group", 1)).ok().filter(|&g| g > 0);
    groups.ok_or_else(|| OperandError::new("attribute group must be positive"))
}

/// The window that attributes describe, for convolutions and pools; `None` if not of two axes.
pub(super) fn windows(attributes: &Attributes<'_>) -> Result<Option<[AxisSpec; 2]>, OperandError> {
    if window_axes(attributes).is_some_and(|axes| axes != 2) {
        return Ok(None);
    }
    Ok(window_specs(attributes, 2)?.try_into().ok())
}

/// The elements of weights, which are never stored channels last.
pub(super) fn row_major(value: &Value) -> Result<&[f32], OperandError> {
    match value.floats() {
        Some(floats) if floats.order == Order::RowMajor => Ok(&floats.data),
        _ => Err(OperandError::new("weights must be floats")),
    }
}

/// The bias, one per output or none.
pub(super) fn bias_of(bias: Option<&Value>, outputs: usize) -> Result<&[f32], OperandError> {
    let data = bias.map_or(Ok([].as_slice()), row_major)?;
    if !data.is_empty() && data.len() != outputs {
        return Err(OperandError::new(format!("{} biases for {outputs} outputs", data.len())));
    }
    Ok(data)
}

/// Windows along any number of axes, bound to an input.
pub(super) struct Windows {
    axes: Vec<Axis>,
    strides: Vec<usize>,
}

impl Windows {
    /// Binds one window per axis of the plane.
    pub(super) fn new(specs: &[AxisSpec], plane: &[usize]) -> Result<Self, OperandError> {
        if specs.len() != plane.len() {
            let why = format!("a window of {} axes does not fit {plane:?}", specs.len());
            return Err(OperandError::new(why));
        }
        let axes: Result<_, _> = specs.iter().zip(plane).map(|(s, &n)| s.bind(n)).collect();
        Ok(Self { axes: axes?, strides: strides(plane) })
    }

    /// The plane of outputs.
    pub(super) fn output(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.output).collect()
    }

    /// The places of all windows, outputs in row-major order.
    pub(super) fn places(&self) -> Vec<Vec<usize>> {
        let output = self.output();
        let strides = strides(&output);
        (0..output.iter().product())
            .map(|i| strides.iter().zip(&output).map(|(s, n)| i / s % n).collect())
            .collect()
    }

    /// For every tap in row-major order, the place in the plane under it; `None` in the padding.
    pub(super) fn under(&self, at: &[usize]) -> Vec<Option<usize>> {
        let mut places = vec![Some(0)];
        for ((axis, &stride), &at) in self.axes.iter().zip(&self.strides).zip(at) {
            let taps: Vec<Option<usize>> = (0..axis.kernel).map(|t| axis.under(at, t)).collect();
            places = places
                .iter()
                .flat_map(|&start| {
                    taps.iter().map(move |tap| Some(start? + (*tap)? * stride)).collect::<Vec<_>>()
                })
                .collect();
        }
        places
    }

    /// How many taps of a window lie inside the padded plane: it may hang over the end.
    pub(super) fn in_padded(&self, at: &[usize]) -> usize {
        self.axes.iter().zip(at).map(|(axis, &at)| axis.in_padded(at)).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_in_row_major_order() {
        let spec =
            AxisSpec { kernel: 2, stride: 1, dilation: 1, pads: Pads::Explicit(1, 0), ceil: false };
        let windows = Windows::new(&[spec; 3], &[2, 2, 2]).unwrap();
        assert_eq!(windows.output(), [2, 2, 2]);
        assert_eq!(windows.places()[6], [1, 1, 0]);
        let none = None;
        assert_eq!(
            windows.under(&[1, 1, 0]),
            [none, Some(0), none, Some(2), none, Some(4), none, Some(6)]
        );
        assert_eq!(windows.under(&[1, 1, 1]).iter().flatten().count(), 8);
        assert!(Windows::new(&[spec; 2], &[2]).is_err());
    }
}
