//! The element types of `onnx.proto`, and elements as raw bytes.

use faultlens_core::{DType, TensorData};
use half::{bf16, f16};

type ElementType = (&'static str, usize, Option<DType>);

/// Every element type of `TensorProto.DataType` from 1: name, bits per element, and our own type
/// where there is one. No bits: not of a fixed size.
const ELEMENT_TYPES: [ElementType; 28] = [
    ("float", 32, Some(DType::F32)),
    ("uint8", 8, Some(DType::U8)),
    ("int8", 8, Some(DType::I8)),
    ("uint16", 16, Some(DType::U16)),
    ("int16", 16, Some(DType::I16)),
    ("int32", 32, Some(DType::I32)),
    ("int64", 64, Some(DType::I64)),
    ("string", 0, None),
    ("bool", 8, Some(DType::Bool)),
    ("float16", 16, Some(DType::F16)),
    ("double", 64, Some(DType::F64)),
    ("uint32", 32, Some(DType::U32)),
    ("uint64", 64, Some(DType::U64)),
    ("complex64", 64, None),
    ("complex128", 128, None),
    ("bfloat16", 16, Some(DType::BF16)),
    ("float8e4m3fn", 8, None),
    ("float8e4m3fnuz", 8, None),
    ("float8e5m2", 8, None),
    ("float8e5m2fnuz", 8, None),
    ("uint4", 4, None),
    ("int4", 4, None),
    ("float4e2m1", 4, None),
    ("float8e8m0", 8, None),
    ("uint2", 2, None),
    ("int2", 2, None),
    ("float6e2m3", 0, None),
    ("float6e3m2", 0, None),
];

/// The table's row for a number of `TensorProto.DataType`.
pub(super) fn element_type(data_type: i32) -> Option<&'static ElementType> {
    let index = usize::try_from(data_type).ok()?.checked_sub(1)?;
    ELEMENT_TYPES.get(index)
}

/// Our element type for a number of `TensorProto.DataType`; none for those that cannot be run.
pub fn dtype(data_type: i32) -> Option<DType> {
    element_type(data_type)?.2
}

/// The number of `TensorProto.DataType` that files use for an element type.
pub fn data_type(dtype: DType) -> i32 {
    let index = ELEMENT_TYPES.iter().position(|entry| entry.2 == Some(dtype));
    index.map_or(0, |index| index as i32 + 1)
}

macro_rules! raw_codec {
    ($($variant:ident, $type:ty;)+) => {
        /// The elements in little-endian bytes; a rest too short for one is left out.
        pub(super) fn from_raw(raw: &[u8], dtype: DType) -> TensorData {
            match dtype {
                $(DType::$variant => {
                    let (chunks, _) = raw.as_chunks();
                    TensorData::$variant(chunks.iter().map(|&c| <$type>::from_le_bytes(c)).collect())
                })+
                DType::Bool => TensorData::Bool(raw.iter().map(|&byte| byte != 0).collect()),
            }
        }

        /// The elements as little-endian bytes.
        pub(super) fn to_raw(data: &TensorData) -> Vec<u8> {
            match data {
                $(TensorData::$variant(values) => {
                    let mut raw = vec![0; std::mem::size_of_val(values.as_slice())];
                    let (chunks, _) = raw.as_chunks_mut();
                    for (chunk, value) in chunks.iter_mut().zip(values) {
                        *chunk = <$type>::to_le_bytes(*value);
                    }
                    raw
                })+
                TensorData::Bool(values) => values.iter().map(|&value| value.into()).collect(),
            }
        }
    };
}

raw_codec! {
    F32, f32;
    F16, f16;
    BF16, bf16;
    F64, f64;
    I8, i8;
    U8, u8;
    I16, i16;
    U16, u16;
    I32, i32;
    U32, u32;
    I64, i64;
    U64, u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_element_types_are_those_of_onnx() {
        let cases = [(DType::F32, 1), (DType::I64, 7), (DType::Bool, 9), (DType::BF16, 16)];
        for (ours, theirs) in cases {
            assert_eq!((data_type(ours), dtype(theirs)), (theirs, Some(ours)));
        }
        assert_eq!([dtype(0), dtype(-1), dtype(8), dtype(99)], [None; 4]);
    }
}
