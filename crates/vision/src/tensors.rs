//! Output tensors as numbers and as text.

use faultlens_core::{Tensor, TensorData};
use faultlens_engine::Dim;
use std::borrow::Cow;
use std::ops::Range;

use super::shape::shape_text;

/// A part of any type that can hold scores.
pub(super) fn numbers(data: &TensorData, part: Range<usize>) -> Option<Cow<'_, [f32]>> {
    Some(match data {
        // Floats are borrowed, all else is converted: outputs may be large.
        TensorData::F32(v) => v[part].into(),
        TensorData::F16(v) => v[part].iter().map(|x| x.to_f32()).collect(),
        TensorData::BF16(v) => v[part].iter().map(|x| x.to_f32()).collect(),
        TensorData::F64(v) => v[part].iter().map(|&x| x as f32).collect(),
        TensorData::U8(v) => v[part].iter().map(|&x| f32::from(x)).collect(),
        TensorData::I8(v) => v[part].iter().map(|&x| f32::from(x)).collect(),
        _ => return None,
    })
}

/// Type and shape, as people read them.
pub(super) fn tensor_text(tensor: &Tensor) -> String {
    let dims: Vec<Dim> = tensor.shape().iter().map(|&n| Dim::Fixed(n)).collect();
    format!("{} {}", tensor.dtype().name(), shape_text(&dims))
}
