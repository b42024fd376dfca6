//! Tensors as the Open Inference Protocol writes them.

use faultlens_core::{DType, TensorData};
use half::{bf16, f16};
use serde_json::Value;

/// Types by their name in the protocol.
const TYPES: [(&str, DType); 13] = [
    ("BF16", DType::BF16),
    ("BOOL", DType::Bool),
    ("FP16", DType::F16),
    ("FP32", DType::F32),
    ("FP64", DType::F64),
    ("INT16", DType::I16),
    ("INT32", DType::I32),
    ("INT64", DType::I64),
    ("INT8", DType::I8),
    ("UINT16", DType::U16),
    ("UINT32", DType::U32),
    ("UINT64", DType::U64),
    ("UINT8", DType::U8),
];

/// The protocol's name of a type.
pub(super) fn name(kind: DType) -> &'static str {
    TYPES.iter().find(|known| known.1 == kind).map_or("FP32", |known| known.0)
}

/// The type of this name.
pub(super) fn kind(name: &str) -> Option<DType> {
    TYPES.iter().find(|known| known.0 == name).map(|known| known.1)
}

/// Elements from the raw bytes, lowest byte first.
pub(super) fn from_bytes(kind: DType, bytes: &[u8]) -> Result<TensorData, String> {
    macro_rules! elements {
        ($type:ty) => {{
            let (chunks, rest) = bytes.as_chunks::<{ size_of::<$type>() }>();
            let all: Vec<$type> =
                chunks.iter().map(|&chunk| <$type>::from_le_bytes(chunk)).collect();
            (rest.is_empty()).then(|| all.into())
        }};
    }
    let data: Option<TensorData> = match kind {
        DType::F32 => elements!(f32),
        DType::F16 => elements!(f16),
        DType::BF16 => elements!(bf16),
        DType::F64 => elements!(f64),
        DType::I8 => elements!(i8),
        DType::U8 => elements!(u8),
        DType::I16 => elements!(i16),
        DType::U16 => elements!(u16),
        DType::I32 => elements!(i32),
        DType::U32 => elements!(u32),
        DType::I64 => elements!(i64),
        DType::U64 => elements!(u64),
        DType::Bool => Some(bytes.iter().map(|&byte| byte != 0).collect::<Vec<bool>>().into()),
    };
    data.ok_or_else(|| format!("{} bytes are no whole number of elements", bytes.len()))
}

/// The raw bytes, lowest byte first.
pub(super) fn to_bytes(data: &TensorData, bytes: &mut Vec<u8>) {
    match data {
        TensorData::F32(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::F16(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::BF16(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::F64(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::I8(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::U8(all) => bytes.extend(all),
        TensorData::I16(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::U16(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::I32(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::U32(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::I64(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::U64(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        TensorData::Bool(all) => bytes.extend(all.iter().map(|&x| u8::from(x))),
    }
}

/// Elements from lists of numbers, nested or flat.
pub(super) fn from_json(kind: DType, data: &Value) -> Result<TensorData, String> {
    let mut flat = Vec::new();
    flatten(data, &mut flat);
    macro_rules! whole {
        ($type:ty, $read:ident) => {
            flat.iter()
                .map(|x| x.$read().and_then(|x| <$type>::try_from(x).ok()).ok_or(*x))
                .collect::<Result<Vec<$type>, _>>()
                .map(TensorData::from)
        };
    }
    macro_rules! broken {
        ($type:ty, $narrow:expr) => {
            flat.iter()
                .map(|x| x.as_f64().map($narrow).ok_or(*x))
                .collect::<Result<Vec<$type>, _>>()
                .map(TensorData::from)
        };
    }
    let read = match kind {
        DType::F32 => broken!(f32, |x| x as f32),
        DType::F64 => broken!(f64, |x| x),
        DType::I8 => whole!(i8, as_i64),
        DType::I16 => whole!(i16, as_i64),
        DType::I32 => whole!(i32, as_i64),
        DType::I64 => whole!(i64, as_i64),
        DType::U8 => whole!(u8, as_u64),
        DType::U16 => whole!(u16, as_u64),
        DType::U32 => whole!(u32, as_u64),
        DType::U64 => whole!(u64, as_u64),
        DType::Bool => flat
            .iter()
            .map(|x| x.as_bool().ok_or(*x))
            .collect::<Result<Vec<bool>, _>>()
            .map(TensorData::from),
        DType::F16 | DType::BF16 => {
            return Err(format!("{} is sent as binary data only", name(kind)));
        }
    };
    read.map_err(|wrong| format!("{wrong} is no {}", name(kind)))
}

fn flatten<'a>(data: &'a Value, flat: &mut Vec<&'a Value>) {
    match data {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, flat)),
        other => flat.push(other),
    }
}

/// One flat list; nothing where JSON cannot hold an element, or the protocol does not allow it.
pub(super) fn to_json(data: &TensorData) -> Option<Value> {
    Some(match data {
        TensorData::F32(all) => {
            let finite = all.iter().all(|x| x.is_finite());
            finite.then(|| all.iter().map(|&x| Value::from(f64::from(x))).collect())?
        }
        TensorData::F64(all) => all.iter().all(|x| x.is_finite()).then(|| all.clone().into())?,
        TensorData::I8(all) => all.clone().into(),
        TensorData::U8(all) => all.clone().into(),
        TensorData::I16(all) => all.clone().into(),
        TensorData::U16(all) => all.clone().into(),
        TensorData::I32(all) => all.clone().into(),
        TensorData::U32(all) => all.clone().into(),
        TensorData::I64(all) => all.clone().into(),
        TensorData::U64(all) => all.clone().into(),
        TensorData::Bool(all) => all.clone().into(),
        TensorData::F16(_) | TensorData::BF16(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_type_comes_back_from_bytes() {
        for (text, kind) in TYPES {
            assert_eq!(super::kind(text), Some(kind));
            assert_eq!(name(kind), text);
            let bytes: Vec<u8> = match kind {
                DType::Bool => vec![1, 0, 1, 0, 0, 1, 1, 0],
                _ => vec![0, 60, 1, 63, 7, 64, 128, 65],
            };
            let data = from_bytes(kind, &bytes).unwrap();
            assert_eq!((data.dtype(), data.len()), (kind, 8 / kind.size()));
            let mut back = Vec::new();
            to_bytes(&data, &mut back);
            assert_eq!(back, bytes, "{text}");
            if let Some(json) = to_json(&data) {
                assert_eq!(from_json(kind, &json).unwrap(), data, "{text}");
            }
        }
        assert!(from_bytes(DType::F32, &[0; 6]).is_err());
    }

    #[test]
    fn lists_are_flat_or_nested_and_checked() {
        let nested = from_json(DType::F32, &json!([[1, 2.5], [-3.0, 1e-40]])).unwrap();
        assert_eq!(nested, vec![1.0f32, 2.5, -3.0, 1e-40].into());
        for (kind, data) in [
            (DType::U8, json!([256])),
            (DType::U8, json!([-1])),
            (DType::I32, json!([1.5])),
            (DType::F32, json!(["1"])),
            (DType::Bool, json!([1])),
            (DType::F16, json!([1])),
        ] {
            assert!(from_json(kind, &data).is_err(), "{kind:?} {data}");
        }
        assert_eq!(to_json(&vec![f32::NAN].into()), None);
    }
}
