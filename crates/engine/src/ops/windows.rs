//! The windows of convolutions and pools as attributes describe them, along any number of axes.

use super::Attributes;
use super::places::strides;
use crate::error::OperandError;
use crate::kernels::window::{Axis, AxisSpec, Pads};

/// How many axes the window slides along, as far as the attributes tell.
pub(super) fn window_axes(attributes: &Attributes<'_>) -> Option<usize> {
    let count = |name: &str| attributes.ints(name).map(<[i64]>::len).filter(|&n| n > 0);
    let whole = ["kernel_shape", "strides", "dilations", "output_padding", "output_shape"];
    whole.iter().find_map(|name| count(name)).or_else(|| count("pads").map(|n| n / 2))
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
    let pads = |axis: usize| match auto.as_str() {
        "SAME_UPPER" => Pads::SameUpper,
        "SAME_LOWER" => Pads::SameLower,
        "VALID" => Pads::Explicit(0, 0),
        _ => Pads::Explicit(explicit[axis], explicit[axis + axes]),
    };
    let spec = |axis: usize| AxisSpec {
        kernel: kernel[axis],
        stride: stride[axis],
        dilation: dilation[axis],
        pads: pads(axis),
        ceil,
    };
    Ok((0..axes).map(spec).collect())
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
        let along = |i: usize| strides.iter().zip(&output).map(|(s, n)| i / s % n).collect();
        (0..output.iter().product()).map(along).collect()
    }

    /// For every tap in row-major order, the place in the plane under it; `None` in the padding.
    pub(super) fn under(&self, at: &[usize]) -> Vec<Option<usize>> {
        let mut places = vec![Some(0)];
        for ((axis, &stride), &at) in self.axes.iter().zip(&self.strides).zip(at) {
            let taps: Vec<Option<usize>> = (0..axis.kernel).map(|t| axis.under(at, t)).collect();
            let next = |&start: &Option<usize>| {
                taps.iter().map(move |tap| Some(start? + (*tap)? * stride)).collect::<Vec<_>>()
            };
            places = places.iter().flat_map(next).collect();
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
