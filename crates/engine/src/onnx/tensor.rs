//! Between the tensors of a file and the tensors of Faultlens.

use bytes::Bytes;
use faultlens_core::{DType, Tensor, TensorData};
use half::{bf16, f16};

use super::element::{data_type, dtype, element_type, from_raw, to_raw};
use super::error::{OnnxError, TensorProblem};
use super::message::{EXTERNAL, TensorProto};

/// The elements of a constant, checked against its shape before anything is allocated.
pub fn tensor(proto: &TensorProto) -> Result<Tensor, OnnxError> {
    convert(proto).map_err(|problem| OnnxError::Tensor { problem, tensor: proto.name.clone() })
}

fn convert(proto: &TensorProto) -> Result<Tensor, TensorProblem> {
    let dtype = dtype(proto.data_type).ok_or_else(|| unsupported(proto.data_type))?;
    let (shape, elements) = shape(&proto.dims)?;
    if proto.data_location == EXTERNAL && proto.raw_data.is_empty() && elements > 0 {
        return Err(TensorProblem::NotLoaded { location: location(proto).to_owned() });
    }
    let data = if proto.raw_data.is_empty() {
        from_typed(proto, dtype, elements)?
    } else {
        let wanted = elements.checked_mul(dtype.size());
        let wanted = wanted.ok_or_else(|| too_many(&proto.dims))?;
        check_length(&proto.dims, wanted, proto.raw_data.len(), "bytes")?;
        from_raw(&proto.raw_data, dtype)
    };
    let found = data.len();
    Tensor::new(shape, data).map_err(|_| length_problem(&proto.dims, elements, found, "elements"))
}

/// A constant for a file, its elements as raw bytes.
pub fn tensor_proto(name: &str, tensor: &Tensor) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        data_type: data_type(tensor.dtype()),
        // A length beyond i64 cannot be allocated, so the cast loses nothing.
        dims: tensor.shape().iter().map(|&d| d as i64).collect(),
        raw_data: Bytes::from(to_raw(tensor.data())),
        ..TensorProto::default()
    }
}

/// How many bytes the raw elements take, whatever their type; those of strings have no fixed size.
pub(super) fn raw_bytes(proto: &TensorProto) -> Result<usize, TensorProblem> {
    let (_, elements) = shape(&proto.dims)?;
    match element_type(proto.data_type) {
        Some(&(_, bits, _)) if bits > 0 => {
            let total = elements.checked_mul(bits).ok_or_else(|| too_many(&proto.dims))?;
            Ok(total.div_ceil(8))
        }
        _ => Err(unsupported(proto.data_type)),
    }
}

/// The value of an entry of `external_data`.
pub(super) fn external_entry<'a>(proto: &'a TensorProto, key: &str) -> Option<&'a str> {
    let entry = proto.external_data.iter().find(|entry| entry.key == key)?;
    Some(&entry.value)
}

fn location(proto: &TensorProto) -> &str {
    external_entry(proto, "location").unwrap_or_default()
}

fn shape(dims: &[i64]) -> Result<(Vec<usize>, usize), TensorProblem> {
    if dims.iter().any(|&d| d < 0) {
        return Err(TensorProblem::NegativeDim { dims: dims.to_vec() });
    }
    let shape: Result<Vec<usize>, _> = dims.iter().map(|&d| usize::try_from(d)).collect();
    let shape = shape.map_err(|_| too_many(dims))?;
    let elements = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    Ok((shape, elements.ok_or_else(|| too_many(dims))?))
}

fn too_many(dims: &[i64]) -> TensorProblem {
    TensorProblem::TooManyElements { dims: dims.to_vec() }
}

fn unsupported(data_type: i32) -> TensorProblem {
    let name = element_type(data_type).map(|entry| entry.0.to_owned());
    TensorProblem::UnsupportedType { name: name.unwrap_or_else(|| format!("number {data_type}")) }
}

fn length_problem(dims: &[i64], wanted: usize, found: usize, unit: &'static str) -> TensorProblem {
    TensorProblem::Length { dims: dims.to_vec(), wanted, found, unit }
}

fn check_length(
    dims: &[i64],
    wanted: usize,
    found: usize,
    unit: &'static str,
) -> Result<(), TensorProblem> {
    if wanted == found { Ok(()) } else { Err(length_problem(dims, wanted, found, unit)) }
}

/// The elements from whichever typed field the element type lives in.
fn from_typed(p: &TensorProto, dtype: DType, elements: usize) -> Result<TensorData, TensorProblem> {
    let found = match dtype {
        DType::F32 => p.float_data.len(),
        DType::F64 => p.double_data.len(),
        DType::I64 => p.int64_data.len(),
        DType::U32 | DType::U64 => p.uint64_data.len(),
        _ => p.int32_data.len(),
    };
    check_length(&p.dims, elements, found, "elements")?;
    let small = &p.int32_data;
    Ok(match dtype {
        DType::F32 => p.float_data.clone().into(),
        DType::F64 => p.double_data.clone().into(),
        DType::I64 => p.int64_data.clone().into(),
        DType::U64 => p.uint64_data.clone().into(),
        DType::I32 => small.clone().into(),
        DType::U32 => narrow::<u64, u32, _>(&p.uint64_data, dtype, |v| v)?.into(),
        DType::I8 => narrow::<i32, i8, _>(small, dtype, |v| v)?.into(),
        DType::U8 => narrow::<i32, u8, _>(small, dtype, |v| v)?.into(),
        DType::I16 => narrow::<i32, i16, _>(small, dtype, |v| v)?.into(),
        DType::U16 => narrow::<i32, u16, _>(small, dtype, |v| v)?.into(),
        DType::F16 => narrow(small, dtype, f16::from_bits)?.into(),
        DType::BF16 => narrow(small, dtype, bf16::from_bits)?.into(),
        DType::Bool => narrow(small, dtype, |v: u8| v != 0)?.into(),
    })
}

fn narrow<W, N, T>(
    values: &[W],
    dtype: DType,
    finish: impl Fn(N) -> T,
) -> Result<Vec<T>, TensorProblem>
where
    W: Copy + Into<i128>,
    N: TryFrom<W>,
{
    values
        .iter()
        .map(|&value| match N::try_from(value) {
            Ok(value) => Ok(finish(value)),
            Err(_) => Err(TensorProblem::Range { value: value.into(), dtype: dtype.name() }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(proto: &TensorProto) -> String {
        tensor(proto).unwrap_err().to_string()
    }

    fn of_each_type() -> Vec<TensorData> {
        vec![
            vec![0.5f32, f32::NAN.copysign(-1.0), f32::INFINITY, -0.0].into(),
            vec![f16::from_f32(0.5), f16::MAX, f16::MIN, f16::NEG_ZERO].into(),
            vec![bf16::from_f32(0.5), bf16::MAX, bf16::MIN, bf16::NEG_ZERO].into(),
            vec![0.5f64, f64::MAX, f64::MIN, -0.0].into(),
            vec![0i8, -1, i8::MIN, i8::MAX].into(),
            vec![0u8, 1, 128, u8::MAX].into(),
            vec![0i16, -1, i16::MIN, i16::MAX].into(),
            vec![0u16, 1, 1 << 15, u16::MAX].into(),
            vec![0i32, -1, i32::MIN, i32::MAX].into(),
            vec![0u32, 1, 1 << 31, u32::MAX].into(),
            vec![0i64, -1, i64::MIN, i64::MAX].into(),
            vec![0u64, 1, 1 << 63, u64::MAX].into(),
            vec![true, false, false, true].into(),
        ]
    }

    /// The same tensor with its elements in the typed field.
    fn typed(tensor: &Tensor) -> TensorProto {
        let mut p = TensorProto { raw_data: Bytes::new(), ..tensor_proto("t", tensor) };
        let small = &mut p.int32_data;
        match tensor.data() {
            TensorData::F32(v) => p.float_data = v.clone(),
            TensorData::F64(v) => p.double_data = v.clone(),
            TensorData::I64(v) => p.int64_data = v.clone(),
            TensorData::U64(v) => p.uint64_data = v.clone(),
            TensorData::U32(v) => p.uint64_data = v.iter().map(|&v| v.into()).collect(),
            TensorData::I32(v) => *small = v.clone(),
            TensorData::I8(v) => small.extend(v.iter().map(|&v| i32::from(v))),
            TensorData::U8(v) => small.extend(v.iter().map(|&v| i32::from(v))),
            TensorData::I16(v) => small.extend(v.iter().map(|&v| i32::from(v))),
            TensorData::U16(v) => small.extend(v.iter().map(|&v| i32::from(v))),
            TensorData::Bool(v) => small.extend(v.iter().map(|&v| i32::from(v))),
            TensorData::F16(v) => small.extend(v.iter().map(|&v| i32::from(v.to_bits()))),
            TensorData::BF16(v) => small.extend(v.iter().map(|&v| i32::from(v.to_bits()))),
        }
        p
    }

    #[test]
    fn every_element_type_goes_both_ways() {
        for data in of_each_type() {
            let before = Tensor::new(vec![2, 2], data).unwrap();
            let raw = tensor_proto("t", &before);
            assert_eq!(raw.raw_data.len(), 4 * before.dtype().size());
            for proto in [raw, typed(&before)] {
                let after = tensor(&proto).unwrap();
                assert_eq!(after.shape(), before.shape());
                assert_eq!(
                    to_raw(after.data()),
                    to_raw(before.data()),
                    "{}",
                    before.dtype().name()
                );
            }
        }
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        let of = |dims: &[i64], data_type| {
            let raw_data = Bytes::from_static(&[0; 8]);
            problem(&TensorProto { dims: dims.to_vec(), data_type, raw_data, ..Default::default() })
        };
        let cases = [
            (of(&[2, -1], 1), "negative axis in its shape [2, -1]"),
            (of(&[1 << 40, 1 << 40], 1), "more elements than can be addressed"),
            (of(&[1 << 62], 1), "more elements than can be addressed"),
            (of(&[1 << 28], 1), "needs 1073741824 bytes, 8 are there"),
            (of(&[1], 1), "shape [1] needs 4 bytes, 8 are there"),
            (of(&[1], 8), "unsupported element type string"),
            (of(&[1], 22), "unsupported element type int4"),
            (of(&[1], 17), "unsupported element type float8e4m3fn"),
            (of(&[1], 14), "unsupported element type complex64"),
            (of(&[1], 77), "unsupported element type number 77"),
        ];
        for (message, part) in cases {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn typed_elements_are_counted_and_fit() {
        let huge = TensorProto { dims: vec![1 << 28], data_type: 1, ..Default::default() };
        assert!(problem(&huge).contains("needs 268435456 elements, 0 are there"));
        let name = "w".to_owned();
        let wide = TensorProto {
            dims: vec![1],
            data_type: 2,
            int32_data: vec![300],
            name,
            ..Default::default()
        };
        assert!(problem(&wide).starts_with("tensor `w`: its element 300 does not fit"));
    }

    #[test]
    fn scalars_and_empty_tensors_are_tensors() {
        let scalar = TensorProto { data_type: 1, float_data: vec![2.0], ..Default::default() };
        assert_eq!(tensor(&scalar).unwrap().as_f32(), Some(&[2.0][..]));
        let empty = TensorProto { data_type: 7, dims: vec![0, 3], ..Default::default() };
        assert_eq!(tensor(&empty).unwrap().shape(), [0, 3]);
    }

    #[test]
    fn data_elsewhere_is_not_taken_for_none() {
        let away = TensorProto {
            data_type: 1,
            dims: vec![1],
            data_location: EXTERNAL,
            ..Default::default()
        };
        assert!(problem(&away).contains("read the model from its path, not from memory"));
    }
}
