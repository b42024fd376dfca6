//! Tensors of the Open Inference Protocol, as JSON numbers or as raw bytes.

use super::super::wire_format::WireError;
use super::parse::malformed;
use faultlens_core::{DType, Tensor, TensorData};
use half::{bf16, f16};
use serde_json::Value;

/// More elements than any response about one image has.
const MAX_ELEMENTS: usize = 64 << 20;
/// The deepest nesting of lists.
const MAX_AXES: usize = 8;

/// The protocol's name of an element type.
pub(super) fn datatype(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "FP32",
        DType::F16 => "FP16",
        DType::BF16 => "BF16",
        DType::F64 => "FP64",
        DType::I8 => "INT8",
        DType::U8 => "UINT8",
        DType::I16 => "INT16",
        DType::U16 => "UINT16",
        DType::I32 => "INT32",
        DType::U32 => "UINT32",
        DType::I64 => "INT64",
        DType::U64 => "UINT64",
        DType::Bool => "BOOL",
    }
}

/// The elements as little-endian bytes.
pub(super) fn to_bytes(data: &TensorData) -> Vec<u8> {
    match data {
        TensorData::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::F16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::BF16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::I8(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::U8(v) => v.clone(),
        TensorData::I16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::U16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::I32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::U32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::I64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::U64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        TensorData::Bool(v) => v.iter().map(|&x| x.into()).collect(),
    }
}

/// The elements as JSON numbers; `None` for a type that the protocol has only as bytes, or for NaN
/// and infinities, which JSON has not.
pub(super) fn to_json(data: &TensorData) -> Option<Value> {
    Some(Value::Array(match data {
        TensorData::F32(v) => v.iter().map(|&x| json_number(x)).collect::<Option<_>>()?,
        TensorData::U8(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::I8(v) => v.iter().map(|&x| x.into()).collect(),
        _ => return None,
    }))
}

/// The double that is written with as few digits as the float needs and is read as the same float;
/// converting the float directly would write up to 17 digits.
fn json_number(x: f32) -> Option<Value> {
    let shortest: f64 = x.to_string().parse().unwrap_or_else(|_| x.into());
    serde_json::Number::from_f64(shortest).map(Value::Number)
}

/// How many elements a shape has; an error where it overflows or is absurd.
fn elements(shape: &[usize]) -> Result<usize, WireError> {
    let count = shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis));
    match count.filter(|&count| count <= MAX_ELEMENTS && shape.len() <= MAX_AXES) {
        Some(count) => Ok(count),
        None => malformed(format!("a tensor of shape {shape:?}")),
    }
}

/// A tensor from JSON numbers, flat or in lists of lists.
pub(super) fn from_json(shape: Vec<usize>, kind: &str, data: &Value) -> Result<Tensor, WireError> {
    let count = elements(&shape)?;
    let mut flat = Vec::new();
    flatten(data, MAX_AXES, count, &mut flat)?;
    let read: Option<TensorData> = match kind {
        "FP32" | "FP16" | "BF16" => {
            let values: Option<Vec<f32>> =
                flat.iter().map(|value| value.as_f64().map(|x| x as f32)).collect();
            values.map(Into::into)
        }
        "FP64" => {
            let values: Option<Vec<f64>> = flat.iter().map(|value| value.as_f64()).collect();
            values.map(Into::into)
        }
        "UINT8" => integers::<u8>(&flat),
        "INT8" => integers::<i8>(&flat),
        "INT32" => integers::<i32>(&flat),
        "INT64" => integers::<i64>(&flat),
        _ => return malformed(format!("a tensor of type {kind:?}, which is not supported")),
    };
    let read = read.map_or_else(|| malformed(format!("an element that is not {kind}")), Ok)?;
    if let TensorData::F32(numbers) = &read
        && numbers.iter().any(|number| !number.is_finite())
    {
        return malformed("a number beyond the range of 32-bit floats");
    }
    tensor(shape, read)
}

fn integers<T: TryFrom<i64>>(flat: &[&Value]) -> Option<TensorData>
where
    TensorData: From<Vec<T>>,
{
    let values: Option<Vec<T>> =
        flat.iter().map(|value| T::try_from(value.as_i64()?).ok()).collect();
    values.map(Into::into)
}

fn flatten<'a>(
    data: &'a Value,
    depth: usize,
    max: usize,
    flat: &mut Vec<&'a Value>,
) -> Result<(), WireError> {
    match data {
        Value::Array(list) if depth > 0 => {
            list.iter().try_for_each(|entry| flatten(entry, depth - 1, max, flat))
        }
        Value::Number(_) if flat.len() < max => {
            flat.push(data);
            Ok(())
        }
        _ => malformed("data that does not fit its shape"),
    }
}

/// A tensor from little-endian bytes.
pub(super) fn from_bytes(shape: Vec<usize>, kind: &str, bytes: &[u8]) -> Result<Tensor, WireError> {
    elements(&shape)?;
    let data: Option<TensorData> = match kind {
        "FP32" => elements_of(bytes, f32::from_le_bytes),
        "FP16" => elements_of(bytes, f16::from_le_bytes),
        "BF16" => elements_of(bytes, bf16::from_le_bytes),
        "FP64" => elements_of(bytes, f64::from_le_bytes),
        "INT8" => elements_of(bytes, i8::from_le_bytes),
        "UINT8" => Some(bytes.to_vec().into()),
        "INT32" => elements_of(bytes, i32::from_le_bytes),
        "INT64" => elements_of(bytes, i64::from_le_bytes),
        _ => return malformed(format!("a tensor of type {kind:?}, which is not supported")),
    };
    tensor(shape, data.map_or_else(|| malformed("bytes that are not whole elements"), Ok)?)
}

fn elements_of<T, const N: usize>(bytes: &[u8], read: fn([u8; N]) -> T) -> Option<TensorData>
where
    TensorData: From<Vec<T>>,
{
    let (chunks, rest) = bytes.as_chunks::<N>();
    if !rest.is_empty() {
        return None;
    }
    let values: Vec<T> = chunks.iter().map(|&chunk| read(chunk)).collect();
    Some(values.into())
}

fn tensor(shape: Vec<usize>, data: TensorData) -> Result<Tensor, WireError> {
    Tensor::new(shape, data).or_else(|error| malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_float_comes_back_through_numbers_and_bytes() {
        let numbers: Vec<f32> =
            (0..0x7f80_0000u32).step_by(99_991).map(f32::from_bits).chain([-0.0, -1.5]).collect();
        let data = TensorData::F32(numbers.clone());
        let shape = vec![1, numbers.len()];
        let text = to_json(&data).unwrap().to_string();
        let read = from_json(shape.clone(), "FP32", &serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(read.as_f32(), Some(&numbers[..]));
        let read = from_bytes(shape, "FP32", &to_bytes(&data)).unwrap();
        assert_eq!(read.as_f32(), Some(&numbers[..]));
        assert!(to_json(&TensorData::F32(vec![f32::NAN])).is_none());
    }

    #[test]
    fn every_type_comes_back_through_bytes() {
        for data in [
            TensorData::F16(vec![f16::from_f32(0.1), f16::NEG_INFINITY]),
            TensorData::BF16(vec![bf16::from_f32(0.1), bf16::ZERO]),
            TensorData::F64(vec![0.1, -2.0]),
            TensorData::I8(vec![-1, 127]),
            TensorData::U8(vec![0, 255]),
            TensorData::I32(vec![i32::MIN, 7]),
            TensorData::I64(vec![i64::MIN, 7]),
        ] {
            let kind = datatype(data.dtype());
            assert_eq!(
                from_bytes(vec![2], kind, &to_bytes(&data)).unwrap().data(),
                &data,
                "{kind}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_malformed() {
        let nested = json!([[1, 2], [3, 4]]);
        assert_eq!(
            from_json(vec![2, 2], "INT64", &nested).unwrap().as_i64(),
            Some(&[1, 2, 3, 4][..])
        );
        for (shape, kind, data) in [
            (vec![3], "FP32", json!([1, 2])),
            (vec![1], "FP32", json!([1, 2])),
            (vec![1], "FP32", json!(["1"])),
            (vec![1], "FP32", json!([null])),
            (vec![1], "FP32", json!([1e300])),
            (vec![1], "UINT8", json!([256])),
            (vec![1], "INT64", json!([0.5])),
            (vec![1], "BYTES", json!(["a"])),
            (vec![usize::MAX, 2], "FP32", json!([])),
            (vec![1; 9], "FP32", json!([1])),
            (vec![1], "FP32", json!([[[[[[[[[[1]]]]]]]]]])),
        ] {
            assert!(from_json(shape.clone(), kind, &data).is_err(), "{shape:?} {kind} {data}");
        }
        assert!(from_bytes(vec![1], "FP32", &[0; 5]).is_err());
        assert!(from_bytes(vec![2], "FP32", &[0; 4]).is_err());
    }
}
