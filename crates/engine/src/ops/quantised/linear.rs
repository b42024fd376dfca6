//! Between floats and whole numbers: `QuantizeLinear`, `DequantizeLinear` and
//! `DynamicQuantizeLinear`.

use super::super::places;
use super::super::{Attributes, Op};
use super::{
    Answers, QuantParams, answer, integers, operand, range, required, scales, whole_value,
};
use crate::error::OperandError;
use crate::kernels::grid::{Floats, Order};
use crate::kernels::quantised::IntegerRange;
use crate::onnx;
use crate::value::Value;
use faultlens_core::{DType, TensorData};

/// Stretches of a value whose elements share one scale.
struct ScaleRuns {
    scales: Vec<f32>,
    zeros: Vec<i32>,
    length: usize,
}

impl ScaleRuns {
    /// One scale for all elements, or one for each place along `axis`; `None` for blocks.
    fn of(
        operands: &[Option<&Value>],
        shape: &[usize],
        axis: i64,
    ) -> Result<Option<Self>, OperandError> {
        let scale = required(operands, 1)?;
        let scales = scales(scale)?.to_vec();
        let zeros = operand(operands, 2).map_or_else(|| Ok(vec![0; scales.len()]), integers)?;
        if zeros.len() != scales.len() {
            let why = format!("{} scales and {} zero points", scales.len(), zeros.len());
            return Err(OperandError::new(why));
        }
        // Per tensor, or per channel along an axis; blocks within an axis go to rten.
        let length = if let [_] = scales.as_slice() {
            shape.iter().product()
        } else if scale.shape().len() == 1 {
            let axis = places::axis(axis, shape.len())?;
            if shape[axis] != scales.len() {
                let why = format!("{} scales for axis {axis} of {shape:?}", scales.len());
                return Err(OperandError::new(why));
            }
            shape[axis + 1..].iter().product()
        } else {
            return Ok(None);
        };
        Ok(Some(Self { scales, zeros, length }))
    }

    /// Elements, stretch by stretch, with their scale and zero point.
    fn over<'a, T>(&'a self, elements: &'a [T]) -> impl Iterator<Item = (&'a [T], f32, i32)> {
        // Channels repeat from image to image.
        let codes = self.scales.iter().copied().zip(self.zeros.iter().copied()).cycle();
        let stretches = elements.chunks(self.length.max(1));
        stretches.zip(codes).map(|(elements, (scale, zero))| (elements, scale, zero))
    }

    /// Floats as whole numbers from `low` to `high`, which `fit` brings to their type.
    fn quantised<T>(&self, floats: &[f32], low: i32, high: i32, fit: impl Fn(i32) -> T) -> Vec<T> {
        let mut elements = Vec::with_capacity(floats.len());
        for (floats, scale, zero) in self.over(floats) {
            let range = IntegerRange { low, high, zero };
            elements.extend(floats.iter().map(|x| fit(range.nearest(x / scale))));
        }
        elements
    }
}

struct Quantise {
    axis: i64,
    /// The type that the file asks for where no zero point has one.
    dtype: DType,
}

pub(in crate::ops) fn parse_quantise(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let asked = i32::try_from(attributes.int("output_dtype", 0)).ok().and_then(onnx::dtype);
    let dtype = asked.unwrap_or(DType::U8);
    Ok(Some(Box::new(Quantise { axis: attributes.int("axis", 1), dtype })))
}

impl Op for Quantise {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(floats) = required(operands, 0)?.floats() else { return Ok(None) };
        let Some(stretches) = ScaleRuns::of(operands, &floats.shape, self.axis)? else {
            return Ok(None);
        };
        let dtype = operand(operands, 2).and_then(Value::dtype).unwrap_or(self.dtype);
        let (low, high) = range(dtype)?;
        let data: TensorData = match dtype {
            DType::I8 => stretches.quantised(&floats.data, low, high, |x| x as i8).into(),
            DType::U8 => stretches.quantised(&floats.data, low, high, |x| x as u8).into(),
            DType::I16 => stretches.quantised(&floats.data, low, high, |x| x as i16).into(),
            _ => stretches.quantised(&floats.data, low, high, |x| x as u16).into(),
        };
        Ok(Some(vec![Some(whole_value(floats.shape.clone(), data)?)]))
    }
}

struct Dequantise {
    axis: i64,
}

pub(in crate::ops) fn parse_dequantise(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Dequantise { axis: attributes.int("axis", 1) })))
}

impl Op for Dequantise {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let input = required(operands, 0)?;
        let shape = input.shape().to_vec();
        let Some(stretches) = ScaleRuns::of(operands, &shape, self.axis)? else { return Ok(None) };
        let elements = integers(input)?;
        let mut data = Vec::with_capacity(elements.len());
        for (elements, scale, zero) in stretches.over(&elements) {
            // x = (q - zero) · scale.
            data.extend(elements.iter().map(|&x| x.wrapping_sub(zero) as f32 * scale));
        }
        let dtype = required(operands, 1)?.dtype().unwrap_or(DType::F32);
        let mut floats = Floats { shape, order: Order::RowMajor, dtype, data };
        crate::step::round(&mut floats);
        Ok(Some(vec![Some(Value::Floats(floats))]))
    }
}

struct Dynamic;

pub(in crate::ops) fn parse_dynamic(
    _attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Dynamic)))
}

impl Op for Dynamic {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(floats) = required(operands, 0)?.floats() else { return Ok(None) };
        let (code, bits) = quantised(&floats.data)?;
        let scale = Floats {
            shape: Vec::new(),
            order: Order::RowMajor,
            dtype: floats.dtype,
            data: vec![code.scale],
        };
        let zero = whole_value(Vec::new(), vec![code.zero as u8])?;
        let answers = answer(floats.shape.clone(), DType::U8, bits)?;
        Ok(answers.map(|mut answers| {
            answers.extend([Some(Value::Floats(scale)), Some(zero)]);
            answers
        }))
    }
}

/// Floats in eight bits, with the code that spans from the lowest to the highest of them.
pub(super) fn quantised(floats: &[f32]) -> Result<(QuantParams, Vec<u8>), OperandError> {
    // Comparisons are false for NaN, which therefore counts for neither end.
    let low = floats.iter().fold(0.0f32, |a, &b| if b < a { b } else { a });
    let high = floats.iter().fold(0.0f32, |a, &b| if b > a { b } else { a });
    let scale = if low == high { 1.0 } else { (high - low) / 255.0 };
    let start = -low / scale;
    // ONNX Runtime's minimum of 255 and NaN is 255.
    let start = if start < 255.0 { start } else { 255.0 };
    let zero = start.max(0.0).round_ties_even() as i32;
    let code = QuantParams { scale, zero, dtype: DType::U8 };
    let range = code.range()?;
    Ok((code, floats.iter().map(|x| range.nearest(x / scale) as u8).collect()))
}
