//! Tensors of the Open Inference Protocol, as JSON numbers or as raw bytes.

use super::Problem;
use super::reading::broken;
use faultlens_core::{DType, Tensor, TensorData};
use half::{bf16, f16};
use serde_json::Value;

/// More elements than any answer about one image has.
const MOST_ELEMENTS: usize = 64 << 20;
/// Lists in lists, at most.
const MOST_AXES: usize = 8;

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

/// The elements as bytes, least significant first.
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

/// The elements as JSON numbers; `None` for a type that the protocol has only as bytes, or a
/// number that JSON has not.
pub(super) fn to_json(data: &TensorData) -> Option<Value> {
    let float = |x: f32| serde_json::Number::from_f64(shortest(x)).map(Value::Number);
    Some(Value::Array(match data {
        TensorData::F32(v) => v.iter().map(|&x| float(x)).collect::<Option<_>>()?,
        TensorData::U8(v) => v.iter().map(|&x| x.into()).collect(),
        TensorData::I8(v) => v.iter().map(|&x| x.into()).collect(),
        _ => return None,
    }))
}

/// The double that is written with as few digits as the float needs, and read as the same float.
fn shortest(x: f32) -> f64 {
    x.to_string().parse().unwrap_or_else(|_| x.into())
}

/// How many elements a shape has, where that is possible.
fn elements(shape: &[usize]) -> Result<usize, Problem> {
    let count = shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis));
    match count.filter(|&count| count <= MOST_ELEMENTS && shape.len() <= MOST_AXES) {
        Some(count) => Ok(count),
        None => broken(format!("a tensor of shape {shape:?}")),
    }
}

/// A tensor from JSON numbers, flat or in lists of lists.
pub(super) fn of_json(shape: Vec<usize>, kind: &str, data: &Value) -> Result<Tensor, Problem> {
    let count = elements(&shape)?;
    let mut flat = Vec::new();
    flatten(data, MOST_AXES, count, &mut flat)?;
    // Integers that no float of 64 bits holds are no classes or scores.
    let float = |value: &&Value| value.as_f64();
    let integer = |value: &&Value| value.as_i64();
    let read: Option<TensorData> = match kind {
        "FP32" | "FP16" | "BF16" => flat
            .iter()
            .map(|v| float(v).map(|x| x as f32))
            .collect::<Option<Vec<f32>>>()
            .map(Into::into),
        "FP64" => flat.iter().map(float).collect::<Option<Vec<f64>>>().map(Into::into),
        "UINT8" => small::<u8>(&flat),
        "INT8" => small::<i8>(&flat),
        "INT32" => small::<i32>(&flat),
        "INT64" => flat.iter().map(integer).collect::<Option<Vec<i64>>>().map(Into::into),
        _ => return broken(format!("a tensor of type {kind:?}, which nothing here reads")),
    };
    let read = read.map_or_else(|| broken(format!("an element that is no {kind}")), Ok)?;
    if let TensorData::F32(numbers) = &read
        && numbers.iter().any(|number| !number.is_finite())
    {
        return broken("a number beyond 32 bits");
    }
    made(shape, read)
}

fn small<T: TryFrom<i64>>(flat: &[&Value]) -> Option<TensorData>
where
    TensorData: From<Vec<T>>,
{
    let one = |value: &&Value| T::try_from(value.as_i64()?).ok();
    flat.iter().map(one).collect::<Option<Vec<T>>>().map(Into::into)
}

fn flatten<'a>(
    data: &'a Value,
    depth: usize,
    most: usize,
    flat: &mut Vec<&'a Value>,
) -> Result<(), Problem> {
    match data {
        Value::Array(list) if depth > 0 => {
            list.iter().try_for_each(|entry| flatten(entry, depth - 1, most, flat))
        }
        Value::Number(_) if flat.len() < most => {
            flat.push(data);
            Ok(())
        }
        _ => broken("data that does not fit its shape"),
    }
}

/// A tensor from bytes, least significant first.
pub(super) fn of_bytes(shape: Vec<usize>, kind: &str, bytes: &[u8]) -> Result<Tensor, Problem> {
    elements(&shape)?;
    let data: Option<TensorData> = match kind {
        "FP32" => parts(bytes, f32::from_le_bytes),
        "FP16" => parts(bytes, f16::from_le_bytes),
        "BF16" => parts(bytes, bf16::from_le_bytes),
        "FP64" => parts(bytes, f64::from_le_bytes),
        "INT8" => parts(bytes, i8::from_le_bytes),
        "UINT8" => Some(bytes.to_vec().into()),
        "INT32" => parts(bytes, i32::from_le_bytes),
        "INT64" => parts(bytes, i64::from_le_bytes),
        _ => return broken(format!("a tensor of type {kind:?}, which nothing here reads")),
    };
    made(shape, data.map_or_else(|| broken("bytes that are no whole elements"), Ok)?)
}

fn parts<T, const N: usize>(bytes: &[u8], read: fn([u8; N]) -> T) -> Option<TensorData>
where
    TensorData: From<Vec<T>>,
{
    let (parts, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| parts.iter().map(|&part| read(part)).collect::<Vec<T>>().into())
}

fn made(shape: Vec<usize>, data: TensorData) -> Result<Tensor, Problem> {
    Tensor::new(shape, data).or_else(|error| broken(error.to_string()))
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
        let read = of_json(shape.clone(), "FP32", &serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(read.as_f32(), Some(&numbers[..]));
        let read = of_bytes(shape, "FP32", &to_bytes(&data)).unwrap();
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
            assert_eq!(of_bytes(vec![2], kind, &to_bytes(&data)).unwrap().data(), &data, "{kind}");
        }
    }

    #[test]
    fn what_does_not_fit_is_broken() {
        let nested = json!([[1, 2], [3, 4]]);
        assert_eq!(
            of_json(vec![2, 2], "INT64", &nested).unwrap().as_i64(),
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
            assert!(of_json(shape.clone(), kind, &data).is_err(), "{shape:?} {kind} {data}");
        }
        assert!(of_bytes(vec![1], "FP32", &[0; 5]).is_err());
        assert!(of_bytes(vec![2], "FP32", &[0; 4]).is_err());
    }
}
